//! KataGo's JSON analysis protocol: many positions at once, one JSON object a line.
//!
//! A client such as KaTrain writes queries and reads answers in any order. [`read_request`] turns a line into a
//! [`Request`], or into a [`Refusal`] that names the field at fault. [`serve()`] keeps the queries in a queue by
//! priority and has a few threads work on them with one [`Analyst`], whose network sees the leaves of all of them
//! in shared batches, and spells what was found.
//!
//! ```
//! use analysis::{Request, read_request};
//!
//! let line = r#"{"id":"a","rules":"japanese","komi":6.5,"boardXSize":9,"boardYSize":9,"moves":[["B","E5"]]}"#;
//! let Ok(Request::Query(query)) = read_request(line) else { panic!() };
//! assert_eq!(query.turns, [(1, 0)]);
//! assert_eq!(query.game_at(1).to_move(), go::Color::White);
//!
//! let refusal = read_request(r#"{"id":"a","boardXSize":9}"#).err().unwrap();
//! assert_eq!(refusal.field, Some("boardYSize"));
//! ```
#![forbid(unsafe_code)]

// A line in.
mod fields;
mod query;
mod request;

// The work.
mod analyst;
mod go_analyst;
mod queue;
mod report;
mod serve;

// A line out, and a game record.
mod answer;
mod katrain;

pub use analyst::{Analyst, Findings, Model, MoveFindings, RootFindings, Values, Watch};
pub use go_analyst::{GoAnalyst, Limits};
pub use katrain::KatrainEntry;
pub use query::{Include, Perspective, Query};
pub use request::{Refusal, Request, Warning, read_request};
pub use serve::{Settings, serve};
