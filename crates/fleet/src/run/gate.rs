//! Matches of a run: the gate that a new network must pass, and the games that rate a new best one.

use std::{sync::atomic::AtomicBool, time::Instant};

use base::nth_seed;

use super::{Run, network_file};
use crate::{
    Event, Learner, MatchLine, MatchScore, MatchTask, MatchVerdict, Phase, PlayerFor, Rule,
    RunError, Status, StoreError, matches::play_match_at,
};

/// Keeps the seeds of matches apart from those of self-play.
const MATCH_SEEDS: u64 = 0x6d61_7463_6865_7321;

impl<L: Learner> Run<L> {
    pub(super) fn decide(
        &mut self,
        stop: &AtomicBool,
        on_progress: &(dyn Fn(Status) + Sync),
    ) -> Result<Event, RunError> {
        let began = Instant::now();
        let Some(candidate) = self.state.candidate.clone() else {
            return Ok(Event::Stopped);
        };
        let best = self.state.best.clone();
        // The first network has nobody to beat, and one that was promoted just before a crash has beaten it.
        let (verdict, score) = if best.is_empty() || best == candidate {
            (MatchVerdict::Pass, self.score_of(&candidate)?)
        } else {
            self.gate(&candidate, &best, stop, on_progress)?
        };
        self.state.seconds.matches += began.elapsed().as_secs_f64();
        if verdict == MatchVerdict::Open {
            self.store.save_state(&self.state)?;
            return Ok(Event::Stopped);
        }
        let promoted = verdict == MatchVerdict::Pass;
        if promoted {
            if !self.store.compare_and_set_best(&best, &candidate)? {
                return Err(StoreError::Conflict.into());
            }
            self.state.best.clone_from(&candidate);
            if self.state.first.is_empty() && best.is_empty() {
                self.state.first.clone_from(&candidate);
            }
            let rates = L::schedule(&self.settings).rating_games > 0;
            self.state.to_rate = rates.then(|| candidate.clone());
        }
        self.state.candidate = None;
        let mut line = MatchLine {
            round: self.state.rounds,
            network: candidate.clone(),
            score,
            promoted,
            elo: 0.0,
            games: self.games.count,
            at_seconds: self.state.seconds.total(),
        };
        self.state.matches.push(line.clone());
        line.elo = self.update_ratings(&candidate)?.0;
        if let Some(last) = self.state.matches.last_mut() {
            last.elo = line.elo;
        }
        self.store.save_state(&self.state)?;
        Ok(Event::Decided(line))
    }

    fn gate(
        &self,
        candidate: &str,
        best: &str,
        stop: &AtomicBool,
        on_progress: &(dyn Fn(Status) + Sync),
    ) -> Result<(MatchVerdict, MatchScore), RunError> {
        let schedule = L::schedule(&self.settings);
        let players = [self.match_player(candidate)?, self.match_player(best)?];
        let task = MatchTask {
            first: candidate,
            second: best,
            rule: Rule::Sprt(schedule.sprt),
            at_once: self.at_once[1],
            seed: nth_seed(schedule.seed ^ MATCH_SEEDS, self.state.rounds),
        };
        self.play_match(
            &task,
            [&players[0], &players[1]],
            (Phase::Match, true),
            stop,
            on_progress,
        )
    }

