//! Who may play for a run: names, hashed tokens, keys, and who is banned.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use base::write_whole;
use serde::{Deserialize, Serialize};

use crate::{
    StoreError,
    wire::{hex, random_bytes, sha256_hex},
};

/// What every token begins with, so that a leaked one is recognised.
const TOKEN_PREFIX: &str = "tgn_";
const LONGEST_NAME: usize = 32;

/// A worker that may play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Its name, which the page shows.
    pub name: String,
    /// SHA-256 of its token; the token itself is kept nowhere.
    token_hash: String,
    /// The public key its games are signed with, once it has said which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Why it may not play any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub banned: Option<String>,
    /// Why its games are kept apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantined: Option<String>,
}

/// The workers of a run, in a file.
pub(crate) struct Accounts {
    file: PathBuf,
    by_name: Mutex<BTreeMap<String, Account>>,
}

impl Accounts {
    /// Reads the file, if there is one.
    pub(crate) fn open(file: &Path) -> Result<Accounts, StoreError> {
        let content = |message: String| StoreError::Content {
            path: file.to_owned(),
            message,
        };
        let accounts: Vec<Account> = match fs::read(file) {
            Ok(bytes) => {
                serde_json::from_slice(&bytes).map_err(|error| content(error.to_string()))?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => {
                let path = file.to_owned();
                return Err(StoreError::File { path, source });
            }
        };
        let by_name = accounts
            .into_iter()
            .map(|account| (account.name.clone(), account))
            .collect();
        Ok(Accounts {
            file: file.to_owned(),
            by_name: Mutex::new(by_name),
        })
    }

    /// Makes an account and returns its token, which is shown this once.
    pub(crate) fn create(&self, name: &str, key: Option<&str>) -> Result<String, String> {
        check_name(name)?;
        let mut accounts = self.lock();
        if accounts.contains_key(name) {
            return Err(format!(
                "there is a worker called {name} already; choose another name"
            ));
        }
        let secret = random_bytes::<32>().map_err(|error| error.to_string())?;
        let token = format!("{TOKEN_PREFIX}{}", hex(&secret));
        let account = Account {
            name: name.to_owned(),
            token_hash: sha256_hex(token.as_bytes()),
            key: key.map(str::to_owned),
            banned: None,
            quarantined: None,
        };
        accounts.insert(name.to_owned(), account);
        self.write(&accounts).map_err(|error| error.to_string())?;
        Ok(token)
    }

    /// The account of a token.
    pub(crate) fn of_token(&self, token: &str) -> Option<Account> {
        let hash = sha256_hex(token.as_bytes());
        self.lock()
            .values()
            .find(|account| account.token_hash == hash)
            .cloned()
    }

    /// All accounts by name.
    pub(crate) fn all(&self) -> Vec<Account> {
        self.lock().values().cloned().collect()
    }

    /// Changes an account; says so if there is none.
    pub(crate) fn change(
        &self,
        name: &str,
        change: impl FnOnce(&mut Account),
    ) -> Result<(), String> {
        let mut accounts = self.lock();
        let account = accounts
            .get_mut(name)
            .ok_or_else(|| format!("there is no worker called {name}"))?;
        change(account);
        self.write(&accounts).map_err(|error| error.to_string())
    }

    fn write(&self, accounts: &BTreeMap<String, Account>) -> Result<(), StoreError> {
        let all: Vec<&Account> = accounts.values().collect();
        let bytes = serde_json::to_vec_pretty(&all).unwrap_or_default();
        write_whole(&self.file, &bytes).map_err(|source| StoreError::File {
            path: self.file.clone(),
            source,
        })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Account>> {
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_plain) {
        return Err(format!(
            "{name:?} is no name: 1 to {LONGEST_NAME} letters, digits, dots, lines and underscores"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_again_and_kept_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("workers.json");
        let token = Accounts::open(&file).unwrap().create("ann", None).unwrap();
        assert!(token.starts_with("tgn_") && token.len() == 68);
        assert!(!fs::read_to_string(&file).unwrap().contains(&token[4..]));
        let accounts = Accounts::open(&file).unwrap();
        assert_eq!(accounts.of_token(&token).unwrap().name, "ann");
        assert!(accounts.of_token("tgn_00").is_none());
        assert!(accounts.create("ann", None).is_err());
        for bad in ["", "a b", "ä", "<b>", &"x".repeat(33)] {
            assert!(accounts.create(bad, None).is_err(), "{bad}");
        }
        accounts
            .change("ann", |account| account.banned = Some("cheats".into()))
            .unwrap();
        let again = Accounts::open(&file).unwrap();
        assert_eq!(again.all()[0].banned.as_deref(), Some("cheats"));
        assert!(again.change("bob", |_| {}).is_err());
    }
}
