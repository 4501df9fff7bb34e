//! From a searched root to the move that is made: when to pass, when not to, when to resign.

use go::{Board, Color, Move, Point};

/// Below this winrate a player gives up, unless told otherwise.
const DEFAULT_RESIGN_WINRATE: f64 = 0.10;
/// Nobody resigns before a quarter of the board's points are played.
const RESIGN_AFTER_SHARE: usize = 4;
/// The share of the board after which a handicap no longer excuses a bad winrate.
const HANDICAP_FADES_AT_SHARE: f64 = 0.6;
/// What an unvisited best move is taken to be worth.
const UNKNOWN_WINRATE: f64 = 0.5;
/// What a move is taken to be worth that replaces a pass unseen: it must not lead to resigning.
const UNSEEN_REPLACEMENT_WINRATE: f64 = 1.0;

/// A root move in order of preference. Winrates are for the side to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preference {
    pub mv: Move,
    /// Its winrate, if it was visited.
    pub winrate: Option<f64>,
}

/// What passing would mean here, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassOutlook {
    /// How far ahead it is if both pass.
    pub lead: f32,
    /// Whether the opponent has just passed.
    pub opponent_passed: bool,
    /// Whether a restriction forbids it to pass.
    pub forbidden: bool,
}

/// How passing is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassStyle {
    /// By the score on the board.
    Score,
    /// As the search says (`--dumbpass`).
    Search,
    /// Only when nothing else is left: for cleaning up dead stones.
    Avoid,
}

/// The move to make, and what it is believed to be worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    pub mv: Move,
    /// Its winrate for the side to move.
    pub winrate: f64,
}

/// Chooses between the best move and passing. `preferences` are the root's moves, best first; with
/// none there is nothing but to pass.
pub fn choose(
    preferences: &[Preference],
    board: &Board,
    to_move: Color,
    style: PassStyle,
    outlook: PassOutlook,
) -> Choice {
    let Some(best) = preferences.first() else {
        return Choice {
            mv: Move::Pass,
            winrate: UNKNOWN_WINRATE,
        };
    };
    let best_choice = Choice {
        mv: best.mv,
        winrate: best.winrate.unwrap_or(UNKNOWN_WINRATE),
    };
    let useful_play = || {
        preferences
            .iter()
            .find(|entry| matches!(entry.mv, Move::Play(point) if !is_eye(board, point, to_move)))
    };
    let or_instead = |entry: Option<&Preference>| {
        entry.map_or(best_choice, |entry| Choice {
            mv: entry.mv,
            winrate: entry.winrate.unwrap_or(UNSEEN_REPLACEMENT_WINRATE),
        })
    };
    let pass = Choice {
        mv: Move::Pass,
        winrate: best_choice.winrate,
    };
    match style {
        PassStyle::Search => best_choice,
        PassStyle::Avoid if best.mv.is_pass() => or_instead(useful_play()),
        PassStyle::Avoid => best_choice,
        PassStyle::Score if best.mv.is_pass() => {
            if outlook.lead < 0.0 {
                or_instead(useful_play())
            } else if outlook.lead > 0.0 {
                best_choice
            } else {
                // A tie: a play that promises more than half a win is better.
                let better = |entry: &&Preference| entry.winrate.is_some_and(|w| w > 0.5);
                or_instead(useful_play().filter(better))
            }
        }
        PassStyle::Score if outlook.opponent_passed && !outlook.forbidden => {
            let wins_at_once = outlook.lead > 0.0;
            let saves_a_tie = outlook.lead == 0.0 && best_choice.winrate < 0.5;
            if wins_at_once || saves_a_tie {
                pass
            } else {
                best_choice
            }
        }
        PassStyle::Score => best_choice,
    }
}

/// When a player gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResignPolicy {
    /// At 10 %; later for a White who gave stones, as long as they may still count for little.
    Default,
    Never,
    /// At this percentage.
    Percent(u32),
}

impl ResignPolicy {
    /// The policy behind Leela Zero's number: negative for the default, 0 for never.
    pub fn from_percent(percent: i32) -> ResignPolicy {
        match u32::try_from(percent) {
            Err(_) => ResignPolicy::Default,
            Ok(0) => ResignPolicy::Never,
            Ok(percent) => ResignPolicy::Percent(percent),
        }
    }

