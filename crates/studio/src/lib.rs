//! The web page on this machine: play, analyse, review, solve, watch, train.
//!
//! [`Studio::start`] binds 127.0.0.1, serves a page that is compiled in, and answers it over one WebSocket a tab. One
//! thread thinks, for whichever tab asks; documents belong to the server and survive the page.
//!
//! ```no_run
//! let running = studio::Studio::start(studio::Settings::default())?;
//! println!("{}", running.address());
//! running.wait();
//! # Ok::<(), studio::StartError>(())
//! ```
#![forbid(unsafe_code)]
// With `net`'s GPU backend the types that a thread is handed nest deeper than the default of 128.
#![recursion_limit = "256"]

// The door: what comes in, who may ask, what goes out.
mod assets;
mod guard;
mod http;
mod server;
mod tab;
mod wire;

// What is kept.
mod clock;
mod desk;
mod document;
mod graph;
mod opinion;
mod state;
mod table;

// Who thinks.
mod thinker;

// One file a topic of the protocol.
mod analysis;
mod bottle;
mod game;
mod nets;
mod problem;
mod question;
mod reading;
mod review;
mod training;
mod xray;

// One file a room below: what the studio asks of it.
mod engine;
mod life;
mod runs;

pub use assets::page_bytes;
pub use server::{Running, Settings, StartError, Studio, announce::running as running_address};

/// Opens an address in the user's browser, without waiting for it.
pub fn open_browser(address: &str) {
    let _ = open::that_detached(address);
}
