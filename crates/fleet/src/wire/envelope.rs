//! A finished game on its way: a line of JSON, then the packed game.

use std::io::{Read, Write};

use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{PROTOCOL, Signer, Task, is_signed, sha256_hex};
use crate::MatchRecord;

/// A longer envelope is refused before it is read.
pub const MOST_PACKED_BYTES: usize = 2 << 20;
/// Unpacking stops here, whatever the envelope promises.
pub const MOST_UNPACKED_BYTES: usize = 32 << 20;
/// A longer first line is no header.
const MOST_HEADER_BYTES: usize = 64 << 10;

/// What is told about a game that is handed in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandIn {
    /// The version of the message.
    pub v: u32,
    /// The task, as it was given out.
    pub task: Task,
    pub game: String,
    /// SHA-256 of the unpacked game.
    pub records: String,
    /// The program and its version.
    #[serde(default)]
    pub client: String,
    /// What the network ran on.
    #[serde(default)]
    pub engine: String,
    /// Seconds the game took; only shown.
    #[serde(default)]
    pub seconds: f64,
    /// The worker's signature.
    #[serde(default)]
    pub sig: String,
}

/// The body of a match game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchBody {
    /// Whether the first player won; absent in a tie.
    pub first_won: Option<bool>,
    /// The moves in the game's own notation.
    pub moves: String,
}

impl From<&MatchRecord> for MatchBody {
    fn from(record: &MatchRecord) -> MatchBody {
        MatchBody {
            first_won: record.winner.first_won(),
            moves: record.moves.clone(),
        }
    }
}

impl From<MatchBody> for MatchRecord {
    fn from(body: MatchBody) -> MatchRecord {
        MatchRecord {
            winner: body.first_won.into(),
            moves: body.moves,
        }
    }
}

/// A header and the unpacked game.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// What is told about the game.
    pub header: HandIn,
    /// The game: a record of self-play, or a [`MatchBody`].
    pub body: Vec<u8>,
}

/// Why bytes are no envelope.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum EnvelopeError {
    /// More bytes than are taken.
    #[error("the upload has {0} bytes; at most 2097152 are taken")]
    Long(usize),
    /// The first line.
    #[error("the first line of the upload is no header: {0}")]
    Header(String),
    /// The packed part.
    #[error("the game of the upload cannot be unpacked: {0}")]
    Packed(String),
    /// The packed part grows beyond bounds.
    #[error("the game of the upload has more than 33554432 bytes")]
    Swollen,
}

impl Envelope {
    /// A game that was just played, signed by the worker.
    pub fn new(
        task: &Task,
        game: String,
        body: Vec<u8>,
        told: (&str, &str, f64),
        signer: &Signer,
    ) -> Envelope {
        let (client, engine, seconds) = told;
        let mut header = HandIn {
            v: PROTOCOL,
            task: task.clone(),
            game,
            records: sha256_hex(&body),
            client: client.to_owned(),
            engine: engine.to_owned(),
            seconds,
            sig: String::new(),
        };
        header.sig = signer.sign(header.signed_text().as_bytes());
        Envelope { header, body }
    }

    /// The bytes to send.
    pub fn pack(&self) -> Vec<u8> {
        // Structs of strings and finite numbers always have a JSON form, and memory can always be written to.
        let mut bytes = serde_json::to_vec(&self.header).unwrap_or_default();
        bytes.push(b'\n');
        let mut encoder = DeflateEncoder::new(bytes, Compression::default());
        let _ = encoder.write_all(&self.body);
        encoder.finish().unwrap_or_default()
    }

    /// The header of received bytes, without unpacking the game. Nothing in it is believed yet.
    pub fn header(bytes: &[u8]) -> Result<HandIn, EnvelopeError> {
        Ok(Envelope::split(bytes)?.0)
    }

