//! The rebuilt original against what the original's file gave in leelaz 0.17, and both networks in leelaz itself.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use go::{Board, BoardSize, Color, Point};
use ladder::{LadderNetwork, Original, input_row};
use net::{
    Backend, Evaluator, Reference,
    leela::{LeelaNetwork, POLICY, TextStyle, VALUE},
};

const SIZE: BoardSize = BoardSize::NINETEEN;
/// leelaz prints thousandths of a policy.
const POLICY_TOLERANCE: f32 = 0.0015;
/// The value of the original is a small difference of sums of 3610, which single precision rounds by up to 0.002.
const WINRATE_TOLERANCE: f32 = 0.002;

/// The start of the ladder, Black first, then what is played far away, then the chase.
const START: [&str; 7] = ["D4", "D5", "C5", "C4", "C6", "C3", "E5"];
const CHASE: [&str; 6] = ["D6", "D7", "E6", "F6", "E7", "E8"];

fn vertex(name: &str) -> Point {
    let column = name.as_bytes()[0];
    let x = column - b'A' - u8::from(column > b'I');
    Point::new(x.into(), name[1..].parse::<usize>().unwrap() - 1)
}

/// The moves of a position: far stones (White's first, then Black's), and as many moves of the chase.
fn moves(far: &[&'static str], chase: usize, swapped: bool) -> Vec<(Color, &'static str)> {
    let all = START.iter().chain(far).chain(&CHASE[..chase]);
    let colors = [Color::Black, Color::White].into_iter().cycle();
    all.zip(colors)
        .map(|(&name, color)| (if swapped { color.opponent() } else { color }, name))
        .collect()
}

fn board(moves: &[(Color, &str)]) -> Board {
    let mut board = Board::new(SIZE);
    for &(color, name) in moves {
        let _ = board.play(vertex(name), color);
    }
    board
}

fn outputs(plan: &impl Evaluator, board: &Board, to_move: Color) -> (Vec<f32>, f32) {
    let mut row = vec![0.0; plan.shape().output_len()];
    plan.evaluate(&input_row(board, to_move), &mut row).unwrap();
    let policy = row[plan.shape().output(POLICY).unwrap()].to_vec();
    (policy, row[plan.shape().output(VALUE).unwrap().start])
}

/// Far stones, moves of the chase, colours swapped; the point of the policy's peak if there is one; the winrate.
type Row = (
    &'static [&'static str],
    usize,
    bool,
    Option<&'static str>,
    f32,
);

const TABLE: [Row; 12] = [
    (&["J10", "P16"], 4, false, Some("E7"), 0.391871),
    (&["J10", "P16"], 5, false, Some("E8"), 0.588771),
    (&["P16", "J10"], 4, false, None, 0.826292),
    (&["P16", "J10"], 5, false, Some("E8"), 0.588771),
    (&[], 4, false, None, 0.826292),
    (&[], 5, false, Some("E8"), 0.588771),
    (&["H10", "O16"], 4, false, Some("E7"), 0.391871),
    (&["H10", "O16"], 5, false, Some("E8"), 0.588771),
    (&["J10", "P16"], 4, true, Some("E7"), 0.588771),
    (&["J10", "P16"], 5, true, None, 0.826151),
    (&[], 5, true, Some("E8"), 0.391522),
    (&["P16", "J10"], 5, true, Some("E8"), 0.391871),
];

#[test]
fn the_original_gives_its_reference_outputs() {
    const PEAK: f32 = 0.891;
    let plan = Reference::new(Original::new().leela().to_network()).unwrap();
    for (far, chase, swapped, peak, winrate) in TABLE {
        let moves = moves(far, chase, swapped);
        let to_move = moves.last().unwrap().0.opponent();
        let (policy, value) = outputs(&plan, &board(&moves), to_move);
        assert!(
            (value - winrate).abs() < WINRATE_TOLERANCE,
            "{moves:?}: {value} for {winrate}"
        );
        match peak {
            Some(name) => {
                let found = policy[SIZE.index(vertex(name))];
                assert!(
                    (found - PEAK).abs() < POLICY_TOLERANCE,
                    "{moves:?}: {found}"
                );
            }
            None => assert!(policy.iter().all(|&share| share < 0.003), "{moves:?}"),
        }
    }
}

