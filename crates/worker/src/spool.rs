//! What a worker keeps: its key, who the server is, networks, tasks in hand, and games until their receipt.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use base::{LockedFolder, write_whole};
use fleet::wire::{NetworkRef, Signer, Task, sha256_hex};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{Client, WorkError};

/// A worker that has so many games without a receipt takes no more tasks.
pub(crate) const MOST_GAMES: usize = 1000;

/// A worker's folder.
pub struct Spool {
    dir: PathBuf,
    _lock: LockedFolder,
    /// Signs what is handed in.
    pub signer: Signer,
}

/// The server that this folder belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Known {
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) token: String,
}

/// A task in hand, with the settings it is played under.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InHand {
    pub(crate) settings: String,
    pub(crate) task: Task,
}

impl Spool {
    /// Opens or makes a worker's folder; nobody else may use it meanwhile.
    pub fn open(dir: &Path) -> Result<Spool, WorkError> {
        let lock = LockedFolder::take(dir)?;
        // It holds the token and the key.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
        }
        for folder in ["games", "networks", "refused"] {
            let path = dir.join(folder);
            fs::create_dir_all(&path).map_err(|source| WorkError::File { path, source })?;
        }
        Ok(Spool {
            signer: Signer::open(&dir.join("worker.key"))?,
            dir: dir.to_owned(),
            _lock: lock,
        })
    }

    pub(crate) fn known(&self) -> Result<Option<Known>, WorkError> {
        self.read("server.json")
    }

    pub(crate) fn know(&self, known: &Known) -> Result<(), WorkError> {
        self.write("server.json", known)
    }

    pub(crate) fn tasks(&self) -> Result<Vec<InHand>, WorkError> {
        Ok(self.read("tasks.json")?.unwrap_or_default())
    }

    pub(crate) fn keep_tasks(&self, tasks: &[InHand]) -> Result<(), WorkError> {
        self.write("tasks.json", &tasks)
    }

    /// Keeps a game; it is on disk when this returns.
    pub fn keep_game(&self, id: &str, envelope: &[u8]) -> Result<(), WorkError> {
        let path = self.dir.join("games").join(id);
        write_whole(&path, envelope).map_err(|source| WorkError::File { path, source })
    }

    /// The ids of the games without a receipt.
    pub fn games(&self) -> Result<Vec<String>, WorkError> {
        let path = self.dir.join("games");
        let entries = fs::read_dir(&path).map_err(|source| WorkError::File { path, source })?;
        // A file that is being written has another name.
        let is_id =
            |name: &String| name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        Ok(names.filter(is_id).collect())
    }

    /// The bytes of a game.
    pub fn game(&self, id: &str) -> Result<Vec<u8>, WorkError> {
        let path = self.dir.join("games").join(id);
        fs::read(&path).map_err(|source| WorkError::File { path, source })
    }

    /// Forgets a game that has a receipt.
    pub fn forget_game(&self, id: &str) -> Result<(), WorkError> {
        let path = self.dir.join("games").join(id);
        fs::remove_file(&path).map_err(|source| WorkError::File { path, source })
    }

    /// Puts a game aside that the server will never take; it is kept for whoever wants to know why.
    pub(crate) fn put_aside(&self, id: &str) -> Result<(), WorkError> {
        let path = self.dir.join("games").join(id);
        fs::rename(&path, self.dir.join("refused").join(id))
            .map_err(|source| WorkError::File { path, source })
    }

    /// A network's file: the one at hand if it has the right hash, otherwise fetched and checked before anybody uses it.
    pub(crate) fn network(
        &self,
        client: &Client,
        network: &NetworkRef,
        extension: &str,
    ) -> Result<PathBuf, WorkError> {
        let name_is_plain = network.hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        if network.hash.is_empty() || !name_is_plain {
            let why = format!("{:?} is no name of a network", network.hash);
            return Err(WorkError::Untrusted(why));
        }
        let path = self
            .dir
            .join("networks")
            .join(format!("{}.{extension}", network.hash));
        let is_right = |bytes: &[u8]| sha256_hex(bytes) == network.file_hash;
        match fs::read(&path) {
            Ok(bytes) if is_right(&bytes) => return Ok(path),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(WorkError::File { path, source }),
        }
        let part = path.with_extension("part");
        let mut bytes = fs::read(&part).unwrap_or_default();
        if bytes.len() as u64 >= network.bytes {
            bytes.clear();
        }
        let (is_rest, fetched) = client.network(&network.hash, bytes.len())?;
        if !is_rest {
            bytes.clear();
        }
        bytes.extend(fetched);
        if is_right(&bytes) {
            write_whole(&path, &bytes).map_err(|source| WorkError::File {
                path: path.clone(),
                source,
            })?;
            let _ = fs::remove_file(&part);
            return Ok(path);
        }
        if (bytes.len() as u64) < network.bytes {
            // What came is kept, and the next try asks for the rest only.
            let _ = write_whole(&part, &bytes);
            let why = format!("the network {} came in part", network.hash);
            return Err(WorkError::later(why));
        }
        let _ = fs::remove_file(&part);
        Err(WorkError::later(format!(
            "the network {} came with other bytes than the server signed for; it is not used",
            network.hash
        )))
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, WorkError> {
        let path = self.dir.join(name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(WorkError::File { path, source }),
        };
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| WorkError::File {
                path,
                source: io::Error::new(io::ErrorKind::InvalidData, error),
            })
    }

    fn write(&self, name: &str, value: &impl Serialize) -> Result<(), WorkError> {
        let path = self.dir.join(name);
        let bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
        write_whole(&path, &bytes).map_err(|source| WorkError::File { path, source })
    }
}
