//! Ladders and nets: known shapes, a literal reader, and GNU Go's reading suite.

mod common;
#[path = "common/suite.rs"]
mod suite;

use common::random_board;
use go::{Board, BoardSize, Color, First, GetaReader, LadderReader, LadderVerdict, Point};
use proptest::prelude::*;

fn board(rows: &str) -> Board {
    let side = rows.lines().count();
    Board::from_diagram(BoardSize::new(side).unwrap(), rows).unwrap()
}

fn point(vertex: &str) -> Point {
    vertex.parse().unwrap()
}

fn vertices(points: &[Point]) -> String {
    points
        .iter()
        .map(Point::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The start of a ladder that runs from the lower left to the upper right corner.
fn long_ladder() -> Board {
    let mut board = Board::new(BoardSize::NINETEEN);
    let _ = board.play(point("D4"), Color::White);
    for vertex in ["C4", "D3", "E3", "C5"] {
        let _ = board.play(point(vertex), Color::Black);
    }
    board
}

#[test]
fn a_ladder_across_the_board_captures() {
    let board = long_ladder();
    let reading = LadderReader::default().read(&board, point("D4"), First::Attacker);
    assert_eq!(reading.verdict, LadderVerdict::Captured);
    assert_eq!(vertices(&reading.working_moves), "E4 D5");
    assert!(reading.line.len() > 40, "{} plies", reading.line.len());
    // The line can be played, alternately, and its last move takes the prey.
    let mut played = board.clone();
    let mut turn = Color::Black;
    for (color, point) in reading.line {
        assert_eq!(color, turn);
        assert!(played.is_legal(point, color));
        let _ = played.play(point, color);
        turn = turn.opponent();
    }
    assert!(played.is_empty(point("D4")));
}

#[test]
fn a_breaker_on_the_way_saves() {
    let mut board = long_ladder();
    let _ = board.play(point("Q16"), Color::White);
    let mut reader = LadderReader::default();
    assert_eq!(
        reader.verdict(&mut board, point("D4"), First::Attacker),
        LadderVerdict::Escapes
    );
    let _ = board.play(point("D5"), Color::Black);
    let reading = reader.read(&board, point("D4"), First::Defender);
    assert_eq!(reading.verdict, LadderVerdict::Escapes);
    assert_eq!(vertices(&reading.working_moves), "E4");
}

#[test]
fn capturing_a_chaser_saves() {
    // White C3 cannot run to D3, but Black's B3 beside it is in atari too.
    let position = board(". . . . .\n. O # # .\nO # O . #\n. . # # .\n. . . . .");
    let reading = LadderReader::default().read(&position, point("C3"), First::Defender);
    assert_eq!(reading.verdict, LadderVerdict::Escapes);
    assert_eq!(vertices(&reading.working_moves), "B2");
}

#[test]
fn a_snapback_captures() {
    // Taking the throw-in stone leaves White's three stones without another liberty.
    let position =
        board(". . . . . .\n. . . . . .\n# # # # . .\nO O O # . .\n# . O # . .\n. O O # . .");
    let mut reader = LadderReader::default();
    let reading = reader.read(&position, point("A3"), First::Attacker);
    assert_eq!(reading.verdict, LadderVerdict::Captured);
}

/// White's last move took the ko at C2 from B2; both B1 and A2 have A1 as their liberty.
fn ko_taken_by_white() -> Board {
    let mut board = board(". . . . .\n. . . . .\nO # O . .\n# . # O .\n. # O . .");
    let _ = board.play(point("B2"), Color::White);
    assert_eq!(board.ko_point(), Some(point("C2")));
    board
}

#[test]
fn the_attacker_may_not_retake_a_ko_at_once() {
    let mut board = ko_taken_by_white();
    let mut reader = LadderReader::default();
    assert_eq!(
        reader.verdict(&mut board, point("B2"), First::Attacker),
        LadderVerdict::Escapes
    );
    board.clear_ko();
    assert_eq!(
        reader.verdict(&mut board, point("B2"), First::Attacker),
        LadderVerdict::Captured
    );
}

#[test]
fn the_defender_has_a_threat_for_every_ko() {
    // Filling A1 is suicide; only retaking the ko saves B1.
    let board = ko_taken_by_white();
    let reading = LadderReader::default().read(&board, point("B1"), First::Defender);
    assert_eq!(reading.verdict, LadderVerdict::Escapes);
    assert_eq!(vertices(&reading.working_moves), "C2");
}

#[test]
fn a_spent_budget_is_reported() {
    let mut board = long_ladder();
    let mut reader = LadderReader::new(10);
    assert_eq!(
        reader.verdict(&mut board, point("D4"), First::Attacker),
        LadderVerdict::Unknown
    );
    assert_eq!(
        reader.capturing_moves(&mut board, point("D4")),
        (Vec::new(), false)
    );
    let reading = reader.read(&board, point("D4"), First::Attacker);
    assert_eq!(
        (reading.verdict, reading.line.len()),
        (LadderVerdict::Unknown, 0)
    );
}

#[test]
fn a_net_captures_where_a_ladder_does_not() {
    // The geta: Black E3 shuts White's D4 in; atari on either side lets it run.
    let position = board(
        ". . . . . . . . .\n. . . . . . . . .\n. . O . . . . . .\n. . . . . . . . .\n. . . . . . . . .\n. . # # . . . . .\n. # O O . . . . .\n. # # O . . . . .\n. . . # . . . . .",
    );
    let prey = point("D3");
    let mut nets = GetaReader::default();
    let mut board = position.clone();
    let hash = board.hash();
    let reading = nets.read(&mut board, prey);
    assert_eq!(board.hash(), hash);
    assert_eq!(reading.verdict, LadderVerdict::Captured);
    assert!(
        reading.working_moves.contains(&point("F2"))
            || reading.working_moves.contains(&point("E3")),
        "{reading:?}"
    );
}

/// White's string has no liberties but those of three kos on its right side. Two are Black's, so it is in atari; White
/// takes one back, Black takes another, and so on for ever.
const TRIPLE_KO: &str = "\
# # # . . . . . .
O O # . . . . . .
O . O # . . . . .
O O # . . . . . .
O # . # . . . . .
O O # . . . . . .
O # . # . . . . .
O O # . . . . . .
# # # . . . . . .";

#[test]
fn a_triple_ko_goes_to_the_attacker() {
    let prey = point("A5");
    let mut board = board(TRIPLE_KO);
    assert_eq!(board.liberty_count(prey), 1);
    let mut reader = LadderReader::default();
    for first in [First::Defender, First::Attacker] {
        assert_eq!(
            reader.verdict(&mut board, prey, first),
            LadderVerdict::Captured
        );
    }
    // Neither of White's two captures helps for good, but each of them can be played.
    assert_eq!(reader.saving_moves(&mut board, prey), (Vec::new(), true));
    for capture in ["C5", "C3"] {
        let undo = board.play(point(capture), Color::White);
        assert_eq!(undo.captured_stones(), 1);
        assert_eq!(board.liberty_count(prey), 2);
        board.undo(undo);
    }
}

/// The definition, word by word: no pruning, no ordering, a copy of the board a move.
fn literal_attack(
    board: &Board,
    prey: Point,
    path: &mut Vec<(u64, bool)>,
    nodes: &mut usize,
) -> Option<bool> {
    let attacker = board.stone(prey)?.opponent();
    let liberties: Vec<Point> = board.liberties(prey).collect();
    if liberties.len() >= 3 {
        return Some(false);
    }
    let mut unknown = false;
    for liberty in liberties {
        if board.check(liberty, attacker).is_err() {
            continue;
        }
        let mut after = board.clone();
        let _ = after.play(liberty, attacker);
        if after.is_empty(prey) {
            return Some(true);
        }
        match repeated_or(&after, true, path, nodes, |after, path, nodes| {
            literal_defence(after, prey, path, nodes)
        }) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => unknown = true,
        }
    }
    if unknown { None } else { Some(false) }
}

fn literal_defence(
    board: &Board,
    prey: Point,
    path: &mut Vec<(u64, bool)>,
    nodes: &mut usize,
) -> Option<bool> {
    let defender = board.stone(prey)?;
    if board.liberty_count(prey) >= 2 {
        return Some(false);
    }
    // Any move may be tried, but only those that change the prey's liberties can help.
    let mut unknown = false;
    for point in board
        .empty_set()
        .iter()
        .filter(|&point| !board.is_suicide(point, defender))
    {
        let mut after = board.clone();
        let undo = after.play(point, defender);
        let helps = after.liberty_count(prey) > 1
            || board.liberties(prey).any(|liberty| liberty == point)
            || undo.captured_stones() > 0;
        if !helps {
            continue;
        }
        match repeated_or(&after, false, path, nodes, |after, path, nodes| {
            literal_attack(after, prey, path, nodes)
        }) {
            Some(false) => return Some(false),
            Some(true) => {}
            None => unknown = true,
        }
    }
    if unknown { None } else { Some(true) }
}

fn repeated_or(
    after: &Board,
    defender_to_move: bool,
    path: &mut Vec<(u64, bool)>,
    nodes: &mut usize,
    go_on: impl FnOnce(&Board, &mut Vec<(u64, bool)>, &mut usize) -> Option<bool>,
) -> Option<bool> {
    let key = (after.hash(), defender_to_move);
    if path.contains(&key) {
        return Some(true);
    }
    *nodes += 1;
    if *nodes > 20_000 {
        return None;
    }
    path.push(key);
    let result = go_on(after, path, nodes);
    path.pop();
    result
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn readings_are_what_the_definition_says(side in 3usize..=11, seed: u64) {
        let mut board = random_board(side, seed);
        let before = board.clone();
        let mut reader = LadderReader::default();
        for prey in board.size().points().filter(|&p| before.stone(p).is_some() && before.block(p) == p) {
            for first in [First::Attacker, First::Defender] {
                let (mut nodes, defender_to_move) = (0, first == First::Defender);
                let mut path = vec![(board.hash(), defender_to_move)];
                let expected = match first {
                    First::Attacker => literal_attack(&board, prey, &mut path, &mut nodes),
                    First::Defender => literal_defence(&board, prey, &mut path, &mut nodes),
                };
                let verdict = reader.verdict(&mut board, prey, first);
                prop_assert_eq!(board.hash(), before.hash());
                let Some(expected) = expected else { continue };
                let expected = if expected { LadderVerdict::Captured } else { LadderVerdict::Escapes };
                prop_assert_eq!(verdict, expected, "{:?} first at {}{:?}", first, prey, board);
                let reading = reader.read(&board, prey, first);
                prop_assert_eq!(reading.verdict, expected);
                let (capturing, complete) = reader.capturing_moves(&mut board, prey);
                prop_assert!(complete);
                if first == First::Attacker {
                    prop_assert_eq!(!capturing.is_empty(), expected == LadderVerdict::Captured);
                }
            }
        }
    }

    #[test]
    fn nets_capture_at_least_what_ladders_do(side in 3usize..=9, seed: u64) {
        let mut board = random_board(side, seed);
        let mut ladders = LadderReader::default();
        let mut nets = GetaReader::new(2, 20_000);
        let before = board.clone();
        for prey in board.size().points().filter(|&p| before.stone(p).is_some() && before.block(p) == p) {
            let reading = nets.read(&mut board, prey);
            prop_assert_eq!(board.hash(), before.hash());
            let (capturing, _) = ladders.capturing_moves(&mut board, prey);
            prop_assert!(capturing.iter().all(|mv| reading.working_moves.contains(mv)));
            prop_assert_eq!(reading.is_ladder, !capturing.is_empty());
        }
    }
}

/// What the suite says, in our terms; nothing when the answer is a ko or the block is not one
/// a ladder can be about.
fn ladder_question(check: &suite::Check) -> Result<(First, bool, Vec<String>), &'static str> {
    let (codes, moves) = check.codes_and_moves();
    let liberties = check.board.liberty_count(check.point);
    let first = match check.command.as_str() {
        "attack" if liberties >= 3 => return Err("three liberties or more"),
        "attack" => First::Attacker,
        "defend" if liberties >= 2 => return Err("to be defended before the atari"),
        "defend" => First::Defender,
        other => panic!("{other} is no question about capture"),
    };
    match codes.as_slice() {
        [0] => Ok((first, false, moves)),
        [1] => Ok((first, true, moves)),
        _ => Err("a ko"),
    }
}

