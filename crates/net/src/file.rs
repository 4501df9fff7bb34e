//! A network file of any kind.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::compact::{self, MAGIC, Stored};
use crate::katago::KataNetwork;
use crate::leela::{LeelaNetwork, Text, TextStyle};
use crate::network::Network;

mod bytes;

pub(crate) use bytes::{
    FIRST_BYTES, GZIP_MAGIC, plain_text, read_unpacked, starts_as_katago, unreadable,
};
pub use bytes::{LoadError, sha256_of_bytes};

/// The board of a network that has none of its own.
const DEFAULT_SIZE: usize = 19;

/// What a file turned out to hold.
#[derive(Clone, Debug)]
pub struct NetworkFile {
    /// The network itself.
    pub content: NetworkContent,
    /// Bytes on disk.
    pub bytes: u64,
}

/// The kinds of files.
#[derive(Clone, Debug)]
pub enum NetworkContent {
    /// Leela Zero text, and how its lines end.
    Leela(Box<LeelaNetwork>, TextStyle),
    /// A KataGo network, of its own file or of our compact one.
    KataGo(Box<KataNetwork>),
    /// Our compact format.
    Compact(Network),
}

impl NetworkContent {
    /// The network as layers; one for any board size is given for 19x19, see [`Network::at_size`].
    pub fn to_network(&self) -> Network {
        match self {
            Self::Leela(leela, _) => leela.to_network(),
            Self::KataGo(kata) => kata.network(DEFAULT_SIZE, DEFAULT_SIZE),
            Self::Compact(network) => network.clone(),
        }
    }

    /// The same for what is not needed any more.
    pub fn into_network(self) -> Network {
        match self {
            Self::Leela(leela, _) => leela.into_network(),
            Self::KataGo(kata) => kata.into_network(DEFAULT_SIZE, DEFAULT_SIZE),
            Self::Compact(network) => network,
        }
    }
}

impl NetworkFile {
    /// Reads a file of any kind and tells all about it.
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

/// The network in a file of any kind: Leela Zero text, a KataGo network, both plain or gzip, or the compact format.
pub fn load(file: &Path) -> Result<Network, LoadError> {
    Ok(read(file)?.into_network())
}

fn read(file: &Path) -> Result<NetworkContent, LoadError> {
    if starts_as_katago(file)? {
        return Ok(NetworkContent::KataGo(Box::new(KataNetwork::load(file)?)));
    }
    if let Some(text) = plain_text(file)? {
        return leela(file, text);
    }
    let bytes = read_unpacked(file)?;
    if !bytes.starts_with(&MAGIC) && KataNetwork::starts(&bytes[..bytes.len().min(FIRST_BYTES)]) {
        let kata = KataNetwork::read(&bytes[..]).map_err(|damage| LoadError::KataGo {
            file: file.to_owned(),
            damage,
        })?;
        return Ok(NetworkContent::KataGo(Box::new(kata)));
    }
    if !bytes.starts_with(&MAGIC) {
        return leela(file, Text::Memory(&bytes));
    }
    let stored = compact::read_stored(&bytes).map_err(|damage| LoadError::Compact {
        file: file.to_owned(),
        damage,
    })?;
    Ok(match stored {
        Stored::Layers(network) => NetworkContent::Compact(network),
        Stored::KataGo(kata) => NetworkContent::KataGo(kata),
    })
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
