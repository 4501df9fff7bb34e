//! The AI protocol, version 1: a game (server) and a player (client) exchange lines of text.
//!
//! `message` spells the lines and `presses` the buttons; [`Server`] and [`Client`] are the
//! two ends, free of any input or output; [`serve`] and [`play`] tie an end to a pair of streams.
//!
//! Our server settles the board at once when a pill locks and then waits as long as the console
//! would show it. It looks at the down button in frames with an even number.

mod client;
mod message;
mod presses;
mod server;
mod wire;

pub use client::{BrainError, Client, Situation, Wish};
pub use message::{ClientMessage, Mode, ServerMessage, StateRequest};
pub use presses::{Press, Presses};
pub use server::{Deal, Server};
pub use wire::{Pace, Rest, WireError, play, serve};

/// The one version we speak.
pub const VERSION: &str = "1";

/// The name of the receiving player in every message.
pub(crate) const YOU: &str = "you";

/// Frames ahead at which a request counts as too far.
pub(crate) const FAR_FRAMES: u32 = 300;

/// Whether the console looks at the down button in this frame.
pub(crate) fn checks_down(frame: u32) -> bool {
    frame.is_multiple_of(2)
}
