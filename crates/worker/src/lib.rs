//! Plays for a learning run on another machine.
//!
//! A finished game is written to the spool and synced before it is handed in, and stays there until the server's receipt
//! says that it is in the run's log. So neither a crash here, nor one there, nor a broken line loses a game, and one that
//! is handed in twice counts once. The server is not believed: its answers must carry the signature of the key that was
//! met first, networks must have the hash that the signed task names, and a task holds typed settings only.
#![forbid(unsafe_code)]

mod client;
mod error;
mod games;
mod spool;
mod work;

pub use client::{CLIENT, Client};
pub use error::WorkError;
pub use spool::Spool;
pub use work::{Options, Progress, Summary, work};

/// What plays here: the program's version and what networks run on. Two workers with the same engine play the same games
/// bit for bit.
pub fn engine() -> String {
    format!("{CLIENT} cpu-{}", net::Isa::detect().name())
}
