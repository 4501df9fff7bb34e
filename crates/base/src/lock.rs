//! A folder that one process at a time may write to.
//!
//! The lock is the system's, on a file that stays: it ends with the process, however that ends, so nothing is ever left
//! to be cleaned up.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The file that is locked.
pub const LOCK_FILE: &str = "lock";

/// Why a folder cannot be locked.
#[derive(Debug, Error)]
pub enum LockError {
    /// Another process holds the lock.
    #[error(
        "{} is in use by another process: wait until it ends, or choose another folder", folder.display()
    )]
    Taken { folder: PathBuf },
    /// It cannot be created or written to.
    #[error("cannot create or lock {}: {error}", path.display())]
    File {
        /// The folder or its lock file.
        path: PathBuf,
        #[source]
        error: io::Error,
    },
}

/// A folder locked for this process until it is dropped.
#[derive(Debug)]
pub struct LockedFolder {
    path: PathBuf,
    _lock: File,
}

impl LockedFolder {
    /// Creates the folder if it is missing, and locks it.
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |error| LockError::File { path, error }
        };
        fs::create_dir_all(path).map_err(at(path))?;
        let file = path.join(LOCK_FILE);
        let lock = File::options()
            .create(true)
            .append(true)
            .open(&file)
            .map_err(at(&file))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let folder = path.to_owned();
                return Err(LockError::Taken { folder });
            }
            // Some network file systems have no locks; refusing to work there would be worse than no lock.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(at(&file)(error)),
        }
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_by_one_process_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let first = LockedFolder::take(&path).unwrap();
        assert_eq!(first.path(), path);
        let refused = LockedFolder::take(&path).unwrap_err();
        assert!(matches!(refused, LockError::Taken { .. }));
        assert!(refused.to_string().contains("in use by another process"));
        drop(first);
        LockedFolder::take(&path).unwrap();
    }
}
