//! A learning run over HTTP: workers get tasks and networks and hand games in, people see where the run stands.
//!
//! The gateway decides nothing. It carries questions to a [`fleet::Service`] and answers back, signs them, and keeps
//! whoever sends too much, too slowly or nonsense from hurting the run.
#![forbid(unsafe_code)]

mod answer;
mod autogtp;
mod metrics;
mod multipart;
mod page;
mod server;
mod tls;
mod v1;

pub use autogtp::{Autogtp, AutogtpError};
pub use server::{Gateway, Running, Settings, StartError};
pub use tls::Tls;