/// How many of the suite's questions are about ladders and nothing else.
const PURE_LADDERS: usize = 45;

#[test]
fn ladders_agree_with_gnu_gos_suite() {
    let Some(file) = common::data("suites/gnugo/reading.tst") else {
        return;
    };
    let checks = suite::checks(&file);
    let mut reader = LadderReader::default();
    let mut agreed = Vec::new();
    let mut not_pure = Vec::new();
    let mut wrong = Vec::new();
    for check in &checks {
        let (first, works, moves) = match ladder_question(check) {
            Ok(question) => question,
            Err(reason) => {
                not_pure.push((check.number, reason));
                continue;
            }
        };
        let reading = reader.read(&check.board, check.point, first);
        let expected = match (first, works) {
            (First::Attacker, true) | (First::Defender, false) => LadderVerdict::Captured,
            _ => LadderVerdict::Escapes,
        };
        let found = reading
            .working_moves
            .iter()
            .any(|mv| moves.contains(&mv.to_string()));
        match (reading.verdict, expected) {
            (LadderVerdict::Escapes, LadderVerdict::Captured) => {
                not_pure.push((check.number, "captured, but by no ladder"))
            }
            (verdict, expected) if verdict != expected => wrong.push(format!(
                "{} {}: {verdict:?}, not {expected:?}",
                check.number, check.answer
            )),
            // Out of the ladder is not out of danger: the suite also looks for nets.
            _ if works && !found && first == First::Defender => {
                not_pure.push((check.number, "saved from the ladder, but not for good"))
            }
            _ if works && !found && check.board.liberty_count(check.point) == 1 => not_pure.push((
                check.number,
                "taken at once, where the suite wants another move",
            )),
            _ if works && !found => wrong.push(format!(
                "{} {}: moves {}",
                check.number,
                check.answer,
                vertices(&reading.working_moves)
            )),
            _ => agreed.push(check.number),
        }
    }
    println!(
        "{} agree: {agreed:?}\n{} are no pure ladders: {not_pure:?}",
        agreed.len(),
        not_pure.len()
    );
    assert!(
        wrong.is_empty(),
        "{} disagree:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert_eq!(agreed.len() + not_pure.len(), checks.len());
    assert_eq!(agreed.len(), PURE_LADDERS);
}
