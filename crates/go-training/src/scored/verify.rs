//! Games that came from elsewhere, checked by the rules.

use fleet::SelfPlayTask;
use go::{Game, Move};

use super::{ScoredGame, ScoredSettings, start};
use crate::zero::verify_moves;

/// Rounding of a policy's sum: half a step of its form for each point of the largest board.
const MOST_OFF: f32 = 0.01;

/// Checks a game of self-play: board and komi of its seed, moves, end, result, and every policy.
pub(super) fn verify(
    settings: &ScoredSettings,
    task: &SelfPlayTask<'_>,
    record: &ScoredGame,
) -> Result<(), String> {
    let head = &record.head;
    if head.network != task.network {
        return Err(format!(
            "the game was played by {:?}, but the task named {:?}",
            head.network, task.network
        ));
    }
    let mut game = start(settings, task.seed);
    if (head.size, head.komi) != (game.size().get(), game.komi().points_for_white()) {
        return Err(format!(
            "the task's seed gives {0}x{0} and a komi of {1}, not {2}x{2} and {3}",
            game.size().get(),
            game.komi(),
            head.size,
            head.komi
        ));
    }
    let play = &settings.selfplay.play;
    verify_moves(game.clone(), play, &head.moves, &head.result)?;
    if !head.turns.is_sorted_by(|a, b| a < b) || head.turns.len() != record.policies.len() {
        return Err("its searches are not in order".into());
    }
    if play.full_share >= 1.0 && play.clear_winrate <= 0.0 && head.turns.len() != head.moves.len() {
        return Err(format!(
            "every move is recorded in this run, but {} of {} are",
            head.turns.len(),
            head.moves.len()
        ));
    }
    let mut searched = head.turns.iter().zip(&record.policies).peekable();
    for (turn, text) in head.moves.iter().enumerate() {
        if let Some((_, policy)) = searched.next_if(|&(&at, _)| at == turn) {
            verify_policy(&game, policy)
                .map_err(|why| format!("the policy before move {}: {why}", turn + 1))?;
        }
        // Every move was found legal before.
        if let Ok(mv) = text.parse() {
            let _ = game.play(mv);
        }
    }
    match searched.next() {
        Some((turn, _)) => Err(format!("move {} was searched, but not played", turn + 1)),
        None => Ok(()),
    }
}

fn verify_policy(game: &Game, policy: &[(u16, f32)]) -> Result<(), String> {
    let (size, color) = (game.size(), game.to_move());
    let sum: f32 = policy.iter().map(|&(_, chance)| chance).sum();
    if (sum - 1.0).abs() > MOST_OFF {
        return Err(format!("it sums to {sum:.4}"));
    }
    if !policy.is_sorted_by(|a, b| a.0 < b.0) {
        return Err("its moves are not in order".into());
    }
    for &(index, _) in policy {
        let index = usize::from(index);
        if index == size.area() {
            continue;
        }
        let point = size.points().find(|&point| size.index(point) == index);
        let mv = point.map(Move::Play).filter(|&mv| game.is_legal(color, mv));
        if mv.is_none() {
            return Err(format!("it plays point {index}, which is illegal"));
        }
    }
    Ok(())
}
