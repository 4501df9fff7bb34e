//! One game between two programs, with a referee that knows the rules and trusts neither.

use std::collections::HashSet;

use go::{
    BoardSize, Color, Game, HandicapBonus, Illegal, KoRule, Komi, Move, Point, fixed_handicap,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Program, ProgramError};

/// Leela Zero and others take these settings as "no clock".
const NO_CLOCK: &str = "time_settings 0 1 0";

/// How SGF writes a game that ended without a result.
const NO_RESULT: &str = "Void";

/// What both programs are told before a game.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub size: BoardSize,
    /// Points for White.
    pub komi: Komi,
    /// Stones Black puts down first; 0 for an even game.
    pub handicap: usize,
    /// A game this long is scored as it stands.
    pub max_moves: usize,
    /// What happens when a position stands on the board again. Under superko whoever brings it about has lost; under
    /// the simple ko rule the game ends without a result once the same side is to move too.
    pub ko: KoRule,
}

impl Rules {
    /// What the referee goes by: area, no suicide, and komi alone, without points for handicap stones.
    fn in_full(&self) -> go::Rules {
        go::Rules {
            ko: self.ko,
            handicap_bonus: HandicapBonus::Zero,
            ..go::Rules::LEELA_ZERO
        }
    }
}

/// Why a game could not be played at all.
#[derive(Debug, Error)]
pub enum RefereeError {
    /// A program failed.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The opening has a move that the rules forbid.
    #[error(
        "move {number} of the opening, {mv}, cannot be played: {reason}; mend the opening or leave it out"
    )]
    Opening {
        /// Counted from 1.
        number: usize,
        /// The move as GTP writes it.
        mv: Move,
        /// Which rule it breaks.
        reason: Illegal,
    },
    /// The board has no fixed points for so many stones.
    #[error("there is no fixed handicap of {stones} stones on a {size} board")]
    Handicap {
        /// Stones asked for.
        stones: usize,
        size: BoardSize,
    },
}

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The loser resigned.
    Resignation,
    /// Two passes, or the limit of moves; then the score.
    Score,
    /// The loser played this and may not.
    Illegal(String),
    /// The loser thought for longer than it was waited for.
    Time,
    /// The same position with the same side to move, where the rules allow it: nobody has won.
    Repetition,
}

/// A finished game.
#[derive(Clone)]
pub struct Played {
    /// The game as the referee saw it.
    pub game: Game,
    /// Who won; nobody in a tie.
    pub winner: Option<Color>,
    /// The result as SGF writes it.
    pub result: String,
    pub ending: Ending,
}

/// Plays one game. After two passes a `scorer` program, if there is one, decides which stones
/// are dead and what the score is; without one every stone on the board counts as alive.
pub fn referee(
    black: &mut Program,
    white: &mut Program,
    rules: &Rules,
    opening: &[Move],
    scorer: Option<&mut Program>,
) -> Result<Played, RefereeError> {
    let mut game = start_position(rules)?;
    for program in [&mut *black, &mut *white] {
        start_game(program, rules)?;
    }
    if rules.handicap > 0 {
        tell_handicap(rules, black, white)?;
    }
    for (number, &mv) in (1..).zip(opening) {
        let color = game.to_move();
        game.play(mv)
            .map_err(|reason| RefereeError::Opening { number, mv, reason })?;
        for program in [&mut *black, &mut *white] {
            program.ask(&format!("play {color} {mv}"))?;
        }
    }

    let mut situations = HashSet::from([situation(&game)]);
    while !game.is_over() && game.move_number() < rules.max_moves {
        let color = game.to_move();
        let (mover, other) = match color {
            Color::Black => (&mut *black, &mut *white),
            Color::White => (&mut *white, &mut *black),
        };
        let answer = match mover.ask(&format!("genmove {color}")) {
            Err(ProgramError::Silent { .. }) => {
                return Ok(lost_by(game, color, Ending::Time, "Time"));
            }
            answer => answer?,
        };
        if answer.eq_ignore_ascii_case("resign") {
            return Ok(lost_by(game, color, Ending::Resignation, "Resign"));
        }
        let legal = answer
            .parse::<Move>()
            .ok()
            .is_some_and(|mv| game.play(mv).is_ok());
        if !legal {
            return Ok(lost_by(game, color, Ending::Illegal(answer), "Forfeit"));
        }
        other.ask(&format!("play {color} {answer}"))?;
        if rules.ko == KoRule::Simple && !situations.insert(situation(&game)) {
            return Ok(Played {
                game,
                winner: None,
                result: NO_RESULT.to_owned(),
                ending: Ending::Repetition,
            });
        }
    }

    let result = match scorer {
        Some(scorer) => score_by(scorer, rules, &game)?,
        None => game.score().to_string(),
    };
    let winner = match result
        .bytes()
        .next()
        .map(|letter| letter.to_ascii_uppercase())
    {
        Some(b'B') => Some(Color::Black),
        Some(b'W') => Some(Color::White),
        _ => None,
    };
    Ok(Played {
        game,
        winner,
        result,
        ending: Ending::Score,
    })
}

fn start_game(program: &mut Program, rules: &Rules) -> Result<(), ProgramError> {
    program.ask(&format!("boardsize {}", rules.size.get()))?;
    program.ask("clear_board")?;
    // Most programs know one set of rules and refuse this.
    tell_if_known(program, &format!("kata-set-rules {}", rules.in_full()))?;
    program.ask(&format!("komi {}", rules.komi))?;
    // A program without a clock needs none.
    tell_if_known(program, NO_CLOCK)
}