    /// Leela Zero's number for the policy.
    pub fn percent(self) -> i32 {
        match self {
            ResignPolicy::Default => -1,
            ResignPolicy::Never => 0,
            ResignPolicy::Percent(percent) => percent as i32,
        }
    }

    /// Whether a player should resign with this winrate after `move_number` moves.
    pub fn resigns(
        self,
        winrate: f64,
        color: Color,
        handicap: usize,
        move_number: usize,
        area: usize,
    ) -> bool {
        if move_number <= area / RESIGN_AFTER_SHARE {
            return false;
        }
        let threshold = match self {
            ResignPolicy::Never => return false,
            ResignPolicy::Percent(percent) => f64::from(percent) / 100.0,
            ResignPolicy::Default if color == Color::White && handicap > 0 => {
                let early = DEFAULT_RESIGN_WINRATE / (1.0 + handicap as f64);
                let faded = move_number as f64 / (HANDICAP_FADES_AT_SHARE * area as f64);
                let weight = faded.min(1.0);
                weight * DEFAULT_RESIGN_WINRATE + (1.0 - weight) * early
            }
            ResignPolicy::Default => DEFAULT_RESIGN_WINRATE,
        };
        winrate <= threshold
    }
}

/// Whether a play would fill an eye of `color`: all neighbours its own, and at most one diagonal
/// the opponent's, none at the edge.
pub fn is_eye(board: &Board, point: Point, color: Color) -> bool {
    let surrounded = point
        .neighbors()
        .into_iter()
        .all(|neighbor| !board.is_on_board(neighbor) || board.is_stone(neighbor, color));
    if !surrounded {
        return false;
    }
    let diagonals = point.diagonals();
    let at_edge = diagonals.iter().any(|&point| !board.is_on_board(point));
    let hostile = diagonals
        .iter()
        .filter(|&&point| board.is_stone(point, color.opponent()))
        .count();
    hostile <= usize::from(!at_edge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::BoardSize;

    const PLAY: Move = Move::Play(Point::new(4, 4));

    fn board() -> Board {
        Board::new(BoardSize::NINE)
    }

    fn preference(mv: Move, winrate: impl Into<Option<f64>>) -> Preference {
        Preference {
            mv,
            winrate: winrate.into(),
        }
    }

    fn outlook(lead: f32, opponent_passed: bool) -> PassOutlook {
        PassOutlook {
            lead,
            opponent_passed,
            forbidden: false,
        }
    }

    fn chosen(preferences: &[Preference], style: PassStyle, outlook: PassOutlook) -> Move {
        choose(preferences, &board(), Color::Black, style, outlook).mv
    }

    #[test]
    fn a_pass_that_loses_is_replaced_and_one_that_wins_is_kept() {
        let list = [preference(Move::Pass, 0.6), preference(PLAY, 0.3)];
        assert_eq!(chosen(&list, PassStyle::Score, outlook(-0.5, false)), PLAY);
        assert_eq!(
            chosen(&list, PassStyle::Score, outlook(0.5, false)),
            Move::Pass
        );
        assert_eq!(
            chosen(&list, PassStyle::Search, outlook(-0.5, false)),
            Move::Pass
        );
        assert_eq!(
            chosen(&list[..1], PassStyle::Score, outlook(-0.5, false)),
            Move::Pass
        );
    }

    #[test]
    fn a_tie_is_left_for_a_play_only_if_it_promises_more() {
        for (winrate, expected) in [
            (Some(0.6), PLAY),
            (Some(0.5), Move::Pass),
            (None, Move::Pass),
        ] {
            let list = [preference(Move::Pass, 0.6), preference(PLAY, winrate)];
            assert_eq!(
                chosen(&list, PassStyle::Score, outlook(0.0, false)),
                expected
            );
        }
    }

    #[test]
    fn after_the_opponents_pass_a_leader_wins_at_once() {
        let list = [preference(PLAY, 0.9)];
        assert_eq!(
            chosen(&list, PassStyle::Score, outlook(0.5, true)),
            Move::Pass
        );
        assert_eq!(chosen(&list, PassStyle::Score, outlook(-0.5, true)), PLAY);
        assert_eq!(chosen(&list, PassStyle::Score, outlook(0.5, false)), PLAY);
        assert_eq!(chosen(&list, PassStyle::Search, outlook(0.5, true)), PLAY);
        assert_eq!(chosen(&list, PassStyle::Avoid, outlook(0.5, true)), PLAY);
        let forbidden = PassOutlook {
            forbidden: true,
            ..outlook(0.5, true)
        };
        assert_eq!(chosen(&list, PassStyle::Score, forbidden), PLAY);
    }

    #[test]
    fn after_the_opponents_pass_a_tie_is_taken_when_play_looks_worse() {
        for (winrate, expected) in [(0.4, Move::Pass), (0.6, PLAY)] {
            let list = [preference(PLAY, winrate)];
            assert_eq!(
                chosen(&list, PassStyle::Score, outlook(0.0, true)),
                expected
            );
        }
    }

    #[test]
    fn cleaning_up_passes_only_when_eyes_are_all_that_is_left() {
        let mut board = board();
        let corner = Point::new(0, 0);
        for (x, y) in [(1, 0), (0, 1), (1, 1)] {
            let _ = board.play(Point::new(x, y), Color::Black);
        }
        let list = [
            preference(Move::Pass, 0.6),
            preference(Move::Play(corner), 0.5),
            preference(PLAY, 0.4),
        ];
        let clean = |list: &[Preference]| {
            choose(
                list,
                &board,
                Color::Black,
                PassStyle::Avoid,
                outlook(1.0, true),
            )
        };
        assert_eq!(
            clean(&list),
            Choice {
                mv: PLAY,
                winrate: 0.4
            }
        );
        assert_eq!(clean(&list[..2]).mv, Move::Pass);
    }

    #[test]
    fn an_unseen_replacement_never_resigns() {
        let list = [preference(Move::Pass, 0.0), preference(PLAY, None)];
        let choice = choose(
            &list,
            &board(),
            Color::Black,
            PassStyle::Score,
            outlook(-9.0, false),
        );
        assert_eq!(
            choice,
            Choice {
                mv: PLAY,
                winrate: 1.0
            }
        );
    }

    #[test]
    fn resigning_waits_for_a_quarter_of_the_board() {
        let resigns = |moves| ResignPolicy::Default.resigns(0.01, Color::Black, 0, moves, 361);
        assert!(!resigns(90));
        assert!(resigns(91));
        let never = ResignPolicy::from_percent(0);
        assert!(!never.resigns(0.0, Color::Black, 0, 300, 361));
        let at_five = ResignPolicy::from_percent(5);
        assert!(at_five.resigns(0.05, Color::Black, 0, 300, 361));
        assert!(!at_five.resigns(0.051, Color::Black, 0, 300, 361));
    }

    #[test]
    fn white_is_patient_in_handicap_games_and_less_so_as_they_go_on() {
        let resigns =
            |winrate, moves| ResignPolicy::Default.resigns(winrate, Color::White, 4, moves, 361);
        // After 108 moves: 0.4986 of 0.10 and 0.5014 of 0.02.
        assert!(!resigns(0.060, 108));
        assert!(resigns(0.0598, 108));
        assert!(resigns(0.0999, 217));
        assert!(ResignPolicy::Default.resigns(0.0999, Color::Black, 4, 108, 361));
    }

    #[test]
    fn eyes_tolerate_one_hostile_diagonal_in_the_centre_and_none_at_the_edge() {
        let mut board = board();
        let center = Point::new(4, 4);
        for neighbor in center.neighbors() {
            let _ = board.play(neighbor, Color::Black);
        }
        assert!(is_eye(&board, center, Color::Black));
        assert!(!is_eye(&board, center, Color::White));
        let _ = board.play(Point::new(3, 3), Color::White);
        assert!(is_eye(&board, center, Color::Black));
        let _ = board.play(Point::new(5, 5), Color::White);
        assert!(!is_eye(&board, center, Color::Black));
        for (x, y) in [(0, 1), (1, 0)] {
            let _ = board.play(Point::new(x, y), Color::Black);
        }
        let corner = Point::new(0, 0);
        assert!(is_eye(&board, corner, Color::Black));
        let _ = board.play(Point::new(1, 1), Color::White);
        assert!(!is_eye(&board, corner, Color::Black));
    }
}