    /// The header and the packed game.
    fn split(bytes: &[u8]) -> Result<(HandIn, &[u8]), EnvelopeError> {
        if bytes.len() > MOST_PACKED_BYTES {
            return Err(EnvelopeError::Long(bytes.len()));
        }
        let end = bytes
            .iter()
            .take(MOST_HEADER_BYTES)
            .position(|&byte| byte == b'\n')
            .ok_or_else(|| EnvelopeError::Header("it does not end".into()))?;
        let header = serde_json::from_slice(&bytes[..end])
            .map_err(|error| EnvelopeError::Header(error.to_string()))?;
        Ok((header, &bytes[end + 1..]))
    }

    /// The envelope of received bytes. Nothing in it is believed yet.
    pub fn unpack(bytes: &[u8]) -> Result<Envelope, EnvelopeError> {
        let (header, packed) = Envelope::split(bytes)?;
        let mut body = Vec::new();
        let mut decoder = DeflateDecoder::new(packed);
        (&mut decoder)
            .take(MOST_UNPACKED_BYTES as u64 + 1)
            .read_to_end(&mut body)
            .map_err(|error| EnvelopeError::Packed(error.to_string()))?;
        if body.len() > MOST_UNPACKED_BYTES {
            return Err(EnvelopeError::Swollen);
        }
        Ok(Envelope { header, body })
    }
}

impl HandIn {
    /// Whether the worker with this key signed the task, the game and its records.
    pub fn is_signed_by(&self, public_key: &str) -> bool {
        is_signed(public_key, self.signed_text().as_bytes(), &self.sig)
    }

    fn signed_text(&self) -> String {
        let task = &self.task;
        format!(
            "tengen hand-in\n{}\n{}\n{}\n{}",
            task.id(),
            task.attempt,
            self.game,
            self.records
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::task::tests::task;
    use proptest::prelude::*;

    fn envelope(body: Vec<u8>) -> Envelope {
        let signer = Signer::from_secret(&[1; 32]).unwrap();
        Envelope::new(&task(), "id".into(), body, ("tengen", "cpu", 1.5), &signer)
    }

    #[test]
    fn an_envelope_comes_back_and_knows_its_worker() {
        let sent = envelope(b"moves and planes".repeat(100));
        let packed = sent.pack();
        assert!(packed.len() < sent.body.len());
        let found = Envelope::unpack(&packed).unwrap();
        assert_eq!(found, sent);
        let key = Signer::from_secret(&[1; 32]).unwrap().public_key();
        let other = Signer::from_secret(&[2; 32]).unwrap().public_key();
        assert!(found.header.is_signed_by(&key) && !found.header.is_signed_by(&other));
        let mut changed = found.header.clone();
        changed.game = "other".into();
        assert!(!changed.is_signed_by(&key));
    }

    #[test]
    fn a_bomb_is_not_unpacked_to_its_end() {
        let packed = envelope(vec![0; MOST_UNPACKED_BYTES + 1]).pack();
        assert!(packed.len() < MOST_PACKED_BYTES);
        assert_eq!(Envelope::unpack(&packed), Err(EnvelopeError::Swollen));
        let long = vec![b'x'; MOST_PACKED_BYTES + 1];
        assert_eq!(
            Envelope::unpack(&long),
            Err(EnvelopeError::Long(long.len()))
        );
    }

    proptest! {
        #[test]
        fn bytes_cut_or_changed_are_never_taken_for_the_same_game(cut in 1usize..2000, place in 0usize..2000) {
            let sent = envelope((0..3000_u32).flat_map(u32::to_le_bytes).collect());
            let packed = sent.pack();
            if let Ok(found) = Envelope::unpack(&packed[..packed.len() - cut.min(packed.len())]) {
                prop_assert_ne!(sha256_hex(&found.body), sent.header.records.clone());
            }
            let mut changed = packed.clone();
            let place = place % changed.len();
            changed[place] ^= 0x55;
            if let Ok(found) = Envelope::unpack(&changed) {
                let same_body = sha256_hex(&found.body) == found.header.records;
                prop_assert!(!same_body || found.header != sent.header || found.body == sent.body);
            }
        }

        #[test]
        fn any_bytes_are_refused_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            prop_assert!(Envelope::unpack(&bytes).is_err());
        }
    }
}
