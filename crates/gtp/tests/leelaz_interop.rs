//! The same questions to Leela Zero 0.17 and to us. Skipped where it is not installed.
//!
//! `TENGEN_HEATMAP_POSITIONS` (default 6) sets how many positions the heatmaps are compared on, and
//! `TENGEN_HEATMAP_WEIGHTS` a folder with the networks to compare (default: one network).

mod support;

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use flate2::read::GzDecoder;
use go::{BoardSize, Color, Game, Komi, Move, Point, Symmetry, sgf};
use go_player::{
    Assumptions, Judge, LoadedNetwork, Opinion, Position,
    dynamic_komi::{Trust, TurnKomi},
    planes::BitPlanes,
    record,
};
use gtp::{Input, Personality};
use rand::{RngExt, SeedableRng};
use support::{Program, leelaz, start_leelaz};

/// The unit of a heatmap.
const UNIT: f32 = 1000.0;
/// The largest difference of policies that counts as none.
const TOLERANCE: f32 = 1e-4;

#[test]
fn heatmaps_are_leela_zeros_in_every_symmetry() {
    let Some(program) = leelaz() else { return };
    let folder = tempfile::tempdir().unwrap();
    let positions: usize = std::env::var("TENGEN_HEATMAP_POSITIONS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(6);
    let games = games(positions);
    for weights in networks(folder.path()) {
        let network = LoadedNetwork::load(&weights).unwrap();
        let judge = Judge::new(network.evaluator, 0).unwrap();
        let mut other = start_leelaz(&program, &weights, &[]);
        let (mut policy_excess, mut winrate_difference) = (0.0f32, 0.0f32);
        for game in &games {
            let maps = ask_for_heatmaps(&mut other, game);
            let position = position(game);
            for (symmetry, map) in Symmetry::ALL.into_iter().zip(maps) {
                let opinion = judge.opinion(&position, symmetry).unwrap();
                policy_excess = policy_excess.max(excess(&opinion, &map, game));
                let difference = (opinion.winrate - map.winrate).abs();
                winrate_difference = winrate_difference.max(difference);
            }
        }
        println!(
            "{}: {} positions x 8 symmetries: policies at most {policy_excess:.2e} outside the \
             printed interval, winrates at most {winrate_difference:.2e} apart",
            weights.display(),
            games.len()
        );
        assert!(policy_excess < TOLERANCE, "{policy_excess}");
        assert!(winrate_difference < TOLERANCE, "{winrate_difference}");
    }
}

/// A printed heatmap: thousandths, row by row from the bottom, the pass last.
struct Map {
    thousandths: Vec<u32>,
    winrate: f32,
}

fn ask_for_heatmaps(other: &mut Program, game: &Game) -> Vec<Map> {
    other.ask("clear_board");
    for (color, mv) in game.moves() {
        other.ask(&format!("play {color} {mv}"));
    }
    other.forget_remarks();
    other.ask("heatmap all");
    let text = other.remarks("winrate:", Symmetry::COUNT);
    let numbers = |line: &str| -> Vec<u32> {
        line.split_whitespace()
            .map_while(|word| word.parse().ok())
            .collect()
    };
    let mut maps = Vec::new();
    let mut rows: Vec<Vec<u32>> = Vec::new();
    let mut pass = 0;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("pass: ") {
            pass = rest.trim().parse().unwrap();
        } else if let Some(rest) = line.strip_prefix("winrate: ") {
            let rows = std::mem::take(&mut rows);
            let mut thousandths: Vec<u32> = rows.into_iter().rev().flatten().collect();
            thousandths.push(pass);
            maps.push(Map {
                thousandths,
                winrate: rest.trim().parse().unwrap(),
            });
        } else if numbers(line).len() == 19 {
            rows.push(numbers(line));
        }
    }
    assert_eq!(maps.len(), Symmetry::COUNT, "{text}");
    maps
}

/// How far our policy is from any that would be printed like this.
fn excess(opinion: &Opinion, map: &Map, game: &Game) -> f32 {
    let size = game.size();
    assert_eq!(map.thousandths.len(), size.area() + 1);
    let mut largest = 0.0f32;
    for (index, &printed) in map.thousandths.iter().enumerate() {
        let is_point = index < size.area();
        if is_point && !game.board().is_empty(size.point(index)) {
            assert_eq!(printed, 0);
            continue;
        }
        let chance = opinion.policy[index];
        let (low, high) = (printed as f32 / UNIT, (printed + 1) as f32 / UNIT);
        largest = largest.max(low - chance).max(chance - high);
    }
    largest
}

