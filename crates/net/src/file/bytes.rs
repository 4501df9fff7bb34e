//! The bytes of a network file, and what can be wrong with them.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::compact::{Damage, MAGIC};
use crate::katago::{KataDamage, KataNetwork};
use crate::kernels::memory::Bytes;
use crate::leela::Text;

/// Why a network file was not loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file system said no.
    #[error("{}: cannot be read: {reason}", file.display())]
    Unreadable { file: PathBuf, reason: io::Error },
    /// The bytes are not a network.
    #[error("{}, line {line}: found {found}, expected {expected}", file.display())]
    Content {
        file: PathBuf,
        /// Counted from 1, the version line included.
        line: usize,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
    /// A KataGo network is damaged.
    #[error("{}, {damage}", file.display())]
    KataGo {
        file: PathBuf,
        /// What is wrong, and in which layer.
        damage: KataDamage,
    },
    /// A file in the compact format is damaged.
    #[error("{}, {damage}", file.display())]
    Compact {
        file: PathBuf,
        /// What is wrong, and where.
        damage: Damage,
    },
}

/// The first bytes of a gzip stream and of a zip archive.
pub(crate) const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZIP_MAGIC: [u8; 4] = *b"PK\x03\x04";
/// The SHA-256 of some bytes, in hexadecimal. That of an uncompressed Leela Zero file is its official name.
pub fn sha256_of_bytes(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The bytes of a file, unpacked if it is gzip.
pub(crate) fn read_unpacked(file: &Path) -> Result<Bytes, LoadError> {
    let bytes = Bytes::read(file).map_err(|reason| unreadable(file, reason))?;
    if bytes.starts_with(&ZIP_MAGIC) {
        return Err(LoadError::Content {
            file: file.to_owned(),
            line: 1,
            found: "a zip archive".into(),
            expected: "text or gzip (unpack the archive first)".into(),
        });
    }
    if !bytes.starts_with(&GZIP_MAGIC) {
        return Ok(bytes);
    }
    // Weights compress to about 40 %: reserving thrice the size avoids most copies.
    let mut text = Vec::with_capacity(bytes.len() * 3);
    match MultiGzDecoder::new(&bytes[..]).read_to_end(&mut text) {
        Ok(_) => Ok(Bytes::Unpacked(text)),
        Err(reason) => Err(LoadError::Content {
            file: file.to_owned(),
            line: text.iter().filter(|&&byte| byte == b'\n').count() + 1,
            found: format!("the end of what can be unpacked ({reason})"),
            expected: "a whole gzip stream (fetch the file again)".into(),
        }),
    }
}

/// How much of a file is unpacked to see what it is.
pub(crate) const FIRST_BYTES: usize = 512;

/// Whether a file, plain or gzip, starts as a KataGo network does. Pipes are not looked at.
pub(crate) fn starts_as_katago(file: &Path) -> Result<bool, LoadError> {
    let unreadable = |reason| unreadable(file, reason);
    let mut open = File::open(file).map_err(unreadable)?;
    if !open.metadata().map_err(unreadable)?.is_file() {
        return Ok(false);
    }
    let mut start = Vec::new();
    let first = Read::by_ref(&mut open).take(FIRST_BYTES as u64);
    let mut first = BufReader::new(first);
    first.read_to_end(&mut start).map_err(unreadable)?;
    if !start.starts_with(&GZIP_MAGIC) {
        return Ok(KataNetwork::starts(&start));
    }
    let mut unpacked = vec![0; FIRST_BYTES];
    let mut len = 0;
    let mut unpack = MultiGzDecoder::new(Cursor::new(start).chain(open));
    // A damaged stream is for the reader of the whole file to complain of.
    while let Ok(more @ 1..) = unpack.read(&mut unpacked[len..]) {
        len += more;
    }
    Ok(KataNetwork::starts(&unpacked[..len]))
}

/// The text of a file that is neither packed nor of our own format; it is not read yet.
pub(crate) fn plain_text(file: &Path) -> Result<Option<Text<'_>>, LoadError> {
    let unreadable = |reason| unreadable(file, reason);
    let mut open = File::open(file).map_err(unreadable)?;
    let about = open.metadata().map_err(unreadable)?;
    let Ok(len) = usize::try_from(about.len()) else {
        return Ok(None);
    };
    let mut start = [0; MAGIC.len()];
    let start = &mut start[..len.min(MAGIC.len())];
    // A pipe has no length, and what is read from it here would be lost.
    if !about.is_file() || len == 0 {
        return Ok(None);
    }
    open.read_exact(start).map_err(unreadable)?;
    let packed = start.starts_with(&GZIP_MAGIC) || start.starts_with(&ZIP_MAGIC);
    Ok((!packed && start != MAGIC).then_some(Text::File { file, len }))
}

pub(crate) fn unreadable(file: &Path, reason: io::Error) -> LoadError {
    LoadError::Unreadable {
        file: file.to_owned(),
        reason,
    }
}
