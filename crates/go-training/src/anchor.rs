//! Who plays in the learning loop: networks, and the fixed opponents that give ratings a meaning outside of a run.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use fleet::{MatchRecord, Winner};
use go::{BoardSize, Color, Game, Komi, Move};
use go_player::{
    EvaluateError, Judge, LoadedNetwork,
    selfplay::{SelfPlay, choose, play_between},
};
use net::{Evaluator, Gather};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Program, zero::moves_and_result};

/// A program that is silent for so long has lost the game.
const PATIENCE: Duration = Duration::from_secs(120);

/// A player of the loop.
pub enum GoPlayer {
    /// A network with a small search; positions of many games are evaluated together.
    Network(Box<NetworkPlayer>),
    /// Plays any legal move that fills no eye of its own, and passes when there is none.
    Random,
    /// Another program that speaks GTP, started anew for every game.
    Program(String),
}

/// A network that plays many games at once.
pub struct NetworkPlayer {
    pub(crate) gather: Arc<Gather<Arc<dyn Evaluator>>>,
    pub(crate) judge: Judge,
}

impl NetworkPlayer {
    /// Batches of `rows` positions, or of as many as a device likes at least, and so much memory for evaluations that
    /// recur.
    pub(crate) fn new(network: LoadedNetwork, rows: usize, cache_bytes: usize) -> NetworkPlayer {
        let rows = match network.is_on_device() {
            true => rows.max(network.evaluator.preferred_batch()),
            false => rows,
        };
        let gather = Arc::new(Gather::new(network.evaluator, rows));
        let judge = Judge::with_encoder(gather.clone(), network.encoder, cache_bytes);
        NetworkPlayer { gather, judge }
    }
}

impl GoPlayer {
    /// The player called `name` on a board, if it can play here: `random`, `inside` for the network inside the program,
    /// `gnugo:LEVEL`, or any other command line of a GTP program.
    pub fn anchor(name: &str, size: BoardSize, rows: usize) -> Option<GoPlayer> {
        match name.split_once(':') {
            None if name == "random" => Some(GoPlayer::Random),
            None if name == "inside" => {
                let network = NetworkPlayer::new(LoadedNetwork::inside(size), rows, CACHE_BYTES);
                Some(GoPlayer::Network(Box::new(network)))
            }
            Some(("gnugo", level)) => {
                let command = format!("gnugo --mode gtp --chinese-rules --level {level}");
                Program::start(&command)
                    .ok()
                    .map(|_| GoPlayer::Program(command))
            }
            _ => Program::start(name)
                .ok()
                .map(|_| GoPlayer::Program(name.to_owned())),
        }
    }
}

/// Memory for the evaluations of an anchor.
const CACHE_BYTES: usize = 32 << 20;