fn tell_if_known(program: &mut Program, command: &str) -> Result<(), ProgramError> {
    match program.ask(command) {
        Ok(_) | Err(ProgramError::Refused { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The stones and the side to move.
fn situation(game: &Game) -> (u64, Color) {
    (game.board().hash(), game.to_move())
}

/// The board before the first move.
pub(crate) fn start_position(rules: &Rules) -> Result<Game, RefereeError> {
    let mut game = Game::new(rules.size, rules.komi);
    game.set_rules(rules.in_full());
    if rules.handicap > 0 {
        if game.place_handicap(&handicap_stones(rules)?).is_err() {
            return Err(no_such_handicap(rules));
        }
        // The referee scores without the handicap term: komi alone is what was agreed.
        game.set_handicap(0);
    }
    Ok(game)
}

/// Both programs are told where the stones are.
fn tell_handicap(
    rules: &Rules,
    black: &mut Program,
    white: &mut Program,
) -> Result<(), RefereeError> {
    let stones = handicap_stones(rules)?;
    let vertices: Vec<String> = stones.iter().map(ToString::to_string).collect();
    let command = format!("set_free_handicap {}", vertices.join(" "));
    for program in [black, white] {
        program.ask(&command)?;
    }
    Ok(())
}

fn handicap_stones(rules: &Rules) -> Result<Vec<Point>, RefereeError> {
    fixed_handicap(rules.size, rules.handicap).ok_or_else(|| no_such_handicap(rules))
}

fn no_such_handicap(rules: &Rules) -> RefereeError {
    RefereeError::Handicap {
        stones: rules.handicap,
        size: rules.size,
    }
}

fn lost_by(game: Game, loser: Color, ending: Ending, how: &str) -> Played {
    let winner = loser.opponent();
    let letter = if winner == Color::Black { 'B' } else { 'W' };
    Played {
        game,
        winner: Some(winner),
        result: format!("{letter}+{how}"),
        ending,
    }
}

fn score_by(scorer: &mut Program, rules: &Rules, game: &Game) -> Result<String, ProgramError> {
    start_game(scorer, rules)?;
    if rules.handicap > 0 {
        let stones = fixed_handicap(rules.size, rules.handicap).unwrap_or_default();
        for stone in stones {
            scorer.ask(&format!("play black {stone}"))?;
        }
    }
    for (color, mv) in game.moves() {
        scorer.ask(&format!("play {color} {mv}"))?;
    }
    scorer.ask("final_score")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that answers `genmove` with these words in turn, and everything else with success.
    fn playing(moves: &str) -> Program {
        let script = format!(
            "set -- {moves}; while read word rest; do case $word in quit) exit;; genmove) echo \"= $1\"; shift;; \
             *) echo =;; esac; echo; done"
        );
        Program::start(&format!("sh -c '{script}'")).unwrap()
    }

    fn rules(ko: KoRule) -> Rules {
        Rules {
            size: BoardSize::new(5).unwrap(),
            komi: Komi::SEVEN_AND_A_HALF,
            handicap: 0,
            max_moves: 100,
            ko,
        }
    }

    /// White sends two stones at A1 and B1 and takes one back: after A1, C1, B1 the board is as it was before.
    fn sending_two(ko: KoRule) -> Played {
        let mut black = playing("A2 B2 E5 E4 C1 pass C1");
        let mut white = playing("C2 D1 B1 A1 B1 A1");
        referee(&mut black, &mut white, &rules(ko), &[], None).unwrap()
    }

    #[test]
    fn who_repeats_a_position_has_lost_under_superko() {
        let played = sending_two(KoRule::Positional);
        assert_eq!(played.ending, Ending::Illegal("B1".to_owned()));
        assert_eq!(played.result, "B+Forfeit");
        assert_eq!(played.game.move_number(), 9);
        // With the other side to move it is another situation. White's next A1 is not.
        let played = sending_two(KoRule::Situational);
        assert_eq!(played.ending, Ending::Illegal("A1".to_owned()));
        assert_eq!(played.game.move_number(), 11);
    }

    #[test]
    fn a_repetition_under_the_simple_ko_rule_ends_the_game_without_a_result() {
        let played = sending_two(KoRule::Simple);
        assert_eq!(played.ending, Ending::Repetition);
        assert_eq!((played.winner, &played.result[..]), (None, "Void"));
        // The pass after B1 brings back the board and the turn.
        assert_eq!(played.game.move_number(), 11);
    }

    #[test]
    fn the_rules_are_told_to_programs_that_know_rules_and_others_play_as_they_are() {
        let heard = tempfile::NamedTempFile::new().unwrap();
        let script = format!(
            "while read line; do echo \"$line\" >> {}; case $line in quit) exit;; genmove*) echo \"= pass\";; \
             *) echo =;; esac; echo; done",
            heard.path().display()
        );
        let mut knows = Program::start(&format!("sh -c '{script}'")).unwrap();
        let mut knows_not = Program::start(
            "sh -c 'while read word rest; do case $word in quit) exit;; genmove) echo \"= pass\";; \
             kata*) echo \"? unknown command\";; *) echo =;; esac; echo; done'",
        )
        .unwrap();
        referee(
            &mut knows,
            &mut knows_not,
            &rules(KoRule::Situational),
            &[],
            None,
        )
        .unwrap();
        let heard = std::fs::read_to_string(heard.path()).unwrap();
        let rules = heard
            .lines()
            .find_map(|line| line.strip_prefix("kata-set-rules "))
            .unwrap();
        let told: go::Rules = rules.parse().unwrap();
        assert_eq!(told.ko, KoRule::Situational);
        assert_eq!(told.handicap_bonus, HandicapBonus::Zero);
        assert!(!told.suicide);
    }
}
