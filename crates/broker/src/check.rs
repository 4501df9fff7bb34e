//! A checker plays sampled games again: the number of a game fixes it bit for bit.

use std::{
    marker::PhantomData,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_nats::jetstream::AckKind;
use base::LockedFolder;
use fleet::{Game, PlayerFor, is_played_by, selfplay_task, wire::Envelope};
use serde_json::{Value, json};

use crate::{BrokerError, Streams, remote::ask, streams::network_file};

/// A game that a checker took and did not finish goes to another after this.
const ACK_WAIT: Duration = Duration::from_secs(600);
/// The ledger's answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// See the module. Any number of them may run.
pub struct Checker<G: Game> {
    streams: Streams,
    dir: PathBuf,
    engine: String,
    _game: PhantomData<fn() -> G>,
}

impl<G: Game> Checker<G> {
    /// A checker on an engine such as `tengen 0.2.0 cpu-avx512`: games of others are left to others.
    pub fn new(streams: &Streams, dir: &Path, engine: &str) -> Checker<G> {
        Checker {
            streams: streams.clone(),
            dir: dir.to_owned(),
            engine: engine.to_owned(),
            _game: PhantomData,
        }
    }

    /// Plays games again until `stop` is set; `on_say` is told about each.
    pub fn run(&self, stop: &AtomicBool, on_say: &mut dyn FnMut(&str)) -> Result<(), BrokerError> {
        let _lock = LockedFolder::take(&self.dir)?;
        let link = &self.streams.link;
        let settings = self.settings()?;
        let mut player: Option<(String, G::Player)> = None;
        on_say("waiting for games to be played again");
        while !stop.load(Ordering::Relaxed) {
            let message = self.streams.next_task("check", "audit", ACK_WAIT)?;
            let Some(message) = message else { continue };
            let acknowledge = |kind: AckKind| {
                let _ = link.wait(message.ack_with(kind));
            };
            let Ok(envelope) = Envelope::unpack(&message.payload) else {
                acknowledge(AckKind::Term);
                continue;
            };
            if envelope.header.engine != self.engine {
                acknowledge(AckKind::Nak(Some(Duration::from_secs(30))));
                continue;
            }
            let task = selfplay_task(&envelope.header.task);
            if player.as_ref().is_none_or(|(name, _)| name != task.network) {
                player = self.player(&settings, task.network)?;
            }
            let Some((_, ready)) = &player else {
                acknowledge(AckKind::Nak(Some(Duration::from_secs(30))));
                continue;
            };
            let played = is_played_by::<G>(&settings, ready, &task, &envelope.body, stop);
            let played = played.map_err(|error| BrokerError::Other(error.to_string()))?;
            let Some(is_same) = played else {
                acknowledge(AckKind::Nak(None));
                continue;
            };
            let worker = &envelope.header.task.worker;
            let body = json!({ "worker": worker, "number": task.number, "is_same": is_same });
            match ask::<Value>(&self.streams, "audited", None, body, PATIENCE) {
                Ok(_) => acknowledge(AckKind::Ack),
                Err(_) => acknowledge(AckKind::Nak(Some(Duration::from_secs(5)))),
            }
            let verdict = if is_same { "the same" } else { "another one" };
            on_say(&format!("game {} of {worker}: {verdict}", task.number));
        }
        Ok(())
    }

    /// The settings of the run.
    fn settings(&self) -> Result<G::Settings, BrokerError> {
        let text = self.streams.get("settings")?.ok_or_else(|| {
            BrokerError::Other(
                "there is no run of this name on the broker yet; start its ledger first".into(),
            )
        })?;
        let path = self.dir.join("settings.toml");
        base::write_whole(&path, &text).map_err(|source| BrokerError::File { path, source })?;
        let settings = fleet::read_settings::<G>(&self.dir);
        let settings = settings.map_err(|error| BrokerError::Other(error.to_string()))?;
        Ok(settings.unwrap_or_default())
    }

    fn player(
        &self,
        settings: &G::Settings,
        network: &str,
    ) -> Result<Option<(String, G::Player)>, BrokerError> {
        let file = match network {
            "" => None,
            name => {
                let file = network_file(name, G::NETWORK_EXTENSION);
                let path = self.dir.join(&file);
                if !path.exists() {
                    let Some(bytes) = self.streams.network(&file)? else {
                        return Ok(None);
                    };
                    base::write_whole(&path, &bytes).map_err(|source| BrokerError::File {
                        path: path.clone(),
                        source,
                    })?;
                }
                Some(path)
            }
        };
        let player = G::player(settings, PlayerFor::SelfPlay, file.as_deref())
            .map_err(|error| BrokerError::Other(error.to_string()))?;
        Ok(Some((network.to_owned(), player)))
    }
}