/// Plays a match game; the first player has Black in even slots.
pub(crate) fn play(
    players: [&GoPlayer; 2],
    size: BoardSize,
    settings: &SelfPlay,
    slot: u32,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Option<MatchRecord>, EvaluateError> {
    let first = if slot.is_multiple_of(2) {
        Color::Black
    } else {
        Color::White
    };
    let by_color = match first {
        Color::Black => players,
        Color::White => [players[1], players[0]],
    };
    // Games against fixed opponents are played where the run is, and nobody has to check them.
    let mut moves = String::new();
    let winner = match by_color {
        [GoPlayer::Network(black), GoPlayer::Network(white)] => {
            // A game asks the two networks in turn, and must be waited for by one only.
            let join = |color| match color {
                Color::Black => black.gather.join(),
                Color::White => white.gather.join(),
            };
            let judges = [&black.judge, &white.judge];
            let Some(finished) = play_between(judges, settings, seed, stop, join)? else {
                return Ok(None);
            };
            let names: Vec<String> = finished
                .game
                .moves()
                .map(|(_, mv)| mv.to_string())
                .collect();
            moves = moves_and_result(&names, &finished.result());
            finished.winner
        }
        _ => match play_mixed(by_color, size, settings, seed, stop)? {
            Some(winner) => winner,
            None => return Ok(None),
        },
    };
    Ok(Some(MatchRecord {
        winner: Winner::from(winner.map(|winner| winner == first)),
        moves,
    }))
}

/// A game in which at least one player is not a network; returns the winner, or nobody for a tie. A program that stops
/// answering has lost.
fn play_mixed(
    players: [&GoPlayer; 2],
    size: BoardSize,
    settings: &SelfPlay,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Option<Option<Color>>, EvaluateError> {
    let komi = Komi::new(settings.komi).unwrap_or_default();
    let mut game = Game::new(size, komi);
    let mut sides = [Side::new(players[0], seed), Side::new(players[1], !seed)];
    for (side, color) in sides.iter_mut().zip([Color::Black, Color::White]) {
        if side.begin(size, komi).is_none() {
            return Ok(Some(Some(color.opponent())));
        }
    }
    let max_moves = (settings.max_length * size.area() as f64) as usize;
    while !game.is_over() && game.move_number() < max_moves {
        let color = game.to_move();
        let mv = match sides[color.index()].choose(&game, settings, stop)? {
            Chosen::Move(mv) => mv,
            Chosen::Resigned => return Ok(Some(Some(color.opponent()))),
            Chosen::Stopped => return Ok(None),
        };
        if game.play(mv).is_err() {
            return Ok(Some(Some(color.opponent())));
        }
        if sides[color.opponent().index()].hear(color, mv).is_none() {
            return Ok(Some(Some(color)));
        }
    }
    // A program that counts knows which stones are dead.
    let counted = sides.iter_mut().find_map(Side::final_winner);
    Ok(Some(counted.unwrap_or_else(|| game.score().winner())))
}

enum Chosen {
    Move(Move),
    Resigned,
    Stopped,
}

/// A player in one game.
struct Side<'a> {
    player: &'a GoPlayer,
    program: Option<Program>,
    random: Xoshiro256PlusPlus,
}

impl<'a> Side<'a> {
    fn new(player: &'a GoPlayer, seed: u64) -> Side<'a> {
        let program = match player {
            GoPlayer::Program(command) => Program::start(command)
                .ok()
                .map(|program| program.with_patience(PATIENCE)),
            _ => None,
        };
        Side {
            player,
            program,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    fn begin(&mut self, size: BoardSize, komi: Komi) -> Option<()> {
        if !matches!(self.player, GoPlayer::Program(_)) {
            return Some(());
        }
        let program = self.program.as_mut()?;
        let seed = self.random.random_range(0..i32::MAX);
        let start = [
            format!("boardsize {}", size.get()),
            "clear_board".to_owned(),
            format!("komi {komi}"),
        ];
        for command in start {
            program.ask(&command).ok()?;
        }
        // Programs without this command play on as they are.
        let _ = program.ask(&format!("set_random_seed {seed}"));
        Some(())
    }

    fn choose(
        &mut self,
        game: &Game,
        settings: &SelfPlay,
        stop: &AtomicBool,
    ) -> Result<Chosen, EvaluateError> {
        Ok(match self.player {
            GoPlayer::Network(network) => {
                let _participant = network.gather.join();
                match choose(&network.judge, settings, game, self.random.random(), stop)? {
                    Some((_, winrate)) if winrate < settings.resign_winrate => Chosen::Resigned,
                    Some((mv, _)) => Chosen::Move(mv),
                    None => Chosen::Stopped,
                }
            }
            GoPlayer::Random => Chosen::Move(random_move(game, &mut self.random)),
            GoPlayer::Program(_) => {
                if stop.load(std::sync::atomic::Ordering::Relaxed) {
                    return Ok(Chosen::Stopped);
                }
                let color = color_name(game.to_move());
                let answer = self
                    .program
                    .as_mut()
                    .and_then(|program| program.ask(&format!("genmove {color}")).ok());
                match answer
                    .as_deref()
                    .map(str::trim)
                    .and_then(|text| text.parse().ok())
                {
                    Some(mv) => Chosen::Move(mv),
                    None => Chosen::Resigned,
                }
            }
        })
    }

    /// Tells a program the opponent's move; nothing if it does not accept it.
    fn hear(&mut self, color: Color, mv: Move) -> Option<()> {
        match &mut self.program {
            Some(program) => program
                .ask(&format!("play {} {mv}", color_name(color)))
                .ok()
                .map(drop),
            None => Some(()),
        }
    }

    /// Who won by the program's own count; nothing if it does not count.
    fn final_winner(&mut self) -> Option<Option<Color>> {
        let score = self.program.as_mut()?.ask("final_score").ok()?;
        match score.trim().as_bytes().first()? {
            b'B' => Some(Some(Color::Black)),
            b'W' => Some(Some(Color::White)),
            b'0' => Some(None),
            _ => None,
        }
    }
}

fn color_name(color: Color) -> &'static str {
    match color {
        Color::Black => "black",
        Color::White => "white",
    }
}

/// Any legal move that fills no eye of one's own; a pass if there is none.
fn random_move(game: &Game, random: &mut Xoshiro256PlusPlus) -> Move {
    let color = game.to_move();
    let moves: Vec<_> = game
        .legal_points(color)
        .filter(|&point| !is_own_eye(game, color, point))
        .collect();
    match moves.len() {
        0 => Move::Pass,
        count => Move::Play(moves[random.random_range(0..count)]),
    }
}

/// Whether all neighbours of an empty point are stones of one colour.
fn is_own_eye(game: &Game, color: Color, point: go::Point) -> bool {
    let board = game.board();
    point
        .neighbors()
        .into_iter()
        .filter(|&neighbor| board.is_on_board(neighbor))
        .all(|neighbor| board.stone(neighbor) == Some(color))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play_random(slot: u32) -> Option<Winner> {
        let size = BoardSize::new(5).unwrap();
        let players = [&GoPlayer::Random, &GoPlayer::Random];
        let stop = AtomicBool::new(false);
        play(
            players,
            size,
            &SelfPlay::default(),
            slot,
            u64::from(slot),
            &stop,
        )
        .unwrap()
        .map(|game| game.winner)
    }

    #[test]
    fn random_players_finish_their_games_and_both_win_some() {
        let results: Vec<Winner> = (0..40).map(|slot| play_random(slot).unwrap()).collect();
        assert!(results.contains(&Winner::First) && results.contains(&Winner::Second));
    }

    #[test]
    fn gnugo_beats_the_random_player_where_it_is_installed() {
        let size = BoardSize::NINE;
        let Some(gnugo) = GoPlayer::anchor("gnugo:1", size, 1) else {
            println!("skipped: no gnugo");
            return;
        };
        let stop = AtomicBool::new(false);
        for slot in 0..2 {
            let players = [&gnugo, &GoPlayer::Random];
            let winner = play(players, size, &SelfPlay::default(), slot, 7, &stop);
            assert_eq!(
                winner.unwrap().unwrap().winner,
                Winner::First,
                "slot {slot}"
            );
        }
    }
}
