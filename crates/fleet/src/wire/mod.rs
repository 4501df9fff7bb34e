//! What crosses between machines: tasks, finished games, receipts, and the names and signatures on them.
//!
//! Everything here is data and pure functions; who carries it, HTTP or a message broker, does not matter.

mod envelope;
mod ids;
mod keys;
mod task;

pub use envelope::{
    Envelope, EnvelopeError, HandIn, MOST_PACKED_BYTES, MOST_UNPACKED_BYTES, MatchBody,
};
pub use ids::{game_id, hex, sha256_hex, unhex};
pub use keys::{KeyError, Signer, Voice, is_signed, random_bytes};
pub use task::{Acceptance, Kind, NetworkRef, Receipt, Task, TaskBatch, TaskRequest};

/// The version of the messages. Fields that a reader does not know are ignored.
pub const PROTOCOL: u32 = 1;
