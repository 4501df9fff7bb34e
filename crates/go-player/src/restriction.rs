//! Moves that a player must not choose, or must choose from, for some moves to come.

use go::{Color, Move, PointSet};

/// Whether the named moves are forbidden, or all other plays are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// The named moves are forbidden.
    Avoid,
    /// Every play that is not named is forbidden. Passing and resigning stay free.
    Allow,
}

/// One restriction of one player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it does with the moves it names.
    pub kind: RuleKind,
    /// Whom it binds.
    pub color: Color,
    /// The points it names.
    pub points: PointSet,
    /// Whether it names passing.
    pub pass: bool,
    /// Whether it names resigning.
    pub resign: bool,
    /// The last move number at which it holds.
    pub last_move_number: usize,
}

impl Rule {
    fn is_live(&self, color: Color, move_number: usize) -> bool {
        self.color == color && move_number <= self.last_move_number
    }

    /// Whether an `Avoid` rule forbids some play, and so contradicts an `Allow` rule.
    fn forbids_plays(&self) -> bool {
        self.kind == RuleKind::Avoid && !self.points.is_empty()
    }
}

/// All restrictions in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrictions {
    rules: Vec<Rule>,
}

impl Restrictions {
    /// Adds a rule, unless one player would get both a list of allowed plays and a list of
    /// forbidden plays; the rule is then given back.
    pub fn add(&mut self, rule: Rule) -> Result<(), Rule> {
        let contradicts = |other: &Rule| {
            other.color == rule.color
                && (rule.kind == RuleKind::Allow && other.forbids_plays()
                    || other.kind == RuleKind::Allow && rule.forbids_plays())
        };
        if self.rules.iter().any(contradicts) {
            return Err(rule);
        }
        self.rules.push(rule);
        Ok(())
    }

    /// The rules, in the order they came.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether nothing is restricted.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether `color` may make this move as move number `move_number`.
    pub fn allow(&self, color: Color, mv: Move, move_number: usize) -> bool {
        let mut has_list = false;
        let mut is_listed = false;
        for rule in &self.rules {
            if !rule.is_live(color, move_number) {
                continue;
            }
            match (rule.kind, mv) {
                (RuleKind::Avoid, Move::Pass) if rule.pass => return false,
                (RuleKind::Avoid, Move::Play(point)) if rule.points.contains(point) => {
                    return false;
                }
                (RuleKind::Allow, Move::Play(point)) => {
                    has_list = true;
                    is_listed |= rule.points.contains(point);
                }
                _ => {}
            }
        }
        !has_list || is_listed
    }

    /// Whether `color` may resign as move number `move_number`.
    pub fn allow_resign(&self, color: Color, move_number: usize) -> bool {
        !self.rules.iter().any(|rule| {
            rule.kind == RuleKind::Avoid && rule.resign && rule.is_live(color, move_number)
        })
    }

    /// Whether passing is named in a live list of allowed moves, and so is asked about.
    pub fn names_pass(&self, color: Color, move_number: usize) -> bool {
        self.rules.iter().any(|rule| {
            rule.kind == RuleKind::Allow && rule.pass && rule.is_live(color, move_number)
        })
    }

    /// The last move number at which anything is restricted.
    pub fn last_move_number(&self) -> Option<usize> {
        self.rules.iter().map(|rule| rule.last_move_number).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::Point;

    fn rule(kind: RuleKind, points: &[Point], pass: bool) -> Rule {
        Rule {
            kind,
            color: Color::Black,
            points: points.iter().copied().collect(),
            pass,
            resign: false,
            last_move_number: 4,
        }
    }

    #[test]
    fn avoided_moves_are_forbidden_to_their_player_until_the_rule_ends() {
        let corner = Point::new(0, 0);
        let mut restrictions = Restrictions::default();
        restrictions
            .add(rule(RuleKind::Avoid, &[corner], true))
            .unwrap();
        let play = Move::Play(corner);
        assert!(!restrictions.allow(Color::Black, play, 4));
        assert!(!restrictions.allow(Color::Black, Move::Pass, 4));
        assert!(restrictions.allow(Color::Black, play, 5));
        assert!(restrictions.allow(Color::White, play, 4));
        assert!(restrictions.allow(Color::Black, Move::Play(Point::new(1, 0)), 4));
    }

    #[test]
    fn a_list_of_allowed_plays_leaves_passing_alone() {
        let corner = Point::new(0, 0);
        let mut restrictions = Restrictions::default();
        restrictions
            .add(rule(RuleKind::Allow, &[corner], false))
            .unwrap();
        assert!(restrictions.allow(Color::Black, Move::Play(corner), 0));
        assert!(!restrictions.allow(Color::Black, Move::Play(Point::new(1, 0)), 0));
        assert!(restrictions.allow(Color::Black, Move::Pass, 0));
        assert!(restrictions.allow_resign(Color::Black, 0));
    }

    #[test]
    fn two_lists_of_allowed_plays_add_up() {
        let (a, b) = (Point::new(0, 0), Point::new(1, 0));
        let mut restrictions = Restrictions::default();
        restrictions
            .add(rule(RuleKind::Allow, &[a], false))
            .unwrap();
        restrictions
            .add(rule(RuleKind::Allow, &[b], false))
            .unwrap();
        assert!(restrictions.allow(Color::Black, Move::Play(a), 0));
        assert!(restrictions.allow(Color::Black, Move::Play(b), 0));
    }

    #[test]
    fn allowing_and_avoiding_plays_contradict_each_other() {
        let corner = Point::new(0, 0);
        let mut restrictions = Restrictions::default();
        restrictions
            .add(rule(RuleKind::Allow, &[corner], false))
            .unwrap();
        assert!(
            restrictions
                .add(rule(RuleKind::Avoid, &[corner], false))
                .is_err()
        );
        assert!(restrictions.add(rule(RuleKind::Avoid, &[], true)).is_ok());
    }
}
