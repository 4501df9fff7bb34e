//! A studio without the command line: `cargo run -p studio --example serve [PORT]`.

use studio::{Settings, Studio};

fn main() -> Result<(), studio::StartError> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok());
    let settings = Settings {
        port,
        ..Settings::default()
    };
    let running = Studio::start(settings)?;
    println!("{}", running.address());
    running.wait();
    Ok(())
}
