//! Files that appear whole or not at all.
//!
//! The bytes go to a neighbour of the file, are synced to disk, and the neighbour is renamed. A reader sees the old
//! file or the new one, never half of either, and a crash or a full disk leaves the old one in place.
//!
//! Permissions: a file that is replaced keeps its own; a new one gets what the user's umask allows. A symbolic link
//! stays a link and its target is replaced. What is not a regular file (`/dev/stdout`, a pipe) cannot be renamed
//! over and is written directly.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes all of `bytes` to `file`, or leaves the file as it was.
pub fn write_whole(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut out = WholeFile::create(file)?;
    out.write_all(bytes)?;
    out.finish()
}

/// A file in the making: it gets its name from [`finish`](Self::finish) and not before.
///
/// Dropped unfinished, it removes what it has written.
pub struct WholeFile {
    /// Nothing once it is finished.
    out: Option<BufWriter<File>>,
    /// Nothing if the file is written directly.
    renamed: Option<Renamed>,
}

struct Renamed {
    part: PathBuf,
    file: PathBuf,
}

/// Tells apart the unfinished files of one process.
static PARTS: AtomicU64 = AtomicU64::new(0);

impl WholeFile {
    /// Starts a file; its folder must exist.
    pub fn create(file: &Path) -> io::Result<Self> {
        // A link that leads nowhere is written where it points.
        let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let old = fs::metadata(&target).ok();
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let out = OpenOptions::new().write(true).open(&target)?;
            return Ok(Self {
                out: Some(BufWriter::new(out)),
                renamed: None,
            });
        }
        let part = part_of(&target)?;
        let out = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&part)?;
        let whole = Self {
            out: Some(BufWriter::new(out)),
            renamed: Some(Renamed { part, file: target }),
        };
        if let (Some(old), Some(out)) = (old, &whole.out) {
            out.get_ref().set_permissions(old.permissions())?;
        }
        Ok(whole)
    }

    /// Puts the file on disk under its name.
    pub fn finish(mut self) -> io::Result<()> {
        let result = self.put_in_place();
        if result.is_err() {
            self.remove_part();
        }
        result
    }

    fn put_in_place(&mut self) -> io::Result<()> {
        let Some(out) = self.out.take() else {
            return Ok(());
        };
        let out = out.into_inner().map_err(|error| error.into_error())?;
        let Some(Renamed { part, file }) = &self.renamed else {
            return Ok(());
        };
        out.sync_all()?;
        drop(out);
        fs::rename(part, file)?;
        sync_folder(file);
        Ok(())
    }

    fn remove_part(&self) {
        if let Some(Renamed { part, .. }) = &self.renamed {
            // The error of the write is the one to report.
            let _ = fs::remove_file(part);
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.out {
            Some(out) => out.write(bytes),
            None => Ok(0),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if self.out.take().is_some() {
            self.remove_part();
        }
    }
}

/// The neighbour that holds the bytes until they are whole. Two writers of one file never share it.
fn part_of(file: &Path) -> io::Result<PathBuf> {
    let Some(name) = file.file_name() else {
        let message = format!("{} is not the name of a file", file.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    };
    let number = PARTS.fetch_add(1, Ordering::Relaxed);
    let mut part = OsString::from(name);
    part.push(format!(".{}.{number}.part", std::process::id()));
    Ok(file.with_file_name(part))
}

/// Makes a rename survive a power cut. Not every file system can: then the rename alone has to do.
fn sync_folder(file: &Path) {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn an_unfinished_file_leaves_the_old_one_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("net.txt");
        write_whole(&file, b"old").unwrap();
        let mut out = WholeFile::create(&file).unwrap();
        out.write_all(b"new").unwrap();
        out.flush().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"old");
        drop(out);
        assert_eq!(fs::read(&file).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["net.txt"]);
    }

    #[test]
    fn two_writers_of_one_file_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("net.txt");
        let mut first = WholeFile::create(&file).unwrap();
        let mut second = WholeFile::create(&file).unwrap();
        first.write_all(b"first").unwrap();
        second.write_all(b"second").unwrap();
        second.finish().unwrap();
        first.finish().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"first");
        assert_eq!(names(folder.path()), ["net.txt"]);
    }

    #[test]
    fn a_name_that_cannot_be_taken_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write_whole(folder.path(), b"bytes").is_err());
        assert!(write_whole(&folder.path().join("missing/file"), b"bytes").is_err());
        assert!(names(folder.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay_as_they_are() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        write_whole(&file, b"old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_written_and_not_replaced() {
        use std::os::unix::fs::FileTypeExt;

        write_whole(Path::new("/dev/null"), b"bytes").unwrap();
        let error = write_whole(Path::new("/dev/full"), b"bytes").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        for device in ["/dev/null", "/dev/full"] {
            let kind = fs::metadata(device).unwrap().file_type();
            assert!(kind.is_char_device(), "{device}");
        }
    }
}
