//! From a searched root to what is done: a draw by chance, a pass, a resignation.

use go::{Color, Move};
use search::draw_by_visits;

use crate::{
    by_score::{self, Prospects},
    choice::{self, Choice, PassOutlook, PassStyle, Preference, ResignPolicy},
    guard::Guarded,
    player::Player,
    position::Position,
    think::{Decision, Request, Snapshot},
};

impl Player {
    /// What to do, once a position was searched.
    pub(crate) fn decide(
        &mut self,
        position: &Position,
        snapshot: &Snapshot,
        request: &Request,
        guarded: Option<&Guarded>,
    ) -> Decision {
        let color = position.to_move();
        let move_number = self.game.move_number();
        let mut preferences: Vec<Preference> = snapshot
            .moves
            .iter()
            .map(|entry| Preference {
                mv: entry.mv,
                winrate: entry.winrate,
            })
            .collect();
        let drawn = self.draw(snapshot, request);
        if drawn < preferences.len() {
            preferences[..=drawn].rotate_right(1);
        }
        if let Some(guarded) = guarded {
            put_first(&mut preferences, guarded);
        }
        let leaves_passing_to_search = self.options.dumb_pass || self.judge.knows_score();
        let style = match (request.cleanup, leaves_passing_to_search) {
            (true, _) => PassStyle::Avoid,
            (false, true) => PassStyle::Search,
            (false, false) => PassStyle::Score,
        };
        let last = self.game.last_move();
        let outlook = PassOutlook {
            lead: position.lead(color),
            opponent_passed: last.is_some_and(|(_, mv)| mv.is_pass()) && !request.cleanup,
            forbidden: !request.restrictions.allow(color, Move::Pass, move_number),
        };
        let choice = choice::choose(&preferences, position.board(), color, style, outlook);
        let may_resign =
            !choice.mv.is_pass() && request.restrictions.allow_resign(color, move_number);
        let gives_up = self.is_lost(&choice, snapshot, request) && may_resign;
        if gives_up {
            Decision::Resign
        } else {
            Decision::Move(choice.mv)
        }
    }

    /// The move to be made if chance has a say in it; the first otherwise.
    fn draw(&mut self, snapshot: &Snapshot, request: &Request) -> usize {
        if request.only_say {
            return 0;
        }
        let move_number = self.game.move_number();
        if move_number < self.options.random_moves {
            return draw_by_visits(
                &snapshot.moves,
                self.options.random_temperature,
                self.options.random_min_visits,
                &mut self.rng,
            );
        }
        if !self.judge.knows_score() {
            return 0;
        }
        if self.judge.encoder().imitates_people() && self.options.level.is_some() {
            return by_score::draw_by_prior(&snapshot.moves, &mut self.rng);
        }
        if let Some(level) = self.options.level {
            return level.draw(&snapshot.moves, self.game.to_move(), &mut self.rng);
        }
        let temperature = self.options.temperature.at(move_number, self.game.size());
        by_score::draw(&snapshot.moves, temperature, &mut self.rng)
    }

    /// Whether the game is to be given up: by Leela Zero's measure, or after several turns by KataGo's.
    fn is_lost(&mut self, choice: &Choice, snapshot: &Snapshot, request: &Request) -> bool {
        let color = self.game.to_move();
        let (handicap, move_number) = (self.game.handicap(), self.game.move_number());
        let area = self.game.size().area();
        let policy = self.options.resign;
        let (true, Some(root)) = (self.judge.knows_score(), snapshot.weighed) else {
            return policy.resigns(choice.winrate, color, handicap, move_number, area);
        };
        let percent = match policy {
            ResignPolicy::Never => return false,
            ResignPolicy::Default => None,
            ResignPolicy::Percent(percent) => Some(percent),
        };
        let lead = match color {
            Color::Black => root.means.lead,
            Color::White => -root.means.lead,
        };
        let prospects = Prospects {
            color,
            winrate: crate::position::side(color).view(snapshot.value),
            lead,
            handicap,
            move_number,
            area,
            percent,
        };
        let mut patience = self.patience;
        let is_over = patience.is_over(&prospects);
        if !request.only_say {
            self.patience = patience;
        }
        is_over
    }
}

/// Puts the move that a second look chose before all others.
fn put_first(preferences: &mut Vec<Preference>, guarded: &Guarded) {
    let mv = guarded.choice.mv;
    match preferences.iter().position(|other| other.mv == mv) {
        Some(index) => preferences[..=index].rotate_right(1),
        None => preferences.insert(
            0,
            Preference {
                mv,
                winrate: Some(guarded.choice.safest.1),
            },
        ),
    }
}