    /// Plays what is missing of the new best network's games against older ones and fixed opponents.
    pub(super) fn rate(
        &mut self,
        stop: &AtomicBool,
        on_progress: &(dyn Fn(Status) + Sync),
    ) -> Result<Event, RunError> {
        let began = Instant::now();
        let Some(network) = self.state.to_rate.clone() else {
            return Ok(Event::Stopped);
        };
        let schedule = L::schedule(&self.settings);
        let player = self.match_player(&network)?;
        let task = MatchTask {
            first: &network,
            second: "",
            rule: Rule::Length(schedule.rating_games),
            at_once: self.at_once[1],
            seed: nth_seed(schedule.seed ^ MATCH_SEEDS, !self.state.rounds),
        };
        let mut is_open = false;
        for opponent in older(&self.state.best_chain(), schedule.rating_opponents) {
            if is_open
                || self
                    .store
                    .network(opponent, L::NETWORK_EXTENSION)?
                    .is_none()
            {
                continue;
            }
            let other = self.match_player(opponent)?;
            let sides = [&player, &other];
            let task = MatchTask {
                second: opponent,
                ..task
            };
            let (verdict, _) =
                self.play_match(&task, sides, (Phase::Rating, true), stop, on_progress)?;
            is_open |= verdict == MatchVerdict::Open;
        }
        if !is_open {
            for anchor in L::anchors(&self.settings) {
                let sides = [&player, &anchor.player];
                let task = MatchTask {
                    second: &anchor.name,
                    ..task
                };
                let (verdict, _) =
                    self.play_match(&task, sides, (Phase::Rating, false), stop, on_progress)?;
                is_open |= verdict == MatchVerdict::Open;
            }
        }
        self.state.seconds.matches += began.elapsed().as_secs_f64();
        if is_open {
            self.store.save_state(&self.state)?;
            return Ok(Event::Stopped);
        }
        self.state.to_rate = None;
        let (elo, error) = self.update_ratings(&network)?;
        self.store.save_state(&self.state)?;
        Ok(Event::Rated(elo, error))
    }

    fn play_match(
        &self,
        task: &MatchTask<'_>,
        players: [&L::Player; 2],
        (phase, is_for_workers): (Phase, bool),
        stop: &AtomicBool,
        on_progress: &(dyn Fn(Status) + Sync),
    ) -> Result<(MatchVerdict, MatchScore), RunError> {
        let status = self.status(phase);
        let told = |score| {
            on_progress(Status {
                last_match: Some(score),
                ..status.clone()
            })
        };
        let settings = &*self.settings;
        let play = |slot, seed, done: &AtomicBool| {
            let game = L::play_match_game(settings, players, slot, seed, done)?;
            Ok(game.map(|game| game.winner))
        };
        play_match_at(
            &self.shared.desk,
            self.is_served && is_for_workers,
            &*self.store,
            task,
            stop,
            play,
            told,
        )
    }

    fn match_player(&self, name: &str) -> Result<L::Player, RunError> {
        let file = network_file::<L>(&*self.store, name)?;
        L::player(&self.settings, PlayerFor::Match, Some(&file)).map_err(RunError::Game)
    }

    /// The score of all gating games of a network.
    fn score_of(&self, network: &str) -> Result<MatchScore, RunError> {
        let mut score = MatchScore::default();
        for game in self.store.match_games()? {
            if game.first == network {
                match game.first_won {
                    Some(true) => score.wins += 1,
                    Some(false) => score.losses += 1,
                    None => {}
                }
            }
        }
        Ok(score)
    }

    /// Rates everybody anew; returns the Elo of `network` and half its 95 % interval.
    fn update_ratings(&mut self, network: &str) -> Result<(f64, Option<f64>), RunError> {
        let ratings = self.state.ratings(&self.store.match_games()?);
        let of = |name: &str| {
            let rating = ratings.of(name);
            rating.map_or((0.0, None), |rating| (rating.elo.0, rating.error))
        };
        (self.state.elo, self.state.elo_error) = of(&self.state.best);
        Ok(of(network))
    }
}

/// Former best networks to rate a new one against: two, four, eight and so on promotions back. The one before was the
/// opponent of the gating match.
fn older<'a>(chain: &[&'a str], most: usize) -> Vec<&'a str> {
    let distances = (1..=most as u32).map(|power| 1_usize << power.min(30));
    let last = chain.len().saturating_sub(1);
    let mut opponents: Vec<&str> = distances
        .map(|back| chain[last.saturating_sub(back)])
        .collect();
    opponents.dedup();
    opponents.retain(|name| Some(name) != chain.last());
    opponents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_best_network_meets_older_ones_ever_further_back() {
        let names: Vec<String> = (0..12).map(|index| index.to_string()).collect();
        let chain: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(older(&chain, 3), ["9", "7", "3"]);
        assert_eq!(older(&chain[..2], 3), ["0"]);
        assert!(older(&chain[..1], 3).is_empty());
    }
}
