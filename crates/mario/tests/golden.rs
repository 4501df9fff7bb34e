//! Vectors printed by the original model library. They are not part of this repository: the
//! tests read them from `TENGEN_DATA` or `../shared/data` and are skipped without them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use mario::{
    Board, Content, Example, PillList, Placement, Record, Resting, Rng, Speed, StallCounts,
    board_only, boxes, console_level, flood,
    timed::{Falling, search},
};
use rayon::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A golden file, or `None` (with a word about it) when the data is not there.
fn golden(name: &str) -> Option<Value> {
    let root = std::env::var_os("TENGEN_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let Ok(text) = std::fs::read_to_string(root.join("dr-mario").join(name)) else {
        println!("skipped: no data ({name})");
        return None;
    };
    Some(serde_json::from_str(&text).expect("golden files are JSON"))
}

fn rows(value: &Value) -> &Vec<Value> {
    value["rows"].as_array().expect("golden files have rows")
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn list_text(pills: &PillList) -> String {
    pills.as_slice().iter().map(ToString::to_string).collect()
}

#[test]
fn generator_states_match() {
    let Some(golden) = golden("rng.json") else {
        return;
    };
    for row in rows(&golden) {
        let mut rng = Rng::new(number(&row[0]) as u16);
        for state in row[1].as_array().unwrap() {
            assert_eq!(u64::from(rng.advance()), number(state));
        }
    }
}

#[test]
fn boards_and_pill_lists_match() {
    let Some(boards) = golden("boards.json") else {
        return;
    };
    for row in rows(&boards) {
        let (seed, level) = (number(&row[0]) as u16, number(&row[1]) as u8);
        assert_eq!(
            board_only(seed, level).to_string(),
            text(&row[2]),
            "{seed} {level}"
        );
        assert_eq!(
            console_level(seed, level).1.to_string(),
            text(&row[3]),
            "{seed} {level}"
        );
    }
    let Some(pills) = golden("pills.json") else {
        return;
    };
    for row in rows(&pills) {
        assert_eq!(
            list_text(&PillList::console(number(&row[0]) as u16)),
            text(&row[1])
        );
    }
}

#[test]
fn all_seeds_hash_to_the_published_sums() {
    let Some(golden) = golden("exhaustive_hashes.json") else {
        return;
    };
    let sum = |line: &(dyn Fn(u16) -> String + Sync)| -> String {
        let lines: Vec<String> = (2..=u16::MAX).into_par_iter().map(line).collect();
        let mut hash = Sha256::new();
        for line in lines {
            hash.update(line);
            hash.update("\n");
        }
        hash.finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    };
    for (level, expected) in golden["board_only"].as_object().unwrap() {
        let level: u8 = level.parse().unwrap();
        assert_eq!(
            sum(&|seed| board_only(seed, level).to_string()),
            text(expected)
        );
    }
    for (level, expected) in golden["level"].as_object().unwrap() {
        let level: u8 = level.parse().unwrap();
        let line = |seed: u16| {
            let (pills, board) = console_level(seed, level);
            list_text(&pills) + &board.to_string()
        };
        assert_eq!(sum(&line), text(expected));
    }
}

#[test]
fn speeds_match() {
    let Some(golden) = golden("gravity.json") else {
        return;
    };
    for (row, speed) in rows(&golden).iter().zip(Speed::ALL) {
        for (locked, frames) in row[1].as_array().unwrap().iter().enumerate() {
            assert_eq!(
                u64::from(speed.frames_per_row(locked as u32)),
                number(frames),
                "{}",
                row[0]
            );
        }
    }
}

#[test]
fn placements_match() {
    let Some(golden) = golden("placements.json") else {
        return;
    };
    for row in rows(&golden) {
        let mut board: Board = text(&row[0]).parse().unwrap();
        let content: Content = text(&row[1]).parse().unwrap();
        let outcome = board
            .place(content, number(&row[2]) as u8, number(&row[3]) as u8)
            .unwrap();
        assert_eq!(u64::from(outcome.viruses), number(&row[4]), "{row}");
        let fallen: Vec<u64> = row[5].as_array().unwrap().iter().map(number).collect();
        assert_eq!(
            outcome
                .rows_fallen()
                .iter()
                .map(|&n| u64::from(n))
                .collect::<Vec<_>>(),
            fallen
        );
        assert_eq!(board.to_string(), text(&row[6]), "{row}");
    }
}

fn placement(value: &Value) -> Placement {
    Placement::new(
        number(&value[0]) as u8,
        number(&value[1]) as u8,
        number(&value[2]) as u8,
    )
}

fn placements(value: &Value) -> BTreeSet<Placement> {
    value.as_array().unwrap().iter().map(placement).collect()
}

/// All four turns: the golden pills have two colours.
fn all(resting: Resting) -> BTreeSet<Placement> {
    resting
        .placements(mario::Pill::new(mario::Color::Red, mario::Color::Blue))
        .collect()
}

#[test]
fn untimed_reachability_matches() {
    let Some(golden) = golden("reach.json") else {
        return;
    };
    for row in rows(&golden) {
        let board: Board = text(&row["board"]).parse().unwrap();
        assert_eq!(all(flood(&board)), placements(&row["flood"]), "{board:?}");
        assert_eq!(all(boxes(&board)), placements(&row["approx"]), "{board:?}");
        let pressed = mario::presses(&board);
        assert_eq!(
            pressed.iter().map(|(at, _)| *at).collect::<BTreeSet<_>>(),
            all(flood(&board))
        );
    }
}

/// From this many frames a row on, all the searches agree on these boards.
const SLOW_ENOUGH: u8 = 8;

/// Both original searches prune, so ours may find more at high speed; it may miss nothing, and
/// never be slower than the newer one, which counts the locking frame as we do.
#[test]
fn timed_reachability_matches() {
    let Some(golden) = golden("reach.json") else {
        return;
    };
    rows(&golden).par_iter().for_each(|row| {
        let board: Board = text(&row["board"]).parse().unwrap();
        let untimed = all(flood(&board));
        for model in ["exact2020", "mid2025"] {
            for entry in row[model].as_array().unwrap() {
                let frames = number(&entry[1]) as u8;
                let start = Falling::launched(frames, entry[0].as_bool().unwrap());
                let schedules = search(&board, start, frames);
                let ours: BTreeSet<Placement> = schedules.keys().copied().collect();
                let theirs = placements(&entry[2]);
                assert!(
                    theirs.is_subset(&ours) && ours.is_subset(&untimed),
                    "{model} {frames}"
                );
                if frames >= SLOW_ENOUGH {
                    assert_eq!(ours, theirs, "{model} {frames}");
                }
                for timed in entry[2].as_array().unwrap() {
                    let (at, theirs) = (placement(timed), number(&timed[3]) as usize);
                    assert!(model == "exact2020" || schedules[&at].len() <= theirs);
                }
            }
        }
    });
}

/// Equal but for rounding in the chances.
fn close(a: &Example, b: &Example) -> bool {
    let chances = a.moves.values().zip(b.moves.values());
    a.moves.keys().eq(b.moves.keys())
        && chances.into_iter().all(|(a, b)| (a - b).abs() < 1e-9)
        && Example {
            moves: b.moves.clone(),
            ..a.clone()
        } == *b
}

#[test]
fn records_become_the_published_examples() {
    let Some(golden) = golden("replay_to_training.json") else {
        return;
    };
    let record: Record = text(&golden["record"]).parse().unwrap();
    let ours = Example::augmented(&Example::of_record(&record, StallCounts::AsLost).unwrap());
    let theirs: Vec<Example> = golden["examples"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
        .map(|(index, value)| Example::from_json(value, index + 1).unwrap())
        .collect();
    assert_eq!(ours.len(), theirs.len());
    // Some colour permutations give equal examples, so count them on both sides.
    for example in &theirs {
        let same = |all: &[Example]| all.iter().filter(|other| close(example, other)).count();
        assert_eq!(same(&ours), same(&theirs), "{example:?}");
    }
    let stalled = Record {
        end: mario::RecordEnd::Stall,
        ..record
    };
    for example in Example::of_record(&stalled, StallCounts::AsLost).unwrap() {
        assert_eq!(example.won, -1);
    }
}
