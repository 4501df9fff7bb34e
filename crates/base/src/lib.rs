//! What every other crate may need and none should write again: files written whole, seeds, checksummed records and
//! the fields of protocol buffers.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("note.txt");
//! base::write_whole(&file, b"all of it or nothing")?;
//! assert_eq!(std::fs::read(&file)?, b"all of it or nothing");
//!
//! // Game 7 of a run always gets the same seed, and its neighbours get unrelated ones.
//! assert_eq!(base::nth_seed(1, 7), base::nth_seed(1, 7));
//! assert_ne!(base::nth_seed(1, 7), base::nth_seed(1, 8));
//! # Ok::<(), std::io::Error>(())
//! ```

#![forbid(unsafe_code)]

mod files;
mod lock;
mod seeds;

mod log;
pub mod protobuf;
pub mod tfrecord;

pub use files::{WholeFile, write_whole};
pub use lock::{LOCK_FILE, LockError, LockedFolder};
pub use log::{Log, LogError};
pub use seeds::{mix, nth_seed};
