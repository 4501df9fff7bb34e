//! Result files, written whole or not at all, with errors that name the file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Writes a result file.
pub fn write_whole(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    base::write_whole(path, content).with_context(|| cannot_write(path))
}

/// A result file written piece by piece; it gets its name when it is finished.
pub struct WholeFile {
    path: PathBuf,
    out: base::WholeFile,
}

impl WholeFile {
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let out = base::WholeFile::create(path).with_context(|| cannot_write(path))?;
        Ok(Self {
            path: path.to_owned(),
            out,
        })
    }

    /// Puts the file on disk under its name.
    pub fn finish(self) -> anyhow::Result<()> {
        self.out.finish().with_context(|| cannot_write(&self.path))
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
