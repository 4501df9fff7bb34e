//! Games of a network against itself, to learn from.
//!
//! Each move is chosen by Gumbel root search (Danihelka et al., 2022), which improves the policy
//! with as few as a dozen simulations. Most moves get a quick search and only move the game
//! along; a random share gets a full one and is recorded ("playout cap randomisation", Wu, 2019):
//! results need many games, policies need deep searches, and so both are had for the price of one.

use std::sync::atomic::AtomicBool;

use go::{Color, Game, Komi, Move, Score};
use rand::{RngExt, SeedableRng};
use search::{EvaluateError, Gumbel, Rule, Search, SearchRng, Settings, Side, Sigma, Task};
use serde::{Deserialize, Serialize};

use crate::{
    Assumptions, Judge, Position,
    dynamic_komi::{Trust, TurnKomi},
    planes::BitPlanes,
    record::{ChunkRecord, RecordedMove},
};

/// How games are played.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelfPlay {
    /// Points White gets.
    pub komi: f32,
    /// Simulations of a recorded move.
    pub simulations: u64,
    /// Simulations of a move that is not recorded.
    pub quick_simulations: u64,
    /// The share of moves that get a full search.
    pub full_share: f64,
    /// Moves that enter the first round at the root.
    pub considered: usize,
    /// Moves at the start that are drawn from the policy, so that games differ.
    pub drawn_moves: usize,
    /// A side resigns when its winrate has stayed below this for [`RESIGN_MOVES`] of its moves.
    pub resign_winrate: f64,
    /// The share of games that are played to the end all the same, to keep resigning honest.
    pub no_resign_share: f64,
    /// A game is clear when the winrate of the side to move has stayed below this, or the other side's, for
    /// [`RESIGN_MOVES`] moves in a row. It goes on, but fewer of its moves get a full search. 0 for never.
    pub clear_winrate: f64,
    /// A game of more moves than this many times the board's area is scored as it stands.
    pub max_length: f64,
}

/// Moves in a row a side must look lost before it resigns.
pub const RESIGN_MOVES: usize = 3;
/// The share of the usual full searches in a game that is clear.
const CLEAR_SHARE: f64 = 0.25;

impl Default for SelfPlay {
    fn default() -> SelfPlay {
        SelfPlay {
            komi: 7.5,
            simulations: 64,
            quick_simulations: 16,
            full_share: 0.25,
            considered: 16,
            drawn_moves: 4,
            resign_winrate: 0.03,
            no_resign_share: 0.2,
            clear_winrate: 0.0,
            max_length: 2.0,
        }
    }
}

/// A finished game.
#[derive(Clone)]
pub struct Finished {
    pub game: Game,
    /// Who won; nobody in a tie.
    pub winner: Option<Color>,
    /// The score, unless a side resigned.
    pub score: Option<Score>,
    /// The positions that got a full search.
    pub steps: Vec<RecordedMove>,
    /// The moves played before each of them.
    pub turns: Vec<usize>,
    /// In a game that is played to the end whatever happens: the side that would have resigned, if one would have.
    pub looked_lost: Option<Color>,
}

impl Finished {
    /// The training records; none of a tied game, which teaches no result.
    pub fn records(&self) -> impl Iterator<Item = ChunkRecord> + '_ {
        let winner = self.winner;
        self.steps
            .iter()
            .filter_map(move |step| Some(step.with_result(winner?)))
    }

    /// The result as SGF writes it.
    pub fn result(&self) -> String {
        match (self.score, self.winner) {
            (Some(score), _) => score.to_string(),
            (None, Some(Color::Black)) => "B+Resign".into(),
            (None, Some(Color::White)) => "W+Resign".into(),
            (None, None) => "Void".into(),
        }
    }
}