/// Escapes and chases of the same positions: ours sees the far stones for both colours, and values them for the side
/// to move.
#[test]
fn ours_reads_the_reference_positions_right() {
    let plan = Backend::Cpu
        .open(&LadderNetwork::new(19, 16).leela().to_network())
        .unwrap();
    for swapped in [false, true] {
        for (far, escapes) in [
            (&["J10", "P16"][..], true),
            (&["P16", "J10"], false),
            (&[], false),
            (&["H10", "O16"], true),
        ] {
            let runner = moves(far, 4, swapped);
            let to_move = runner.last().unwrap().0.opponent();
            let (policy, value) = outputs(&plan, &board(&runner), to_move);
            let extension = policy[SIZE.index(vertex("E7"))];
            assert_eq!(extension > 0.8, escapes, "{far:?} {swapped}");
            assert_eq!(value > 0.5, escapes, "{far:?} {swapped}: {value}");
            let chaser = moves(far, 5, swapped);
            let (policy, value) = outputs(&plan, &board(&chaser), to_move.opponent());
            let atari = policy[SIZE.index(vertex("E8"))];
            assert_eq!(atari > 0.8, !escapes, "{far:?} {swapped}");
            assert_eq!(value > 0.5, !escapes, "{far:?} {swapped}: {value}");
        }
    }
}

#[test]
fn leelaz_loads_our_files_and_agrees() {
    let leelaz = Path::new("/usr/games/leelaz");
    if !leelaz.exists() {
        println!("skipped: no leelaz");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let ours = LadderNetwork::new(19, 16);
    let original = Original::new();
    let file = folder.path().join("ours.txt");
    std::fs::write(&file, ours.leela().to_text(TextStyle::default())).unwrap();
    compare_with_leelaz(leelaz, &file, ours.leela());
    let file = folder.path().join("original.txt");
    std::fs::write(&file, original.leela().to_text(TextStyle::default())).unwrap();
    let winrates = compare_with_leelaz(leelaz, &file, original.leela());
    for ((.., expected), winrate) in TABLE.iter().zip(winrates) {
        assert!(
            (winrate - expected).abs() < 2e-6,
            "leelaz prints {winrate} for {expected}"
        );
    }
}

/// Asserts that both give the same policy, and returns leelaz's winrates of the table's positions.
fn compare_with_leelaz(leelaz: &Path, file: &Path, network: &LeelaNetwork) -> Vec<f32> {
    let plan = Backend::Cpu.open(&network.to_network()).unwrap();
    let positions: Vec<Vec<(Color, &str)>> = TABLE
        .iter()
        .map(|&(far, chase, swapped, ..)| moves(far, chase, swapped))
        .collect();
    let mut script = String::new();
    for position in &positions {
        script.push_str("clear_board\n");
        for (color, name) in position {
            script.push_str(&format!(
                "play {} {name}\n",
                if *color == Color::Black { "b" } else { "w" }
            ));
        }
        script.push_str("heatmap 0\n");
    }
    script.push_str("quit\n");
    let mut child = Command::new(leelaz)
        .args(["--gtp", "--cpu-only", "--noponder", "-t1", "-v1", "-w"])
        .arg(file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let maps = heatmaps(&text);
    assert_eq!(maps.len(), positions.len(), "{text}");
    for (position, (thousandths, winrate)) in positions.iter().zip(&maps) {
        let to_move = position.last().unwrap().0.opponent();
        let (policy, value) = outputs(&plan, &board(position), to_move);
        assert!(
            (value - winrate).abs() < 0.02,
            "{value} for leelaz's {winrate}"
        );
        // leelaz shows nothing at points where nobody can play.
        let board = board(position);
        for point in SIZE
            .points()
            .filter(|&point| board.is_legal(point, to_move))
        {
            let share = thousandths[SIZE.index(point)] as f32 / 1000.0;
            let ours = policy[SIZE.index(point)];
            assert!(
                (ours - share).abs() < POLICY_TOLERANCE,
                "{point}: {ours} for {share}"
            );
        }
    }
    maps.into_iter().map(|(_, winrate)| winrate).collect()
}

/// The grids leelaz prints, north first, each with its winrate.
fn heatmaps(text: &str) -> Vec<(Vec<u32>, f32)> {
    let mut maps = Vec::new();
    let mut rows: Vec<Vec<u32>> = Vec::new();
    for line in text.lines() {
        let numbers: Option<Vec<u32>> = line
            .split_whitespace()
            .map(|word| word.parse().ok())
            .collect();
        match numbers {
            Some(numbers) if numbers.len() == SIZE.get() => rows.push(numbers),
            _ => {
                if let Some(winrate) = line.strip_prefix("winrate: ") {
                    let grid: Vec<u32> = rows.drain(..).rev().flatten().collect();
                    assert_eq!(grid.len(), SIZE.area());
                    maps.push((grid, winrate.trim().parse().unwrap()));
                }
            }
        }
    }
    maps
}
