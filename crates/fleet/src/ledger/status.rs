//! Where a served run stands, as JSON for the page and for programs.

use serde_json::{Value, json};

use super::{Ledger, lock, unix_seconds};
use crate::{Game, Phase, Sprt};

/// A worker that was seen within so many seconds is at work.
const LIVE_SECONDS: u64 = 600;

impl<G: Game> Ledger<G> {
    pub(crate) fn status_json(&self) -> Value {
        let state = self.store.state().ok().flatten().unwrap_or_default();
        let status = self.shared.status();
        let phase = status
            .as_ref()
            .map_or("starting", |status| match status.phase {
                Phase::SelfPlay => "selfplay",
                Phase::Training => "training",
                Phase::Match => "match",
                Phase::Rating => "rating",
            });
        let sprt = G::schedule(&self.settings).sprt;
        let current = self.shared.desk.current_match();
        let current = current.map(|(first, second, score, out)| {
            json!({
                "first": first, "second": second, "wins": score.wins, "losses": score.losses, "slots_out": out,
                "llr": finite(sprt.log_likelihood_ratio(score)), "bound": bound(&sprt),
            })
        });
        let accepted = lock(&self.accepted);
        let (games, match_games) = (accepted.numbers.len(), accepted.match_seq);
        drop(accepted);
        let workers = self.workers_json();
        let live = workers
            .iter()
            .filter(|worker| {
                worker["seconds_ago"]
                    .as_u64()
                    .is_some_and(|ago| ago < LIVE_SECONDS)
            })
            .count();
        json!({
            "game": G::NAME,
            "run": self.identity.run,
            "epoch": self.identity.epoch,
            "phase": phase,
            "round": state.rounds,
            "games": status.as_ref().map_or(games as u64, |status| status.games),
            "games_wanted": status.as_ref().map(|status| status.games_wanted),
            "positions": status.as_ref().map(|status| status.positions),
            "games_per_hour": status.as_ref().map(|status| finite(status.games_per_hour)),
            "steps": status.as_ref().and_then(|status| status.steps),
            "match_games": match_games,
            "best": state.best,
            "elo": finite(state.elo),
            "elo_error": state.elo_error.map(finite),
            "match": current,
            "is_paused": self.shared.desk.is_paused(),
            "is_open": self.options.is_open,
            "workers_live": live,
            "workers": workers,
            "events": lock(&self.events).iter().rev().collect::<Vec<_>>(),
        })
    }

    pub(crate) fn networks_json(&self) -> Value {
        let state = self.store.state().ok().flatten().unwrap_or_default();
        let ratings = self
            .store
            .match_games()
            .map(|games| state.ratings(&games))
            .ok();
        let promoted: Vec<&str> = state.best_chain();
        let mut names: Vec<&str> = vec![state.first.as_str()];
        names.extend(state.matches.iter().map(|line| line.network.as_str()));
        names.dedup();
        let lines: Vec<Value> = names
            .into_iter()
            .filter(|name| !name.is_empty())
            .map(|name| {
                let rating = ratings.as_ref().and_then(|ratings| ratings.of(name));
                let path = self.store.network(name, G::NETWORK_EXTENSION).ok().flatten();
                let bytes = path.and_then(|path| std::fs::metadata(path).ok()).map(|found| found.len());
                let line = state.matches.iter().find(|line| line.network == name);
                json!({
                    "hash": name,
                    "bytes": bytes,
                    "was_best": promoted.contains(&name),
                    "is_best": state.best == name,
                    "elo": rating.map(|rating| finite(rating.elo.0)),
                    "elo_error": rating.and_then(|rating| rating.error).map(finite),
                    "games": line.map(|line| line.games),
                    "training": line.and_then(|line| state.trainings.iter().find(|training| training.round == line.round)),
                })
            })
            .collect();
        json!(lines)
    }

    pub(crate) fn matches_json(&self) -> Value {
        let state = self.store.state().ok().flatten().unwrap_or_default();
        let sprt = G::schedule(&self.settings).sprt;
        let lines = state.matches.iter().rev().map(|line| {
            json!({
                "round": line.round,
                "network": line.network,
                "wins": line.score.wins,
                "losses": line.score.losses,
                "winrate": finite(line.score.winrate()),
                "llr": finite(sprt.log_likelihood_ratio(line.score)),
                "bound": bound(&sprt),
                "promoted": line.promoted,
                "games": line.games,
            })
        });
        json!(lines.collect::<Vec<_>>())
    }

    fn workers_json(&self) -> Vec<Value> {
        let standings = lock(&self.standings);
        let now = unix_seconds();
        let accounts = self.accounts.all();
        let line = |account: crate::Account| {
            let standing = standings.get(&account.name);
            json!({
                "name": account.name,
                "client": standing.map(|standing| standing.client.clone()),
                "seconds_ago": standing.map(|standing| now.saturating_sub(standing.last_seen_unix)),
                "in_hand": standing.map(|standing| standing.in_hand()),
                "counts": standing.map(|standing| standing.counts),
                "banned": account.banned,
                "quarantined": account.quarantined,
            })
        };
        accounts.into_iter().map(line).collect()
    }
}

/// The log likelihood ratio at which a match is decided.
fn bound(sprt: &Sprt) -> f64 {
    ((1.0 - sprt.error) / sprt.error).ln()
}

/// JSON has no infinity.
fn finite(value: f64) -> Value {
    if value.is_finite() {
        json!(value)
    } else {
        Value::Null
    }
}
