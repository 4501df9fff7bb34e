//! Files that are either whole or absent.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file through a temporary neighbour that is synced and renamed, so that a crash at any moment leaves the
/// old content or the new, never a part.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = (|| {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        // Best effort: the first error is the one to report.
        let _ = fs::remove_file(&temporary);
        return written;
    }
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        && let Ok(folder) = File::open(folder)
    {
        // Some file systems cannot sync a folder; the rename itself has succeeded.
        let _ = folder.sync_all();
    }
    Ok(())
}
