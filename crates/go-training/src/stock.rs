//! Games of Leela Zero's own client, autogtp, as games of a run.

use fleet::{Game as _, MatchRecord, SelfPlayTask, StockGames, StockOptions, Winner, wire::Kind};
use go::{
    Color,
    sgf::{self, GameResult, WinBy},
};
use go_player::record::read_chunk;

use crate::{
    Go, Head, StoredGame, ZeroSettings,
    zero::{board_size, moves_and_result},
};

/// What the client always plays on.
const BOARD: usize = 19;
const KOMI: f32 = 7.5;
/// Moves at the start that Leela Zero draws in self-play.
const DRAWN_MOVES: u32 = 30;

/// Go for Leela Zero's own client.
pub struct StockGo {
    settings: ZeroSettings,
}

impl StockGo {
    /// For a run with these settings.
    pub fn new(settings: ZeroSettings) -> StockGo {
        StockGo { settings }
    }

    /// The moves, and the result as we write it.
    fn read(&self, bytes: &[u8]) -> Result<(Vec<String>, String, Option<Color>), String> {
        let collection = sgf::read(bytes).map_err(|error| error.to_string())?;
        let tree = collection.games.first().ok_or("the SGF has no game")?;
        let size = tree.size().map_err(|error| error.to_string())?;
        if size != board_size(&self.settings) {
            return Err(format!("the game is on a board of {}", size.get()));
        }
        let komi = tree.komi().map_err(|error| error.to_string())?;
        if komi.is_none_or(|komi| komi.to_string() != KOMI.to_string()) {
            return Err("the game has another komi".into());
        }
        if tree.handicap().map_err(|error| error.to_string())? > 0 {
            return Err("the game has a handicap".into());
        }
        let last = *tree.main_line().last().ok_or("the SGF has no moves")?;
        let game = tree.game_at(last).map_err(|error| error.to_string())?;
        let mut to_move = Color::Black;
        let mut moves = Vec::new();
        for (color, mv) in game.moves() {
            if color != to_move {
                return Err(format!("{color:?} moved twice at move {}", moves.len() + 1));
            }
            moves.push(mv.to_string());
            to_move = to_move.opponent();
        }
        Ok(match tree.result() {
            GameResult::Win(winner, WinBy::Resignation) => {
                let letter = match winner {
                    Color::Black => 'B',
                    Color::White => 'W',
                };
                (moves, format!("{letter}+Resign"), Some(winner))
            }
            claimed => {
                let score = game.score();
                if claimed.winner() != score.winner() {
                    return Err(format!("the game ended {score}"));
                }
                (moves, score.to_string(), score.winner())
            }
        })
    }
}

impl StockGames for StockGo {
    fn options(&self, kind: Kind) -> Result<StockOptions, String> {
        let play = &self.settings.selfplay.play;
        if self.settings.size != BOARD || play.komi != KOMI {
            return Err(format!(
                "Leela Zero's client plays on {BOARD}x{BOARD} with komi {KOMI} only"
            ));
        }
        // A share of a winrate as per cent, at least 1 where sides resign at all.
        let resignation_percent = match play.resign_winrate {
            never if never <= 0.0 => 0,
            winrate => (winrate * 100.0).round().clamp(1.0, 50.0) as u32,
        };
        Ok(match kind {
            Kind::Selfplay => StockOptions {
                visits: play.simulations,
                resignation_percent,
                has_noise: true,
                drawn_moves: DRAWN_MOVES,
            },
            Kind::Match => StockOptions {
                visits: self.settings.gate.simulations,
                resignation_percent,
                has_noise: false,
                drawn_moves: 0,
            },
        })
    }

    fn selfplay(
        &self,
        task: &SelfPlayTask<'_>,
        sgf: &[u8],
        training: &[u8],
    ) -> Result<Vec<u8>, String> {
        let (moves, result, winner) = self.read(sgf)?;
        let size = board_size(&self.settings);
        let mut records = read_chunk(training, size).map_err(|error| error.to_string())?;
        if winner.is_none() {
            records.clear();
        }
        let game = StoredGame {
            head: Head {
                number: task.number,
                round: task.round,
                network: task.network.to_owned(),
                moves,
                result,
                lost_side_won: None,
            },
            records,
        };
        Ok(Go::encode(&game))
    }

    fn match_game(&self, slot: u32, sgf: &[u8]) -> Result<MatchRecord, String> {
        let (moves, result, winner) = self.read(sgf)?;
        let first = if slot.is_multiple_of(2) {
            Color::Black
        } else {
            Color::White
        };
        Ok(MatchRecord {
            winner: Winner::from(winner.map(|winner| winner == first)),
            moves: moves_and_result(&moves, &result),
        })
    }

    fn moves_and_result(&self, record: &[u8]) -> Result<String, String> {
        let record = Go::decode(&self.settings, record)?;
        Ok(Go::moves_and_result(&record))
    }
}
