//! Who may play for a run: names, hashed tokens, keys, and who is banned.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{
    Store, StoreError,
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

/// The note that holds the accounts of a run.
pub(crate) const ACCOUNTS: &str = "workers.json";

/// The workers of a run, kept with it.
pub(crate) struct Accounts {
    store: Arc<dyn Store>,
    by_name: Mutex<BTreeMap<String, Account>>,
}

impl Account {
    /// The accounts that a run's note holds.
    pub fn read_all(note: &[u8]) -> Result<Vec<Account>, String> {
        serde_json::from_slice(note).map_err(|error| format!("{ACCOUNTS}: {error}"))
    }

    /// Whether this is the account of the token with this SHA-256.
    pub fn is_of(&self, token_hash: &str) -> bool {
        self.token_hash == token_hash
    }
}

impl Accounts {
    /// Reads the accounts, if there are any.
    pub(crate) fn open(store: Arc<dyn Store>) -> Result<Accounts, StoreError> {
        let accounts = match store.note(ACCOUNTS)? {
            Some(bytes) => Account::read_all(&bytes).map_err(|message| StoreError::Content {
                path: ACCOUNTS.into(),
                message,
            })?,
            None => Vec::new(),
        };
        let by_name = accounts
            .into_iter()
            .map(|account| (account.name.clone(), account))
            .collect();
        Ok(Accounts {
            store,
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

    /// The account of the token with this SHA-256.
    pub(crate) fn of_token_hash(&self, hash: &str) -> Option<Account> {
        let accounts = self.lock();
        accounts
            .values()
            .find(|account| account.is_of(hash))
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
        self.store.put_note(ACCOUNTS, &bytes)
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
    use crate::FolderStore;

    #[test]
    fn a_token_is_known_again_and_kept_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(FolderStore::open(folder.path(), |_| {}).unwrap());
        let open = || Accounts::open(store.clone()).unwrap();
        let token = open().create("ann", None).unwrap();
        assert!(token.starts_with("tgn_") && token.len() == 68);
        let kept = String::from_utf8(store.note(ACCOUNTS).unwrap().unwrap()).unwrap();
        assert!(!kept.contains(&token[4..]));
        let accounts = open();
        let of = |token: &str| accounts.of_token_hash(&sha256_hex(token.as_bytes()));
        assert_eq!(of(&token).unwrap().name, "ann");
        assert!(of("tgn_00").is_none());
        assert!(accounts.create("ann", None).is_err());
        for bad in ["", "a b", "ä", "<b>", &"x".repeat(33)] {
            assert!(accounts.create(bad, None).is_err(), "{bad}");
        }
        accounts
            .change("ann", |account| account.banned = Some("cheats".into()))
            .unwrap();
        let again = open();
        assert_eq!(again.all()[0].banned.as_deref(), Some("cheats"));
        assert!(again.change("bob", |_| {}).is_err());
    }
}
