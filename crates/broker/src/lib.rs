//! A run past one server machine: its roles talk over NATS JetStream.
//!
//! The broker is a road, not a vault. It acknowledges before it writes through to disk, so its word is never the run's
//! promise: whoever made a game keeps it until the ledger has it in the run's own log, synced, and in the history that
//! a standby on another machine continues from. Only then is there a receipt.
//!
//! - [`Link`] is the connection, with every call retried for a while, and [`Streams`] what lies on the broker.
//! - [`Lease`] elects the one ledger and the one trainer.
//! - [`follow`] brings a folder up to the history, and [`Mirror`] is the store of the ledger: its folder, and the history.
//! - [`LedgerRole`] is a whole ledger; [`Post`] is its side of the road, [`Remote`] the gateway's.
//! - [`TrainingPost`] sends trainings to a [`Trainer`], and [`Checker`] plays sampled games again.
#![forbid(unsafe_code)]

// The road.
mod error;
mod link;
mod streams;

// Who holds a role, and what it continues from.
mod follow;
mod lease;
mod mirror;

// The roles.
mod check;
mod post;
mod remote;
mod role;
mod trainer;

pub use check::Checker;
pub use error::BrokerError;
pub use follow::follow;
pub use lease::Lease;
pub use link::{Link, LinkOptions};
pub use mirror::Mirror;
pub use post::Post;
pub use remote::Remote;
pub use role::{LedgerRole, RoleGuard, RoleOptions};
pub use streams::Streams;
pub use trainer::{Trainer, TrainingPost};
