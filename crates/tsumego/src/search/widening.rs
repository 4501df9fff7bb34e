//! Which moves of a node matter: the relevance zone of a loss, and the moves it leaves to try.

use super::bits::Bits;
use super::dfpn::{Answer, Child, Search};
use super::path::Depths;
use super::position::{NO_CELL, Position};
use crate::problem::Side;

impl<B: Bits> Search<'_, B> {
    /// Returns the moves that a solved child shows to be irrelevant: if the mover loses by a move
    /// outside the zone of his loss, he loses by every quiet move outside it.
    pub(super) fn spread(&mut self, base: usize, at: usize, mover: Side) {
        let teacher = &self.children[at];
        let lost = teacher.numbers.seen_by(mover).1 == 0;
        if !lost
            || teacher.captured
            || !teacher.numbers.leans.is_empty()
            || !outside(teacher.cell, teacher.zone)
        {
            return;
        }
        let (numbers, zone) = (teacher.numbers, teacher.zone);
        for child in &mut self.children[base..] {
            if !child.numbers.is_solved() && !child.captured && outside(child.cell, zone) {
                child.numbers = numbers;
                child.zone = zone;
                child.seen = true;
                self.table.put(child.key, numbers.pn, numbers.dn, zone, 1);
            }
        }
    }

    /// The relevance zone of a solved node from its children's.
    pub(super) fn zone_of(
        &self,
        position: &Position<B>,
        side: Side,
        answer: Answer,
        leans: Depths,
        base: usize,
    ) -> B {
        let field = self.field;
        if !leans.is_empty() {
            return field.everything();
        }
        let children = &self.children[base..];
        if answer == Answer::wanted_by(side) {
            let won = |child: &&Child<B>| {
                child.numbers.leans.is_empty() && child.numbers.seen_by(side).0 == 0
            };
            let zone_by = |child: &Child<B>| {
                child.zone | field.support_of_winner(position, side, child.cell, child.zone)
            };
            return children
                .iter()
                .filter(won)
                .map(zone_by)
                .min_by_key(|zone| zone.count())
                .unwrap_or(field.everything());
        }
        if self.answers_tenuki_by_passing(position, side) {
            return self.zone_of_patience(position, base);
        }
        let quiet = self.quiet(base);
        let mut zone = quiet.map_or(B::NONE, |child| child.zone);
        for child in children {
            let irrelevant =
                !child.captured && quiet.is_some_and(|quiet| outside(child.cell, quiet.zone));
            if !irrelevant {
                zone |= child.zone;
            }
        }
        match answer {
            Answer::Captured => {
                if let Some(liberty) = field.last_liberty(position) {
                    zone |= field.close_atari(position, liberty);
                }
            }
            Answer::Safe => {
                for &target in &field.targets {
                    zone |= B::cell(target);
                }
            }
        }
        field.close_for_loser(position, side, zone)
    }

    /// The moves that could save a side whose tried moves all lose.
    pub(super) fn relevant(
        &self,
        position: &Position<B>,
        side: Side,
        leans: Depths,
        base: usize,
    ) -> B {
        let field = self.field;
        if !leans.is_empty() {
            return field.everything();
        }
        if self.answers_tenuki_by_passing(position, side) {
            return self.zone_of_patience(position, base);
        }
        let Some(quiet) = self.quiet(base) else {
            return field.everything();
        };
        field.with_winners_liberties(position, side.opponent(), quiet.zone)
    }

    /// Whether the winner may answer every irrelevant move by a pass: the defender wins a game
    /// that goes on like that for ever. With a ban he may not, for it would lapse.
    fn answers_tenuki_by_passing(&self, position: &Position<B>, loser: Side) -> bool {
        loser == Side::Attacker && position.ban == NO_CELL
    }

    /// The least zone in which the defender has an answer to every move of the attacker; moves
    /// outside it he answers by passing, and nothing in it has changed.
    fn zone_of_patience(&self, position: &Position<B>, base: usize) -> B {
        let field = self.field;
        let mut zone = field
            .targets
            .iter()
            .fold(B::NONE, |set, &cell| set | B::cell(cell));
        loop {
            let before = zone;
            zone = field.close_for_loser(position, Side::Attacker, zone);
            for child in &self.children[base..] {
                if child.cell != NO_CELL && zone.has(child.cell as usize) {
                    zone |= child.zone;
                }
            }
            if zone == before {
                return zone;
            }
        }
    }

    /// The lost child that shows most other moves to be irrelevant: a pass, or a move outside the
    /// zone of its own refutation.
    fn quiet(&self, base: usize) -> Option<&Child<B>> {
        self.children[base..]
            .iter()
            .filter(|child| !child.captured && outside(child.cell, child.zone))
            .min_by_key(|child| child.zone.count())
    }
}

/// Whether a move is a pass or outside a set.
fn outside<B: Bits>(cell: u16, set: B) -> bool {
    cell == NO_CELL || !set.has(cell as usize)
}
