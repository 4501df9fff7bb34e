//! Go games that came from elsewhere, checked by the rules.

use fleet::{MatchRecord, SelfPlayTask};
use go::{BoardSize, Color, Game, Komi, Move};
use go_player::{planes::BitPlanes, record::ChunkRecord, selfplay::SelfPlay};

use super::{Head, StoredGame};

/// Between the moves and the result of a match game.
const BEFORE_RESULT: char = '|';
/// Rounding of a policy's sum.
const MOST_OFF: f64 = 1e-3;

/// The moves and the result as one text.
pub(crate) fn moves_and_result(moves: &[String], result: &str) -> String {
    format!("{}{BEFORE_RESULT}{result}", moves.join(" "))
}

/// Checks a game of self-play: moves, end, result, and every training record.
pub(crate) fn verify(
    size: BoardSize,
    play: &SelfPlay,
    task: &SelfPlayTask<'_>,
    stored: &StoredGame,
) -> Result<(), String> {
    let head = &stored.head;
    if head.network != task.network {
        return Err(format!(
            "the game was played by {:?}, but the task named {:?}",
            head.network, task.network
        ));
    }
    let winner = verify_moves(empty(size, play), play, &head.moves, &head.result)?;
    if head.lost_side_won.is_some() && head.result.ends_with("Resign") {
        return Err("a game that ended by resignation was not played to the end".into());
    }
    verify_records(size, play, head, winner, &stored.records)
}

/// Checks the text of a match game.
pub(crate) fn verify_match(
    size: BoardSize,
    play: &SelfPlay,
    slot: u32,
    record: &MatchRecord,
) -> Result<(), String> {
    let (moves, result) = record
        .moves
        .split_once(BEFORE_RESULT)
        .ok_or("the match game has no result")?;
    let moves: Vec<String> = moves.split_whitespace().map(str::to_owned).collect();
    let winner = verify_moves(empty(size, play), play, &moves, result)?;
    let first = if slot.is_multiple_of(2) {
        Color::Black
    } else {
        Color::White
    };
    if record.winner.first_won() != winner.map(|color| color == first) {
        return Err(format!(
            "the result {result} in slot {slot} does not give the claimed winner"
        ));
    }
    Ok(())
}

/// The empty board of a game.
fn empty(size: BoardSize, play: &SelfPlay) -> Game {
    Game::new(size, Komi::new(play.komi).unwrap_or_default())
}

/// Plays the moves from the start of a game, and counts; returns the winner.
pub(crate) fn verify_moves(
    mut game: Game,
    play: &SelfPlay,
    moves: &[String],
    result: &str,
) -> Result<Option<Color>, String> {
    let most = (play.max_length * game.size().area() as f64) as usize;
    for (index, text) in moves.iter().enumerate() {
        let number = index + 1;
        if game.is_over() {
            return Err(format!("move {number} comes after two passes"));
        }
        let mv: Move = text
            .parse()
            .ok()
            .filter(|mv: &Move| mv.to_string() == *text)
            .ok_or_else(|| format!("move {number}, {text:?}, is no move"))?;
        game.play(mv)
            .map_err(|error| format!("move {number}, {text}, is illegal: {error}"))?;
    }
    if moves.len() > most {
        return Err(format!(
            "the game has {} moves; it ends after {most}",
            moves.len()
        ));
    }
    let by_resignation = match result {
        "B+Resign" => Some(Color::Black),
        "W+Resign" => Some(Color::White),
        _ => None,
    };
    if let Some(winner) = by_resignation {
        if play.resign_winrate <= 0.0 {
            return Err("nobody resigns in this run".into());
        }
        // Whoever is to move resigns, and only in a game that goes on.
        if game.is_over() || game.to_move() == winner {
            return Err(format!("{result} does not fit the side to move"));
        }
        return Ok(Some(winner));
    }
    if !game.is_over() && moves.len() < most {
        return Err(format!("the game is not over after {} moves", moves.len()));
    }
    let score = game.score();
    if score.to_string() != result {
        return Err(format!("the result is {score}, not {result}"));
    }
    Ok(score.winner())
}

