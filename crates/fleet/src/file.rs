//! Files that are either whole or not there.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

/// Writes a file under another name and renames it when it is complete and on disk.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let mut file = File::create(&part)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(part, path)
}
