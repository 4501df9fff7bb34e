//! A network file of either kind.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::compact::{self, MAGIC};
use crate::leela::{LeelaNetwork, Text, TextStyle};
use crate::network::Network;

mod bytes;

pub use bytes::{LoadError, sha256_of_bytes};
pub(crate) use bytes::{plain_text, read_unpacked, unreadable};

/// What a file turned out to hold.
#[derive(Clone, Debug)]
pub struct NetworkFile {
    /// The network itself.
    pub content: NetworkContent,
    /// Bytes on disk.
    pub bytes: u64,
}

/// The two kinds of files.
#[derive(Clone, Debug)]
pub enum NetworkContent {
    /// Leela Zero text, and how its lines end.
    Leela(Box<LeelaNetwork>, TextStyle),
    /// Our compact format.
    Compact(Network),
}

impl NetworkContent {
    /// The network as layers.
    pub fn to_network(&self) -> Network {
        match self {
            Self::Leela(leela, _) => leela.to_network(),
            Self::Compact(network) => network.clone(),
        }
    }
}

impl NetworkFile {
    /// Reads a file of either kind and tells all about it.
    pub fn load(file: &Path) -> Result<Self, LoadError> {
        let content = read(file)?;
        let about = fs::metadata(file).map_err(|reason| unreadable(file, reason))?;
        Ok(Self {
            content,
            bytes: about.len(),
        })
    }
}

/// SHA-256 of a file, unpacked if it is gzip: for Leela Zero files their official name.
///
/// Nothing that loads a network waits for it.
pub fn sha256(file: &Path) -> Result<String, LoadError> {
    Ok(sha256_of_bytes(&read_unpacked(file)?))
}

/// The network in a file of either kind: Leela Zero text, plain or gzip, or the compact format.
pub fn load(file: &Path) -> Result<Network, LoadError> {
    Ok(match read(file)? {
        NetworkContent::Leela(leela, _) => leela.into_network(),
        NetworkContent::Compact(network) => network,
    })
}

fn read(file: &Path) -> Result<NetworkContent, LoadError> {
    if let Some(text) = plain_text(file)? {
        return leela(file, text);
    }
    let bytes = read_unpacked(file)?;
    if !bytes.starts_with(&MAGIC) {
        return leela(file, Text::Memory(&bytes));
    }
    let network = compact::read(&bytes);
    let network = network.map_err(|damage| LoadError::Compact {
        file: file.to_owned(),
        damage,
    })?;
    Ok(NetworkContent::Compact(network))
}

fn leela(file: &Path, text: Text<'_>) -> Result<NetworkContent, LoadError> {
    let leela = LeelaNetwork::read(file, text)?;
    let style = TextStyle::of_network(text).map_err(|reason| unreadable(file, reason))?;
    Ok(NetworkContent::Leela(Box::new(leela), style))
}

/// `bytes`, packed.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    let packed = packer.write_all(bytes).and_then(|()| packer.finish());
    packed.expect("packing in memory does not fail")
}