/// Compares every record with the position it claims to be, in order.
fn verify_records(
    size: BoardSize,
    play: &SelfPlay,
    head: &Head,
    winner: Option<Color>,
    records: &[ChunkRecord],
) -> Result<(), String> {
    let Some(winner) = winner else {
        return match records {
            [] => Ok(()),
            _ => Err("a tied game teaches no result, but has training records".into()),
        };
    };
    let resigned = head.result.ends_with("Resign");
    let positions = head.moves.len() + usize::from(resigned);
    if play.full_share >= 1.0 && records.len() != positions {
        return Err(format!(
            "every move is recorded in this run, but {} of {positions} are",
            records.len()
        ));
    }
    let mut game = empty(size, play);
    let mut left = records.iter().enumerate().peekable();
    // One position more than moves: the one in which a side resigned.
    for turn in 0..positions {
        let Some(&(index, record)) = left.peek() else {
            break;
        };
        let planes = BitPlanes::of(size, game.to_move(), game.history());
        if record.to_move == game.to_move() && record.planes == planes {
            verify_record(&game, winner, record)
                .map_err(|why| format!("training record {}: {why}", index + 1))?;
            left.next();
        }
        let next = head.moves.get(turn).and_then(|text| text.parse().ok());
        // Every move was found legal before.
        if let Some(mv) = next {
            let _ = game.play(mv);
        }
    }
    match left.next() {
        Some((index, _)) => Err(format!(
            "training record {}: its planes are those of no position of the game from there on",
            index + 1
        )),
        None => Ok(()),
    }
}