/// Plays one game of a network against itself; `None` if `stop` was set before its end.
pub fn play_game(
    judge: &Judge,
    settings: &SelfPlay,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Option<Finished>, EvaluateError> {
    play_between([judge, judge], settings, seed, stop, |_| ())
}

/// Plays one game between two networks from an empty board, as [`play_from`] does.
pub fn play_between<S>(
    judges: [&Judge; 2],
    settings: &SelfPlay,
    seed: u64,
    stop: &AtomicBool,
    join: impl Fn(Color) -> S,
) -> Result<Option<Finished>, EvaluateError> {
    let komi = Komi::new(settings.komi).unwrap_or_default();
    let game = Game::new(judges[0].size(), komi);
    play_from(game, judges, settings, seed, stop, join)
}

/// Plays a game on between two networks, Black's first, with its own komi and rules; `None` if `stop` was set before
/// its end.
/// What `join` returns for a colour is held while that colour thinks: its part in the network's batches.
///
/// # Panics
/// If the networks are for different board sizes.
pub fn play_from<S>(
    mut game: Game,
    judges: [&Judge; 2],
    settings: &SelfPlay,
    seed: u64,
    stop: &AtomicBool,
    join: impl Fn(Color) -> S,
) -> Result<Option<Finished>, EvaluateError> {
    let mut rng = SearchRng::seed_from_u64(seed);
    let size = game.size();
    for judge in judges {
        assert_eq!(size, judge.size(), "a network for another board");
    }
    let search = Search::new(rng.random());
    let may_resign = rng.random::<f64>() >= settings.no_resign_share;
    let max_moves = (settings.max_length * size.area() as f64) as usize;
    let (mut steps, mut turns) = (Vec::new(), Vec::new());
    let mut lost_moves = [0; 2];
    let mut clear_moves = 0;
    let mut looked_lost = None;
    while !game.is_over() && game.move_number() < max_moves {
        let is_drawn = game.move_number() < settings.drawn_moves;
        let full_share = if clear_moves >= RESIGN_MOVES {
            CLEAR_SHARE * settings.full_share
        } else {
            settings.full_share
        };
        let is_full = rng.random::<f64>() < full_share;
        let simulations = if is_full {
            settings.simulations
        } else {
            settings.quick_simulations
        };
        let judge = judges[game.to_move().index()];
        let joined = join(game.to_move());
        let thought = think(judge, settings, &game, &search, simulations, stop)?;
        drop(joined);
        let Some(thought) = thought else {
            return Ok(None);
        };
        if is_full {
            steps.push(thought.step);
            turns.push(game.move_number());
        }
        let worse = thought.winrate.min(1.0 - thought.winrate);
        clear_moves = if worse < settings.clear_winrate {
            clear_moves + 1
        } else {
            0
        };
        let color = game.to_move();
        let lost = &mut lost_moves[color.index()];
        *lost = if thought.winrate < settings.resign_winrate {
            *lost + 1
        } else {
            0
        };
        if *lost >= RESIGN_MOVES {
            if may_resign {
                return Ok(Some(Finished {
                    game,
                    winner: Some(color.opponent()),
                    score: None,
                    steps,
                    turns,
                    looked_lost: None,
                }));
            }
            looked_lost.get_or_insert(color);
        }
        let mv = if is_drawn {
            draw(&thought.policy, &mut rng)
        } else {
            thought.best
        };
        if game.play(mv).is_err() {
            // The search offers legal moves only; should it ever not, the game still ends.
            break;
        }
    }
    let score = game.score();
    Ok(Some(Finished {
        winner: score.winner(),
        score: Some(score),
        game,
        steps,
        turns,
        looked_lost,
    }))
}

/// The move that a network with a search of `settings.simulations` would play, and its winrate for the side to move;
/// `None` if `stop` was set. For games against opponents that are no network.
pub fn choose(
    judge: &Judge,
    settings: &SelfPlay,
    game: &Game,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Option<(Move, f64)>, EvaluateError> {
    let search = Search::new(seed);
    let thought = think(judge, settings, game, &search, settings.simulations, stop)?;
    Ok(thought.map(|thought| (thought.best, thought.winrate)))
}

/// What a search found.
struct Thought {
    best: Move,
    winrate: f64,
    policy: Vec<(Move, f64)>,
    step: RecordedMove,
}

fn think(
    judge: &Judge,
    settings: &SelfPlay,
    game: &Game,
    search: &Search<Position>,
    simulations: u64,
    stop: &AtomicBool,
) -> Result<Option<Thought>, EvaluateError> {
    let assumptions = Assumptions {
        net_komi: TurnKomi::TRAINED,
        trust: Trust::BOTH,
        compensation: game.compensation(),
        always_considers_pass: true,
        ..Assumptions::default()
    };
    let position = Position::new(game, assumptions);
    let sigma = Sigma::default();
    let rules = Settings {
        rule: Rule::Improved(sigma),
        gumbel: Some(Gumbel {
            considered: settings.considered,
            sigma,
        }),
        ..Settings::default()
    };
    // Values of another plan's visits would upset the halving, so every move starts afresh.
    search.clear();
    search.run(
        &position,
        judge,
        &rules,
        &Task::playouts(simulations).stopped_by(stop),
    )?;
    if stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Ok(None);
    }
    let snapshot = search.snapshot();
    let side = match game.to_move() {
        Color::Black => Side::First,
        Color::White => Side::Second,
    };
    let best = snapshot.best().unwrap_or(Move::Pass);
    let policy = search.improved_policy(&sigma);
    let size = game.size();
    let mut probabilities = vec![0.0; size.area() + 1];
    for &(mv, probability) in &policy {
        probabilities[mv.point().map_or(size.area(), |point| size.index(point))] =
            probability as f32;
    }
    let chosen = snapshot.get(best);
    let winrate = side.view(snapshot.value);
    let step = RecordedMove {
        planes: BitPlanes::of(size, game.to_move(), game.history()),
        to_move: game.to_move(),
        probabilities,
        net_winrate: side.view(snapshot.evaluation) as f32,
        root_winrate: winrate as f32,
        best_winrate: chosen.and_then(|mv| mv.winrate).unwrap_or(winrate) as f32,
        best_visits: chosen.map_or(0, |mv| mv.visits),
    };
    Ok(Some(Thought {
        best,
        winrate,
        policy,
        step,
    }))
}

fn draw(policy: &[(Move, f64)], rng: &mut SearchRng) -> Move {
    let mut left = rng.random::<f64>() * policy.iter().map(|&(_, share)| share).sum::<f64>();
    for &(mv, share) in policy {
        left -= share;
        if left < 0.0 {
            return mv;
        }
    }
    policy.last().map_or(Move::Pass, |&(mv, _)| mv)
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use net::{
        Evaluator, IoShape, Reference,
        leela::{LeelaNetwork, LeelaShape, LeelaVersion},
    };

    use super::*;

    fn judge(size: usize) -> Judge {
        let random = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(size, 1, 2), 3);
        let evaluator = Arc::new(Reference::new(random.to_network()).unwrap());
        Judge::new(evaluator, 1 << 20).unwrap()
    }

    fn quick() -> SelfPlay {
        SelfPlay {
            simulations: 8,
            quick_simulations: 2,
            considered: 4,
            ..SelfPlay::default()
        }
    }

    fn play(settings: &SelfPlay, seed: u64) -> Finished {
        let played = play_game(&judge(5), settings, seed, &AtomicBool::new(false));
        played.unwrap().unwrap()
    }

    #[test]
    fn a_seed_fixes_the_game() {
        let moves = |seed| play(&quick(), seed).game.moves().collect::<Vec<_>>();
        assert_eq!(moves(1), moves(1));
        assert_ne!(moves(1), moves(2));
    }

    #[test]
    fn every_record_has_a_policy_that_sums_to_one_over_legal_moves() {
        let finished = play(
            &SelfPlay {
                full_share: 1.0,
                ..quick()
            },
            5,
        );
        assert_eq!(finished.steps.len(), finished.game.move_number());
        let mut replay = Game::new(finished.game.size(), finished.game.komi());
        for (step, (color, mv)) in finished.steps.iter().zip(finished.game.moves()) {
            assert_eq!(step.to_move, color);
            assert!((step.probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-4);
            for point in replay.size().points() {
                let share = step.probabilities[replay.size().index(point)];
                assert!(share == 0.0 || replay.is_legal(color, Move::Play(point)));
            }
            replay.play(mv).unwrap();
        }
    }

    #[test]
    fn only_full_searches_are_recorded() {
        assert!(
            play(
                &SelfPlay {
                    full_share: 0.0,
                    ..quick()
                },
                5
            )
            .steps
            .is_empty()
        );
    }

    #[test]
    fn a_game_ends_at_its_longest() {
        let finished = play(
            &SelfPlay {
                max_length: 0.2,
                resign_winrate: 0.0,
                ..quick()
            },
            5,
        );
        assert!(finished.game.move_number() <= 5);
        assert_eq!(finished.score, Some(finished.game.score()));
    }

    #[test]
    fn records_know_who_won() {
        let finished = play(
            &SelfPlay {
                full_share: 1.0,
                ..quick()
            },
            7,
        );
        let winner = finished.winner.unwrap();
        for (step, record) in finished.steps.iter().zip(finished.records()) {
            assert_eq!(record.won, step.to_move == winner);
        }
    }

    #[test]
    fn a_game_played_to_the_end_tells_who_would_have_resigned() {
        let settings = |no_resign_share| SelfPlay {
            resign_winrate: 0.6,
            no_resign_share,
            ..quick()
        };
        let resigned = play(&settings(0.0), 7);
        assert!(resigned.score.is_none() && resigned.looked_lost.is_none());
        let played_out = play(&settings(1.0), 7);
        assert_eq!(played_out.looked_lost, resigned.winner.map(Color::opponent));
        assert!(played_out.score.is_some());
    }

    /// A device that fails after so many evaluations.
    struct Failing(Reference, AtomicUsize);

    impl Evaluator for Failing {
        fn shape(&self) -> &IoShape {
            self.0.shape()
        }

        fn preferred_batch(&self) -> usize {
            1
        }

        fn evaluate(&self, rows: &[f32], outputs: &mut [f32]) -> Result<(), net::EvaluateError> {
            if self.1.fetch_sub(1, Ordering::Relaxed) == 0 {
                let why = "the card was taken out".to_owned();
                return Err(net::EvaluateError::Backend(why));
            }
            self.0.evaluate(rows, outputs)
        }
    }

    #[test]
    fn a_network_that_fails_ends_the_game_with_its_error() {
        for evaluations in [0, 7] {
            let random = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(5, 1, 2), 3);
            let network = Reference::new(random.to_network()).unwrap();
            let failing = Arc::new(Failing(network, AtomicUsize::new(evaluations)));
            let judge = Judge::new(failing, 1 << 20).unwrap();
            let played = play_game(&judge, &quick(), 1, &AtomicBool::new(false));
            assert_eq!(
                played.err().map(|error| error.to_string()).as_deref(),
                Some("the network could not be evaluated: the card was taken out")
            );
        }
    }

    #[test]
    fn a_stopped_game_is_no_game() {
        let stopped = play_game(&judge(5), &quick(), 1, &AtomicBool::new(true));
        assert!(stopped.unwrap().is_none());
    }
}
