//! A game to be played somewhere, and what became of it.

use serde::{Deserialize, Serialize};

use super::{PROTOCOL, Signer, is_signed};

/// What kind of game is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A network against itself, to learn from.
    Selfplay,
    /// A slot of a match between two networks.
    Match,
}

impl Kind {
    /// Its word in ids.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Selfplay => "selfplay",
            Kind::Match => "match",
        }
    }
}

/// A network that a task needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NetworkRef {
    /// Its name: the hash of its content.
    pub hash: String,
    /// SHA-256 of the file that is served.
    pub file_hash: String,
    /// Length of that file.
    pub bytes: u64,
}

/// A game to be played. Its number fixes all random choices; its ticket proves that the server gave it out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The version of the message.
    pub v: u32,
    /// The id of the run, which a worker checks against the run it has joined.
    pub run: String,
    /// What is played, such as `go`.
    pub game: String,
    /// Self-play or a slot of a match.
    pub kind: Kind,
    /// The number of the self-play game, or the slot.
    pub number: u64,
    /// How often it was handed out before, plus one.
    pub attempt: u32,
    /// Counts the starts of the server.
    pub epoch: u64,
    /// The round a self-play game belongs to.
    pub round: u64,
    /// To whom it was given.
    pub worker: String,
    /// One network for self-play, or none; two for a match, the first player first.
    pub networks: Vec<NetworkRef>,
    /// Fixes the random choices; as text, since not every reader of JSON keeps 64 bits.
    #[serde(with = "as_text")]
    pub seed: u64,
    /// SHA-256 of the settings' text.
    pub settings_hash: String,
    /// After so long without a word the task may be given to somebody else.
    pub deadline_seconds: u64,
    /// The server's signature under all of this.
    #[serde(default)]
    pub ticket: String,
}

impl Task {
    /// The task's name, the same for every attempt.
    pub fn id(&self) -> String {
        let (run, number) = (&self.run, self.number);
        match (self.kind, self.networks.as_slice()) {
            (Kind::Match, [first, second]) => format!(
                "{run}/match/{}-{}/{number}",
                short(&first.hash),
                short(&second.hash)
            ),
            (kind, _) => format!("{run}/{}/{number}", kind.word()),
        }
    }

    /// The names of the networks.
    pub fn network_names(&self) -> Vec<&str> {
        self.networks
            .iter()
            .map(|network| network.hash.as_str())
            .collect()
    }

    /// The task with the server's signature.
    pub fn signed(mut self, signer: &Signer) -> Task {
        self.ticket = signer.sign(self.signed_text().as_bytes());
        self
    }

    /// Whether the server with this key gave the task out, as it stands.
    pub fn is_issued_by(&self, public_key: &str) -> bool {
        is_signed(public_key, self.signed_text().as_bytes(), &self.ticket)
    }

    fn signed_text(&self) -> String {
        let networks: Vec<String> = self
            .networks
            .iter()
            .map(|network| format!("{}:{}:{}", network.hash, network.file_hash, network.bytes))
            .collect();
        [
            "tengen task",
            &self.v.to_string(),
            &self.run,
            &self.game,
            self.kind.word(),
            &self.number.to_string(),
            &self.attempt.to_string(),
            &self.epoch.to_string(),
            &self.round.to_string(),
            &self.worker,
            &networks.join(","),
            &self.seed.to_string(),
            &self.settings_hash,
            &self.deadline_seconds.to_string(),
        ]
        .join("\n")
    }
}

/// Characters of a network's name in a task's id.
fn short(name: &str) -> &str {
    const SHORT: usize = 16;
    name.get(..SHORT).unwrap_or(name)
}

/// A worker asks for tasks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskRequest {
    /// The newest version of messages that the worker understands.
    pub protocol: u32,
    /// The program and its version.
    pub client: String,
    /// The games it can play, such as `go`.
    pub games: Vec<String>,
    /// The kinds it would play; none named means all.
    pub kinds: Vec<Kind>,
    /// How many tasks it wants.
    pub count: usize,
    /// Seconds it would wait for one.
    pub wait_seconds: u64,
    /// Names of the networks it has.
    pub networks_at_hand: Vec<String>,
}

/// Tasks with the settings they are played under.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskBatch {
    /// The version of the message.
    pub v: u32,
    /// The run's settings as TOML; typed values only, never a command line.
    pub settings: String,
    /// The tasks; none if nothing is wanted now.
    pub tasks: Vec<Task>,
    /// What to tell the user, if anything.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub say: String,
}

/// What became of a game that was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Acceptance {
    /// It is in the run's log, on disk.
    Accepted,
    /// It was there already, or its place is filled.
    Duplicate,
    /// It breaks a rule.
    Refused,
    /// It came too late to be of use.
    Stale,
    /// It is kept apart until somebody has looked at it.
    Quarantined,
}

/// The answer to a game. Whoever gets one may forget the game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The version of the message.
    pub v: u32,
    pub game: String,
    /// What became of it.
    pub verdict: Acceptance,
    /// Why, in a sentence; empty if there is nothing to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The place in the log of an accepted game, from 1.
    #[serde(default)]
    pub seq: u64,
    /// Counts the starts of the server.
    #[serde(default)]
    pub epoch: u64,
}

impl Receipt {
    /// A receipt without a place in the log.
    pub fn new(game: &str, verdict: Acceptance, why: impl Into<String>) -> Receipt {
        Receipt {
            v: PROTOCOL,
            game: game.to_owned(),
            verdict,
            why: why.into(),
            seq: 0,
            epoch: 0,
        }
    }
}

mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse()
            .map_err(|_| Error::custom(format!("{text:?} is no number below 2^64")))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn task() -> Task {
        Task {
            v: PROTOCOL,
            run: "run".into(),
            game: "go".into(),
            kind: Kind::Selfplay,
            number: 7,
            attempt: 1,
            epoch: 1,
            round: 2,
            worker: "w".into(),
            networks: vec![NetworkRef {
                hash: "n".into(),
                file_hash: "f".into(),
                bytes: 3,
            }],
            seed: u64::MAX,
            settings_hash: "s".into(),
            deadline_seconds: 60,
            ticket: String::new(),
        }
    }

    #[test]
    fn a_task_that_was_changed_is_not_the_servers() {
        let signer = Signer::from_secret(&[7; 32]).unwrap();
        let key = signer.public_key();
        let signed = task().signed(&signer);
        assert!(signed.is_issued_by(&key));
        let changes: [fn(&mut Task); 8] = [
            |task| task.number += 1,
            |task| task.seed -= 1,
            |task| task.worker = "other".into(),
            |task| task.networks[0].hash = "m".into(),
            |task| task.settings_hash = "t".into(),
            |task| task.kind = Kind::Match,
            |task| task.round += 1,
            |task| task.run = "walk".into(),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let mut changed = signed.clone();
            change(&mut changed);
            assert!(!changed.is_issued_by(&key), "change {index}");
        }
    }

    #[test]
    fn a_seed_keeps_its_64_bits_and_unknown_fields_are_ignored() {
        let mut json = serde_json::to_value(task()).unwrap();
        assert_eq!(json["seed"], "18446744073709551615");
        json["of_the_future"] = true.into();
        assert_eq!(serde_json::from_value::<Task>(json).unwrap(), task());
    }
}
