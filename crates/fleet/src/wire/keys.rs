//! Ed25519 keys: a server signs its tasks and answers, a worker signs the games it hands in.

use std::{io, path::Path};

use ring::{
    rand::{SecureRandom, SystemRandom},
    signature::{self, Ed25519KeyPair, KeyPair},
};
use thiserror::Error;

use super::{hex, unhex};

/// Bytes of the secret from which a pair of keys follows.
const SECRET_BYTES: usize = 32;

/// A pair of keys.
pub struct Signer {
    pair: Ed25519KeyPair,
}

/// A key that signs answers in a server's place, with the server's signature under it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Voice {
    /// The public key.
    pub key: String,
    /// The server's signature.
    pub sig: String,
}

impl Voice {
    /// The server lets a key answer for it.
    pub fn appoint(key: &str, server: &Signer) -> Voice {
        Voice {
            key: key.to_owned(),
            sig: server.sign(Voice::signed_text(key).as_bytes()),
        }
    }

    /// Whether the server with this key said so.
    pub fn is_of(&self, server_key: &str) -> bool {
        is_signed(
            server_key,
            Voice::signed_text(&self.key).as_bytes(),
            &self.sig,
        )
    }

    fn signed_text(key: &str) -> String {
        format!("tengen voice\n{key}")
    }
}

/// Why there is no key.
#[derive(Debug, Error)]
pub enum KeyError {
    /// The file cannot be read or written.
    #[error("{file}: {source}")]
    File { file: String, source: io::Error },
    /// The file does not hold a key.
    #[error(
        "{file}: expected 64 hexadecimal digits of a secret key; restore it from a copy, or delete it to make a new one"
    )]
    Content { file: String },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    Random,
}

impl Signer {
    /// The key of a file that only its owner can read; made at the first call.
    pub fn open(path: &Path) -> Result<Signer, KeyError> {
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => {
                let secret = unhex(text.trim()).ok_or(KeyError::Content { file: file.clone() })?;
                Signer::from_secret(&secret).ok_or(KeyError::Content { file })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let secret = random_bytes::<SECRET_BYTES>()?;
                let signer = Signer::from_secret(&secret).ok_or(KeyError::Random)?;
                write_secret(path, &hex(&secret))
                    .map_err(|source| KeyError::File { file, source })?;
                Ok(signer)
            }
            Err(source) => Err(KeyError::File { file, source }),
        }
    }

    /// The keys that follow from 32 secret bytes.
    pub fn from_secret(secret: &[u8]) -> Option<Signer> {
        let pair = Ed25519KeyPair::from_seed_unchecked(secret).ok()?;
        Some(Signer { pair })
    }

    /// The public key in hexadecimal digits.
    pub fn public_key(&self) -> String {
        hex(self.pair.public_key().as_ref())
    }

    /// The signature of a message in hexadecimal digits.
    pub fn sign(&self, message: &[u8]) -> String {
        hex(self.pair.sign(message).as_ref())
    }
}

/// Whether `signature` is the one of `public_key` under the message; both in hexadecimal digits.
pub fn is_signed(public_key: &str, message: &[u8], signature: &str) -> bool {
    let (Some(key), Some(signature)) = (unhex(public_key), unhex(signature)) else {
        return false;
    };
    signature::UnparsedPublicKey::new(&signature::ED25519, key)
        .verify(message, &signature)
        .is_ok()
}

/// Random bytes that nobody can guess.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], KeyError> {
    let mut bytes = [0; N];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| KeyError::Random)?;
    Ok(bytes)
}

/// Writes a file that only its owner can read.
fn write_secret(path: &Path, text: &str) -> io::Result<()> {
    use std::io::Write;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_signature_of_rfc_8032_is_ours() {
        let secret = unhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
        let signer = Signer::from_secret(&secret.unwrap()).unwrap();
        assert_eq!(
            signer.public_key(),
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
        );
        let signature = signer.sign(b"");
        assert!(signature.starts_with("e5564300c360ac729086e2cc806e828a"));
        assert!(is_signed(&signer.public_key(), b"", &signature));
        assert!(!is_signed(&signer.public_key(), b"x", &signature));
        assert!(!is_signed("00", b"", &signature));
    }

    #[test]
    fn a_voice_is_believed_only_with_the_servers_word() {
        let [server, gateway, thief] =
            [1, 2, 3].map(|secret| Signer::from_secret(&[secret; 32]).unwrap());
        let voice = Voice::appoint(&gateway.public_key(), &server);
        assert!(voice.is_of(&server.public_key()));
        assert!(!voice.is_of(&gateway.public_key()));
        assert!(!Voice::appoint(&thief.public_key(), &thief).is_of(&server.public_key()));
        let stolen = Voice {
            key: thief.public_key(),
            ..voice
        };
        assert!(!stolen.is_of(&server.public_key()));
    }

    #[test]
    fn a_key_is_made_once_and_then_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        let first = Signer::open(&file).unwrap().public_key();
        assert_eq!(Signer::open(&file).unwrap().public_key(), first);
        std::fs::write(&file, "no key").unwrap();
        let error = Signer::open(&file).err().unwrap().to_string();
        assert!(error.contains("64 hexadecimal digits"), "{error}");
    }
}
