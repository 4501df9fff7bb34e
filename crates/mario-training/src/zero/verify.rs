//! Dr. Mario games that came from elsewhere, checked by the rules.

use fleet::{MatchRecord, SelfPlayTask};
use mario::{Ending, Game, Placed, Placement, Record, RecordEnd, RecordMove, flood};
use mario_player::GameResult;

use super::MarioGame;
use crate::deal::{Deal, RULES};

/// Between the two games of a deal.
const NEXT_GAME: &str = "next\n";

/// The moves and the result as one text.
pub(super) fn moves_and_result(game: &MarioGame) -> String {
    let bare = without_weights(&game.record);
    let result = serde_json::to_string(&game.head.result).unwrap_or_default();
    format!("{bare}{result}")
}

/// The text of a deal that both players played.
pub(super) fn match_text(records: [&Record; 2]) -> String {
    let [first, second] = records.map(without_weights);
    format!("{first}{NEXT_GAME}{second}")
}

fn without_weights(record: &Record) -> Record {
    let bare = |played: &RecordMove| RecordMove {
        chosen: played.chosen,
        weights: Vec::new(),
    };
    Record {
        board: record.board,
        moves: record.moves.iter().map(bare).collect(),
        end: record.end,
    }
}

/// Checks a game of self-play: the deal, every placement, the end, the result and the weights.
pub(super) fn verify(
    levels: [u8; 2],
    task: &SelfPlayTask<'_>,
    game: &MarioGame,
) -> Result<(), String> {
    let head = &game.head;
    if head.network != task.network {
        return Err(format!(
            "the game was played by {:?}, but the task named {:?}",
            head.network, task.network
        ));
    }
    let deal = Deal::new(levels, task.seed);
    if (head.level, head.result.seed) != (deal.level, deal.seed) {
        return Err(format!(
            "the task deals level {} from seed {}, not level {} from seed {}",
            deal.level, deal.seed, head.level, head.result.seed
        ));
    }
    let played = replay(&deal, &game.record)?;
    if played.ending().is_none() {
        return Err(format!(
            "the game is not over after {} pills",
            played.placed()
        ));
    }
    let result = GameResult::of(&played, deal.seed, 0.0);
    if result != head.result {
        return Err(format!(
            "the result is {}, not the claimed one",
            serde_json::to_string(&result).unwrap_or_default()
        ));
    }
    Ok(())
}

/// Checks the two games of a deal, and which one is better.
pub(super) fn verify_match(levels: [u8; 2], seed: u64, record: &MatchRecord) -> Result<(), String> {
    let (first, second) = record
        .moves
        .split_once(NEXT_GAME)
        .ok_or("a deal has two games")?;
    let deal = Deal::new(levels, seed);
    let mut ranks = Vec::new();
    for text in [first, second] {
        let record: Record = text
            .parse()
            .map_err(|error: mario::RecordError| error.to_string())?;
        if record.moves.iter().any(|played| !played.weights.is_empty()) {
            return Err("a match game has no weights".into());
        }
        let played = replay(&deal, &record)?;
        ranks.push(GameResult::of(&played, deal.seed, 0.0).rank());
    }
    let first_won = match ranks[0].cmp(&ranks[1]) {
        std::cmp::Ordering::Less => Some(true),
        std::cmp::Ordering::Greater => Some(false),
        std::cmp::Ordering::Equal => None,
    };
    if record.winner.first_won() != first_won {
        return Err("the two games do not give the claimed winner".into());
    }
    Ok(())
}