fn position(game: &Game) -> Position {
    let assumptions = Assumptions {
        net_komi: TurnKomi::TRAINED,
        trust: Trust::BOTH,
        compensation: 7.5,
        always_considers_pass: false,
        ..Assumptions::default()
    };
    Position::new(game, assumptions)
}

fn networks(folder: &Path) -> Vec<PathBuf> {
    match std::env::var_os("TENGEN_HEATMAP_WEIGHTS") {
        None => vec![support::comparison_weights(folder)],
        Some(all) => {
            let files = fs::read_dir(all).unwrap().flatten();
            files
                .map(|entry| entry.path())
                .filter(|path| path.is_file())
                .collect()
        }
    }
}

/// Positions from games of strong players if there is data, else from random games.
fn games(count: usize) -> Vec<Game> {
    let mut rng = rand::rngs::SmallRng::seed_from_u64(42);
    let records = support::data()
        .map(|data| kgs_records(&data))
        .unwrap_or_default();
    if records.is_empty() {
        eprintln!("skipped: no data, comparing on random games instead of real ones");
        return (0..count).map(|_| random_game(&mut rng)).collect();
    }
    let mut games = Vec::new();
    while games.len() < count {
        let text = &records[rng.random_range(0..records.len())];
        let Ok(collection) = sgf::read(text) else {
            continue;
        };
        let tree = &collection.games[0];
        let line = tree.main_line();
        let node = line[rng.random_range(0..line.len())];
        if let Ok(replay) = tree.replay(node)
            && replay.game.size() == BoardSize::NINETEEN
            && replay.game.positions()[0] == *go::Board::new(BoardSize::NINETEEN).all_stones()
            && replay.irregular.is_empty()
        {
            games.push(replay.game);
        }
    }
    games
}

fn random_game(rng: &mut impl RngExt) -> Game {
    let mut game = Game::new(BoardSize::NINETEEN, Komi::default());
    for _ in 0..rng.random_range(0..150) {
        let points: Vec<Point> = game.legal_points(game.to_move()).collect();
        let mv = if rng.random_range(0..40) == 0 {
            Move::Pass
        } else {
            Move::Play(points[rng.random_range(0..points.len())])
        };
        game.play(mv).unwrap();
    }
    game
}

/// The records in the first archive of games.
fn kgs_records(data: &Path) -> Vec<Vec<u8>> {
    let Ok(folder) = fs::read_dir(data.join("games/kgs-6d")) else {
        return Vec::new();
    };
    let mut archives: Vec<PathBuf> = folder.flatten().map(|entry| entry.path()).collect();
    archives.sort();
    let archive = archives
        .into_iter()
        .find(|file| file.to_string_lossy().ends_with(".tar.gz"));
    let Some(archive) = archive else {
        return Vec::new();
    };
    let mut bytes = Vec::new();
    GzDecoder::new(fs::File::open(archive).unwrap())
        .read_to_end(&mut bytes)
        .unwrap();
    tar_entries(&bytes)
}

/// The files of a tar archive that end in `.sgf`.
fn tar_entries(bytes: &[u8]) -> Vec<Vec<u8>> {
    const BLOCK: usize = 512;
    let mut entries = Vec::new();
    let mut at = 0;
    while let Some(header) = bytes.get(at..at + BLOCK) {
        let text = |range: std::ops::Range<usize>| {
            let field = &header[range];
            let end = field
                .iter()
                .position(|&byte| byte == 0)
                .unwrap_or(field.len());
            String::from_utf8_lossy(&field[..end]).trim().to_owned()
        };
        let length = usize::from_str_radix(&text(124..136), 8).unwrap_or(0);
        let content = bytes.get(at + BLOCK..at + BLOCK + length);
        if let (true, Some(content)) = (text(0..100).ends_with(".sgf"), content) {
            entries.push(content.to_vec());
        }
        at += BLOCK + length.div_ceil(BLOCK) * BLOCK;
    }
    entries
}