fn verify_record(game: &Game, winner: Color, record: &ChunkRecord) -> Result<(), String> {
    let (size, color) = (game.size(), game.to_move());
    if record.won != (winner == color) {
        return Err("it names the wrong winner".into());
    }
    if record.probabilities.len() != size.area() + 1 {
        return Err(format!(
            "its policy has {} entries, not {}",
            record.probabilities.len(),
            size.area() + 1
        ));
    }
    let mut sum = 0.0;
    for &share in &record.probabilities {
        if !share.is_finite() || share < 0.0 {
            return Err(format!("its policy holds {share}"));
        }
        sum += f64::from(share);
    }
    if (sum - 1.0).abs() > MOST_OFF {
        return Err(format!("its policy sums to {sum:.4}"));
    }
    for point in size.points() {
        let mv = Move::Play(point);
        if record.probabilities[size.index(point)] > 0.0 && !game.is_legal(color, mv) {
            return Err(format!("its policy plays {mv}, which is illegal"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::atomic::AtomicBool};

    use fleet::{Game as _, Winner, check_selfplay, is_played_by};
    use go_player::LoadedNetwork;
    use net::leela::{LeelaNetwork, LeelaShape, LeelaVersion};

    use super::*;
    use crate::{Go, GoPlayer, ZeroSettings, anchor::NetworkPlayer};

    fn settings() -> ZeroSettings {
        let mut settings = ZeroSettings {
            size: 5,
            ..ZeroSettings::default()
        };
        settings.selfplay.play.simulations = 4;
        settings.selfplay.play.quick_simulations = 2;
        settings.selfplay.play.full_share = 0.5;
        settings.selfplay.play.resign_winrate = 0.3;
        settings
    }

    fn player(seed: u64) -> GoPlayer {
        let random = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(5, 1, 2), seed);
        let network = LoadedNetwork::from_leela(&random, Path::new("random")).unwrap();
        GoPlayer::Network(Box::new(NetworkPlayer::new(network, 1, 1 << 20)))
    }

    fn task(number: u64) -> SelfPlayTask<'static> {
        SelfPlayTask {
            number,
            round: 3,
            network: "abc",
            seed: base::nth_seed(5, number),
        }
    }

    fn play(settings: &ZeroSettings, player: &GoPlayer, number: u64) -> StoredGame {
        let played = Go::play(settings, player, &task(number), &AtomicBool::new(false));
        played.unwrap().unwrap()
    }

    #[test]
    fn honest_games_pass_and_only_the_right_network_plays_them_again() {
        let (settings, honest, other) = (settings(), player(3), player(4));
        let (mut resigned, mut counted, mut told_apart) = (0, 0, 0);
        let stop = AtomicBool::new(false);
        for number in 0..200 {
            let body = Go::encode(&play(&settings, &honest, number));
            let record = check_selfplay::<Go>(&settings, &task(number), &body)
                .unwrap_or_else(|why| panic!("game {number}: {why}"));
            if record.head.result.ends_with("Resign") {
                resigned += 1;
            } else {
                counted += 1;
            }
            if number < 20 {
                let again = |player| {
                    is_played_by::<Go>(&settings, player, &task(number), &body, &stop).unwrap()
                };
                assert_eq!(again(&honest), Some(true), "game {number}");
                told_apart += usize::from(again(&other) == Some(false));
            }
        }
        assert!(resigned > 0 && counted > 0, "{resigned}, {counted}");
        assert_eq!(told_apart, 20, "another network plays other games");
    }

    /// A game that was counted and has records.
    fn counted_game(settings: &ZeroSettings) -> (u64, StoredGame) {
        let player = player(3);
        (0..50)
            .map(|number| (number, play(settings, &player, number)))
            .find(|(_, game)| !game.head.result.ends_with("Resign") && game.records.len() > 3)
            .expect("a game that is counted")
    }

    #[test]
    fn every_forgery_is_refused_with_its_reason() {
        let settings = settings();
        let (number, honest) = counted_game(&settings);
        type Forgery = (&'static str, fn(&mut StoredGame));
        let forgeries: [Forgery; 13] = [
            ("is illegal", |game| {
                game.head.moves[4] = game.head.moves[0].clone()
            }),
            ("not on the board", |game| game.head.moves[2] = "Z9".into()),
            ("is no move", |game| game.head.moves[2] = "d4 ".into()),
            ("the result is", |game| {
                let flipped = match game.head.result.split_at(1) {
                    ("B", rest) => format!("W{rest}"),
                    (_, rest) => format!("B{rest}"),
                };
                game.head.result = flipped;
            }),
            ("not over", |game| {
                game.head.moves.pop();
            }),
            ("after two passes", |game| {
                game.head
                    .moves
                    .extend(["pass", "pass", "pass"].map(str::to_owned));
            }),
            ("played by \"other\"", |game| {
                game.head.network = "other".into()
            }),
            ("task was game", |game| game.head.number += 1),
            ("task was game", |game| game.head.round += 1),
            ("sums to", |game| game.records[1].probabilities[0] += 0.5),
            ("expected finite probabilities", |game| {
                game.records[1].probabilities[0] = f32::NAN
            }),
            ("wrong winner", |game| {
                game.records[0].won = !game.records[0].won
            }),
            ("planes are those of no position", |game| {
                let last = game.records.len() - 1;
                game.records.swap(0, last);
            }),
        ];
        for (reason, forge) in forgeries {
            let mut forged = honest.clone();
            forge(&mut forged);
            let why = check_selfplay::<Go>(&settings, &task(number), &Go::encode(&forged))
                .err()
                .unwrap_or_else(|| panic!("taken, but {reason}"));
            assert!(why.contains(reason), "{reason}: {why}");
        }
        let mut more = Go::encode(&honest);
        let end = more.iter().position(|&byte| byte == b'\n').unwrap();
        more.splice(end - 1..end - 1, *b",\"more\":1");
        let why = check_selfplay::<Go>(&settings, &task(number), &more).err();
        assert_eq!(why.as_deref(), Some("the record holds more than a game"));
    }

    #[test]
    fn a_policy_may_not_play_where_it_is_illegal() {
        let mut settings = settings();
        settings.selfplay.play.full_share = 1.0;
        let (number, mut game) = counted_game(&settings);
        // The second position has a stone where the first move was played.
        let first: Move = game.head.moves[0].parse().unwrap();
        let Some(point) = first.point() else {
            panic!("the first move is a pass");
        };
        let size = BoardSize::new(5).unwrap();
        let shares = &mut game.records[1].probabilities;
        shares.fill(0.0);
        shares[size.index(point)] = 1.0;
        let why = check_selfplay::<Go>(&settings, &task(number), &Go::encode(&game)).unwrap_err();
        assert!(why.contains("which is illegal"), "{why}");
        game.records.remove(1);
        let why = check_selfplay::<Go>(&settings, &task(number), &Go::encode(&game)).unwrap_err();
        assert!(why.contains("every move is recorded"), "{why}");
    }

    #[test]
    fn match_games_are_replayed_and_their_winner_recounted() {
        let settings = settings();
        let players = [player(3), player(4)];
        for slot in 0..20 {
            let seed = base::nth_seed(9, u64::from(slot));
            let stop = AtomicBool::new(false);
            let record =
                Go::play_match_game(&settings, [&players[0], &players[1]], slot, seed, &stop)
                    .unwrap()
                    .unwrap();
            Go::verify_match(&settings, slot, seed, &record).unwrap();
            let other = MatchRecord {
                winner: match record.winner {
                    Winner::First => Winner::Second,
                    _ => Winner::First,
                },
                ..record.clone()
            };
            assert!(Go::verify_match(&settings, slot, seed, &other).is_err());
            let exchanged = Go::verify_match(&settings, slot + 1, seed, &record);
            assert!(record.winner == Winner::Nobody || exchanged.is_err());
            let cut = MatchRecord {
                moves: record.moves.replacen(' ', "  ", 1).replace('|', " A1 A1|"),
                ..record
            };
            assert!(Go::verify_match(&settings, slot, seed, &cut).is_err());
        }
    }
}