/// Plays a record on the board and with the pills of the deal.
fn replay(deal: &Deal, record: &Record) -> Result<Game, String> {
    let mut game = Game::console(deal.seed, deal.level, RULES);
    if *game.board() != record.board {
        return Err("the board at the start is not the dealt one".into());
    }
    for (index, played) in record.moves.iter().enumerate() {
        let number = index + 1;
        if game.ending().is_some() {
            return Err(format!("pill {number} comes after the end"));
        }
        let pill = game.pill();
        let reachable: Vec<Placement> = flood(game.board()).placements(pill).collect();
        let find = |placed: &Placed| {
            reachable.iter().copied().find(|at| {
                (at.x, at.y) == (placed.x, placed.y) && pill.turned(at.turns) == placed.content
            })
        };
        let chosen = find(&played.chosen)
            .ok_or_else(|| format!("pill {number} cannot get to {}", played.chosen))?;
        let mut sum = 0.0;
        for (placed, weight) in &played.weights {
            if find(placed).is_none() {
                return Err(format!(
                    "pill {number} is weighed at {placed}, out of reach"
                ));
            }
            if !weight.is_finite() || *weight < 0.0 {
                return Err(format!("pill {number} is weighed {weight} at {placed}"));
            }
            sum += weight;
        }
        if !played.weights.is_empty() && sum <= 0.0 {
            return Err(format!("the weights of pill {number} are all 0"));
        }
        game.play(chosen)
            .map_err(|error| format!("pill {number}: {error}"))?;
    }
    let end = match game.ending() {
        Some(Ending::Stalled) => RecordEnd::Stall,
        Some(_) => RecordEnd::End,
        // A player without an answer gives up.
        None => RecordEnd::Timeout,
    };
    if record.end != end {
        return Err("the record ends in another way than its moves do".into());
    }
    Ok(game)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use fleet::{Game as _, PlayerFor, Winner, check_selfplay, is_played_by};

    use super::*;
    use crate::{DrMario, MarioPlayer, ZeroSettings};

    fn settings() -> ZeroSettings {
        let mut settings = ZeroSettings {
            levels: [0, 2],
            ..ZeroSettings::default()
        };
        settings.round0.player = "round0".into();
        settings.round0.playouts = 20;
        settings.gate.simulations = 8;
        settings
    }

    fn task(number: u64) -> SelfPlayTask<'static> {
        SelfPlayTask {
            number,
            round: 0,
            network: "",
            seed: base::nth_seed(5, number),
        }
    }

    fn player(settings: &ZeroSettings) -> MarioPlayer {
        DrMario::player(settings, PlayerFor::SelfPlay, None).unwrap()
    }

    fn play(settings: &ZeroSettings, number: u64) -> MarioGame {
        let stop = AtomicBool::new(false);
        let played = DrMario::play(settings, &player(settings), &task(number), &stop);
        played.unwrap().unwrap()
    }

    #[test]
    fn honest_games_pass_and_can_be_played_again() {
        let settings = settings();
        let player = player(&settings);
        for number in 0..12 {
            let body = DrMario::encode(&play(&settings, number));
            check_selfplay::<DrMario>(&settings, &task(number), &body)
                .unwrap_or_else(|why| panic!("game {number}: {why}"));
            if number < 3 {
                let stop = AtomicBool::new(false);
                let same = is_played_by::<DrMario>(&settings, &player, &task(number), &body, &stop);
                assert_eq!(same.unwrap(), Some(true), "game {number}");
            }
        }
    }

    #[test]
    fn every_forgery_is_refused_with_its_reason() {
        let settings = settings();
        let honest = play(&settings, 1);
        assert!(honest.record.moves.len() > 2);
        type Forgery = (&'static str, fn(&mut MarioGame));
        let forgeries: [Forgery; 9] = [
            ("cannot get to", |game| game.record.moves[1].chosen.y = 15),
            ("cannot get to", |game| {
                let last = game.record.moves.len() - 1;
                game.record.moves.swap(0, last);
                game.record.moves[0].chosen.y = 14;
            }),
            ("after the end", |game| {
                let again = game.record.moves[0].clone();
                game.record.moves.push(again);
            }),
            ("not over", |game| {
                game.record.moves.pop();
                game.record.end = RecordEnd::Timeout;
            }),
            ("in another way", |game| {
                game.record.end = RecordEnd::Timeout
            }),
            ("the result is", |game| game.head.result.viruses_left += 1),
            ("the task deals", |game| game.head.level ^= 1),
            ("played by", |game| game.head.network = "other".into()),
            ("out of reach", |game| {
                let mut far = game.record.moves[0].chosen;
                far.y = 15;
                game.record.moves[0].weights.push((far, 1.0));
            }),
        ];
        for (reason, forge) in forgeries {
            let mut forged = honest.clone();
            forge(&mut forged);
            let why = check_selfplay::<DrMario>(&settings, &task(1), &DrMario::encode(&forged))
                .err()
                .unwrap_or_else(|| panic!("taken, but {reason}"));
            assert!(why.contains(reason), "{reason}: {why}");
        }
        let other_seed = SelfPlayTask { seed: 1, ..task(1) };
        let body = DrMario::encode(&honest);
        assert!(check_selfplay::<DrMario>(&settings, &other_seed, &body).is_err());
    }

    #[test]
    fn the_better_of_two_games_of_a_deal_is_found_again() {
        let settings = settings();
        let players = ["random", "one-ply"]
            .map(|name| MarioPlayer::anchor(name, 1, mario_player::Budget::Playouts(8)).unwrap());
        let stop = AtomicBool::new(false);
        for slot in 0..4 {
            let seed = base::nth_seed(9, u64::from(slot));
            let sides = [&players[0], &players[1]];
            let played = DrMario::play_match_game(&settings, sides, slot, seed, &stop);
            let record = played.unwrap().unwrap();
            DrMario::verify_match(&settings, slot, seed, &record).unwrap();
            for winner in [Winner::First, Winner::Second, Winner::Nobody] {
                let claimed = MatchRecord {
                    winner,
                    ..record.clone()
                };
                let is_right = DrMario::verify_match(&settings, slot, seed, &claimed).is_ok();
                assert_eq!(is_right, winner == record.winner);
            }
            assert!(DrMario::verify_match(&settings, slot, seed + 1, &record).is_err());
        }
    }
}