#[test]
fn a_games_records_are_byte_for_byte_leela_zeros() {
    let Some(program) = leelaz() else { return };
    let folder = tempfile::tempdir().unwrap();
    let weights = support::comparison_weights(folder.path());
    let mut other = start_leelaz(&program, &weights, &["-v", "8", "-s", "3", "-q"]);
    let mut game = Game::new(BoardSize::NINETEEN, Komi::default());
    for turn in 0..12 {
        // Half the moves come from outside, one of them a pass: those leave no record.
        let color = game.to_move();
        if turn % 4 == 1 {
            let mv = if turn == 5 {
                Move::Pass
            } else {
                Move::Play(Point::new(turn, 2))
            };
            other.ask(&format!("play {color} {mv}"));
            game.play(mv).unwrap();
        } else {
            let mv = other.ask(&format!("genmove {color}"));
            game.play(mv.parse().unwrap()).unwrap();
        }
    }
    for command in [
        "save_training saved",
        "dump_training w chunk",
        "dump_debug debug",
    ] {
        // It lower-cases file names, so ours must be lower case from the start.
        let (command, name) = command.rsplit_once(' ').unwrap();
        let target = short_path(name);
        other.ask(&format!("{command} {}", target.display()));
    }
    let saved = fs::read_to_string(short_path("saved")).unwrap();
    let steps = record::read_saved(&saved, BoardSize::NINETEEN).unwrap();
    assert_eq!(steps.len(), 9);
    assert_eq!(record::write_saved(&steps), saved);
    let chunk = record::write_chunk(steps.iter().map(|step| step.with_result(Color::White)));
    assert_eq!(chunk, unpacked(&short_path("chunk.0.gz")));
    let debug = record::write_debug(&steps, -1, &weights.to_string_lossy());
    assert_eq!(debug, unpacked(&short_path("debug.0.gz")));

    // The planes are what we would have recorded at the same moves.
    let mut replayed = Game::new(BoardSize::NINETEEN, Komi::default());
    let mut ours = Vec::new();
    for (turn, (color, mv)) in game.moves().enumerate() {
        if turn % 4 != 1 {
            ours.push((
                BitPlanes::of(replayed.size(), color, replayed.history()),
                color,
            ));
        }
        replayed.play_as(color, mv).unwrap();
    }
    let theirs: Vec<_> = steps
        .into_iter()
        .map(|step| (step.planes, step.to_move))
        .collect();
    assert!(ours == theirs);
    for name in ["saved", "chunk.0.gz", "debug.0.gz"] {
        let _ = fs::remove_file(short_path(name));
    }
}

/// A file in a folder whose name has no capital letters.
fn short_path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("tengen-{}-{name}", std::process::id()))
}

fn unpacked(file: &Path) -> String {
    let mut text = String::new();
    let file = fs::File::open(file).unwrap();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn supervised_records_are_byte_for_byte_leela_zeros() {
    let Some(program) = leelaz() else { return };
    let folder = tempfile::tempdir().unwrap();
    let weights = support::comparison_weights(folder.path());
    let game = "(;GM[1]FF[4]SZ[19]KM[6.5]RE[W+Resign];B[pd];W[dd];B[pq];W[dp];B[tt];W[qk];B[nc]\
                ;W[qf];B[pb];W[qc];B[qd];W[rd];B[re];W[rc];B[qe];W[tt];B[qh])";
    let handicap = "(;GM[1]FF[4]SZ[19]KM[0.5]HA[2]AB[dd][pp]RE[B+3.50];W[pd];B[dp];W[qn])";
    for (name, record) in [("even", game), ("handicap", handicap)] {
        let source = short_path(&format!("{name}.sgf"));
        let (theirs, ours) = (
            short_path(&format!("{name}-a")),
            short_path(&format!("{name}-b")),
        );
        fs::write(&source, record).unwrap();
        let mut other = start_leelaz(&program, &weights, &["-q"]);
        other.ask(&format!(
            "dump_supervised {} {}",
            source.display(),
            theirs.display()
        ));
        let input = Input::from_text("");
        let (mut engine, answers, _) =
            support::engine(19, support::quick_options(), Personality::LeelaZero, input);
        engine
            .handle(&format!(
                "dump_supervised {} {}",
                source.display(),
                ours.display()
            ))
            .unwrap();
        assert_eq!(answers.take(), "= \n\n");
        let file = |stem: &Path| PathBuf::from(format!("{}.0.gz", stem.display()));
        assert_eq!(unpacked(&file(&ours)), unpacked(&file(&theirs)), "{name}");
        for path in [source, file(&ours), file(&theirs)] {
            fs::remove_file(path).unwrap();
        }
    }
}
