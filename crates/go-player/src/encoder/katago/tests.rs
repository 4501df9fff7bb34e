//! Inputs against KataGo's own, and against positions drawn here.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
};

use go::{BoardSize, Color, Game, Komi, Move, PointSet, Rules, Symmetry};
use net::{IoShape, OutputShape, Perspective, PlaneShape};
use rand::{RngExt, SeedableRng};
use search::{Game as _, SearchRng};
use serde_json::Value;

use super::{KataEncoder, KataScales, KataTraits, cell, features::Features};
use crate::{
    encoder::Encoder,
    network_view::NetworkView,
    position::{Assumptions, Position},
};

/// The folder with recorded inputs, or nothing and a sentence about it.
fn data(file: &str) -> Option<Vec<Value>> {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let folder = std::env::var_os("TENGEN_DATA").map_or(beside, PathBuf::from);
    let path = folder.join("katago").join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no data at {}", path.display());
        return None;
    };
    Some(serde_json::from_str(&text).unwrap())
}

fn color(letter: &str) -> Color {
    match letter {
        "B" => Color::Black,
        "W" => Color::White,
        other => panic!("{other}"),
    }
}

/// The game of a record. Moves are a list of pairs or one string.
fn game(record: &Value) -> Game {
    let size = BoardSize::new(record["size"].as_u64().unwrap() as usize).unwrap();
    let komi = Komi::new(record["komi"].as_f64().unwrap() as f32).unwrap();
    let mut game = Game::new(size, komi);
    game.set_rules(record["rules"].as_str().unwrap().parse().unwrap());
    let pairs = |value: &Value| -> Vec<(Color, Move)> {
        let words: Vec<String> = match value {
            Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
            Value::Array(list) => list
                .iter()
                .flat_map(|pair| pair.as_array().unwrap())
                .map(|word| word.as_str().unwrap().to_owned())
                .collect(),
            _ => Vec::new(),
        };
        words
            .chunks(2)
            .map(|pair| (color(&pair[0]), pair[1].parse().unwrap()))
            .collect()
    };
    let setup = pairs(&record["setup"]);
    if !setup.is_empty() {
        let of = |wanted| -> PointSet {
            setup
                .iter()
                .filter(|(color, _)| *color == wanted)
                .filter_map(|(_, mv)| mv.point())
                .collect()
        };
        game.set_up(&of(Color::Black), &of(Color::White), &PointSet::EMPTY)
            .unwrap();
    }
    let handicap = record["handicap"].as_array().into_iter().flatten();
    let handicap: Vec<_> = handicap
        .map(|vertex| vertex.as_str().unwrap().parse().unwrap())
        .collect();
    if !handicap.is_empty() {
        game.place_handicap(&handicap).unwrap();
    }
    for (color, mv) in pairs(&record["moves"]) {
        game.play_as(color, mv).unwrap();
    }
    game.set_to_move(color(record["toMove"].as_str().unwrap()));
    game
}

fn features(position: &Position) -> Features {
    let suicide = position.rules().suicide;
    Features::new(position, suicide, |board| {
        board.board(position.size()).ladder_marks()
    })
}

/// A plane as the records write it: bits from the top left, the first the most significant, in hexadecimal.
fn hexadecimal(size: BoardSize, plane: &PointSet) -> String {
    let area = size.area();
    let mut nibbles = vec![0u8; area.div_ceil(4)];
    for point in plane.iter() {
        let from_end = area - 1 - cell(size, point);
        let place = nibbles.len() - 1 - from_end / 4;
        nibbles[place] |= 1 << (from_end % 4);
    }
    let digits: String = nibbles.iter().map(|nibble| format!("{nibble:x}")).collect();
    let trimmed = digits.trim_start_matches('0');
    if trimmed.is_empty() {
        "0".into()
    } else {
        trimmed.to_owned()
    }
}

/// What differs between our inputs and the recorded ones.
fn differences(record: &Value) -> Vec<String> {
    let position = Position::new(&game(record), Assumptions::default());
    let ours = features(&position);
    let mut differences = Vec::new();
    for (number, expected) in record["planes"].as_array().unwrap().iter().enumerate() {
        let expected = expected.as_str().unwrap();
        let got = hexadecimal(position.size(), &ours.planes[number]);
        if got != expected {
            differences.push(format!("plane {number}: {got}, not {expected}"));
        }
    }
    for (number, expected) in record["globals"].as_array().unwrap().iter().enumerate() {
        if f64::from(ours.globals[number]) as f32 != expected.as_f64().unwrap() as f32 {
            differences.push(format!(
                "global {number}: {}, not {expected}",
                ours.globals[number]
            ));
        }
    }
    differences
}

#[test]
fn every_recorded_input_is_reproduced_bit_for_bit() {
    let mut compared = 0;
    let mut wrong = Vec::new();
    for file in ["positions.json", "inputs-random.json"] {
        for (index, record) in data(file).into_iter().flatten().enumerate() {
            compared += 1;
            let differences = differences(&record);
            if !differences.is_empty() {
                let name = record["name"].as_str().unwrap_or("");
                wrong.push(format!("{file} {index} {name}: {}", differences.join("; ")));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {compared} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(compared == 0 || compared == 392, "{compared}");
}

fn played(side: usize, komi: f32, rules: Rules, moves: &str) -> Game {
    let mut game = Game::new(BoardSize::new(side).unwrap(), Komi::new(komi).unwrap());
    game.set_rules(rules);
    for vertex in moves.split_whitespace() {
        game.play(vertex.parse().unwrap()).unwrap();
    }
    game
}

fn seen(game: &Game) -> Features {
    features(&Position::new(game, Assumptions::default()))
}

fn points(text: &str) -> PointSet {
    text.split_whitespace()
        .map(|vertex| vertex.parse::<go::Point>().unwrap())
        .collect()
}

#[test]
fn the_past_is_shown_as_long_as_the_sides_took_turns() {
    let moves = |game: &Game| {
        let planes = seen(game).planes;
        (9..14).map(|plane| planes[plane].len()).collect::<Vec<_>>()
    };
    let mut game = played(9, 7.0, Rules::TROMP_TAYLOR, "C3 G7 C7");
    assert_eq!(moves(&game), [1, 1, 1, 0, 0]);
    assert_eq!(seen(&game).planes[9], points("C7"));
    assert_eq!(seen(&game).planes[11], points("C3"));
    // Black again: its last move was not the opponent's.
    game.set_to_move(Color::Black);
    assert_eq!(moves(&game), [0; 5]);
    // White out of turn: shown, but nothing before it, since the move before was White's too.
    game.play_as(Color::White, "G3".parse().unwrap()).unwrap();
    game.play_as(Color::White, "E5".parse().unwrap()).unwrap();
    assert_eq!(moves(&game), [1, 0, 0, 0, 0]);
}

#[test]
fn a_pass_is_a_global_and_friendly_rules_hide_it() {
    let passes = |rules, moves| {
        let globals = seen(&played(9, 7.0, rules, moves)).globals;
        (globals[..5].to_vec(), globals[14])
    };
    let strict = Rules::TROMP_TAYLOR;
    assert_eq!(
        passes(strict, "C3 pass"),
        (vec![1.0, 0.0, 0.0, 0.0, 0.0], 1.0)
    );
    assert_eq!(
        passes(strict, "C3 pass E5"),
        (vec![0.0, 1.0, 0.0, 0.0, 0.0], 0.0)
    );
    assert_eq!(
        passes(strict, "C3 pass pass"),
        (vec![1.0, 0.0, 0.0, 0.0, 0.0], 1.0)
    );
    assert_eq!(passes(Rules::CHINESE, "C3 pass"), (vec![0.0; 5], 0.0));
    assert_eq!(
        passes(Rules::JAPANESE, "C3 pass"),
        (vec![1.0, 0.0, 0.0, 0.0, 0.0], 1.0)
    );
    let hidden = seen(&played(9, 7.0, Rules::CHINESE, "C3 E5 G7 pass"));
    assert!((9..14).all(|plane| hidden.planes[plane].is_empty()));
}

#[test]
fn komi_is_the_movers_and_waves_with_the_boards_parity() {
    let komi = |side, komi, moves| {
        let globals = seen(&played(side, komi, Rules::TROMP_TAYLOR, moves)).globals;
        (globals[5] * 20.0, globals[18])
    };
    // An odd board: a whole komi of its parity is in the middle between two scores.
    assert_eq!(komi(19, 7.5, ""), (-7.5, -0.5));
    assert_eq!(komi(19, 7.5, "D4"), (7.5, 0.5));
    assert_eq!(komi(19, 7.0, ""), (-7.0, 0.0));
    assert_eq!(komi(19, 6.5, ""), (-6.5, 0.5));
    assert_eq!(komi(19, 6.5, "D4"), (6.5, -0.5));
    assert_eq!(komi(6, 6.0, "D4"), (6.0, 0.0));
    assert_eq!(komi(6, 6.5, "D4"), (6.5, 0.5));
    assert_eq!(
        komi(5, 1000.0, "C3").0,
        45.0,
        "cut off at the area and twenty"
    );
}

#[test]
fn territory_rules_hide_areas_and_count_stones_played() {
    let first = seen(&played(9, 6.5, Rules::JAPANESE, "C3"));
    assert_eq!(first.globals[5] * 20.0, 7.5);
    let both = seen(&played(9, 6.5, Rules::JAPANESE, "C3 G7"));
    assert_eq!(both.globals[5] * 20.0, -6.5);
    assert_eq!(
        (both.globals[9], both.globals[10], both.globals[18]),
        (1.0, 1.0, 0.0)
    );
    assert!(first.planes[18].is_empty() && first.planes[19].is_empty());
    let area = seen(&played(9, 6.5, Rules::CHINESE, "C3"));
    assert_eq!(
        area.planes[19],
        PointSet::full(BoardSize::NINE),
        "one stone owns the board"
    );
}

#[test]
fn handicap_stones_pay_by_the_rules() {
    let komi = |rules: Rules, moves: &[&str]| {
        let mut game = Game::new(BoardSize::NINE, Komi::new(6.5).unwrap());
        game.set_rules(rules);
        for vertex in moves {
            game.play_as(Color::Black, vertex.parse().unwrap()).unwrap();
        }
        seen(&game).globals[5] * 20.0
    };
    let three = ["C3", "G7", "C7"];
    assert_eq!(komi(Rules::AGA, &three), 8.5);
    assert_eq!(komi(Rules::CHINESE, &three), 9.5);
    assert_eq!(komi(Rules::NEW_ZEALAND, &three), 6.5);
    assert_eq!(
        komi(Rules::AGA, &three[..1]),
        6.5,
        "one stone is no handicap"
    );
}

#[test]
fn ko_and_superko_share_a_plane() {
    // White retook the ko at B2: C2 is forbidden at once, and after two passes still by superko.
    let ko = "B1 C1 A2 D2 B3 C3 C2 B2";
    for rules in [Rules::TROMP_TAYLOR, Rules::CHINESE, Rules::AGA] {
        assert_eq!(seen(&played(5, 7.0, rules, ko)).planes[6], points("C2"));
    }
    let later = format!("{ko} pass pass");
    let plane = |rules| seen(&played(5, 7.0, rules, &later)).planes[6];
    assert_eq!(plane(Rules::TROMP_TAYLOR), points("C2"));
    assert_eq!(plane(Rules::CHINESE), PointSet::EMPTY);
}

#[test]
fn ladders_of_the_last_two_boards_are_shown_as_they_were() {
    // White A3 stands on the edge below Black's wall and has nowhere to run.
    let game = played(5, 7.0, Rules::TROMP_TAYLOR, "B3 A3 B2 D4 B4");
    let now = seen(&game);
    assert_eq!(now.planes[14], points("A3"));
    assert_eq!(
        now.planes[17],
        PointSet::EMPTY,
        "White is to move: no Black chain is caught"
    );
    // Two moves ago the wall was a stone shorter, and the corner still too small to run to.
    assert_eq!(now.planes[16], points("A3"));
    let mut pass = game.clone();
    pass.play(Move::Pass).unwrap();
    let passed = seen(&pass);
    assert_eq!(passed.planes[14], points("A3"));
    assert_eq!(
        passed.planes[15], now.planes[14],
        "the plane moves on with the board"
    );
    assert_eq!(passed.planes[16], now.planes[15]);
    assert_eq!(
        passed.planes[17],
        points("A2 A4"),
        "Black catches it from either side"
    );
}

fn encoder(side: usize) -> KataEncoder {
    encoder_of(side, 8, 4)
}

/// An encoder for a network of this version with so many score outputs.
fn encoder_of(side: usize, version: u32, scores: usize) -> KataEncoder {
    let area = side * side;
    let mut end = 0;
    let outputs = [
        ("policy", area + 1),
        ("policy_optimistic", area + 1),
        ("value", 3),
        ("score", scores),
        ("ownership", area),
    ];
    let outputs = outputs.map(|(name, len)| {
        end += len;
        OutputShape {
            name: name.into(),
            range: end - len..end,
        }
    });
    let shape = IoShape {
        input: PlaneShape {
            planes: super::PLANES,
            height: side,
            width: side,
        },
        globals: super::GLOBALS,
        outputs: outputs.into(),
        perspective: Perspective::SideToMove,
    };
    let score_error = if version < 13 { 30.0 } else { 150.0 };
    let traits = KataTraits {
        version,
        scales: KataScales {
            score_error,
            ..KataScales::default()
        },
        area_under_suicide: false,
        has_metadata: false,
    };
    KataEncoder::new(&shape, traits).unwrap()
}

fn row(encoder: &KataEncoder, position: &Position, symmetry: Symmetry) -> Vec<f32> {
    let area = position.size().area();
    let mut row = vec![9.0; super::PLANES * area + super::GLOBALS];
    encoder.write(position, symmetry, &mut row);
    row
}

#[test]
fn symmetries_flip_first_and_transpose_then() {
    let side = 5;
    let encoder = encoder(side);
    let position = Position::new(
        &played(side, 7.0, Rules::CHINESE, "B1 C1 A2 D2 B3 C3 C2 B2"),
        Assumptions::default(),
    );
    let plain = row(&encoder, &position, Symmetry::IDENTITY);
    for symmetry in Symmetry::ALL {
        let bits = symmetry.number();
        let turned = row(&encoder, &position, symmetry);
        let planes = &plain[..super::PLANES * side * side];
        for (cell, &value) in planes.iter().enumerate() {
            let (plane, place) = (cell / (side * side), cell % (side * side));
            let (mut y, mut x) = (place / side, place % side);
            if bits & 1 != 0 {
                y = side - 1 - y;
            }
            if bits & 2 != 0 {
                x = side - 1 - x;
            }
            if bits & 4 != 0 {
                (x, y) = (y, x);
            }
            assert_eq!(
                turned[plane * side * side + y * side + x],
                value,
                "symmetry {bits}"
            );
        }
        assert_eq!(
            turned[super::PLANES * side * side..],
            plain[super::PLANES * side * side..]
        );
    }
}

#[test]
fn keys_are_equal_exactly_when_rows_are() {
    let encoder = encoder(5);
    let mut rng = SearchRng::seed_from_u64(3);
    let mut known: HashMap<u128, Vec<f32>> = HashMap::new();
    let mut rows: HashSet<Vec<u32>> = HashSet::new();
    for number in 0..60 {
        let rules = [
            Rules::TROMP_TAYLOR,
            Rules::CHINESE,
            Rules::AGA,
            Rules::JAPANESE,
        ][number % 4];
        let mut position = Position::new(&played(5, 7.0, rules, ""), Assumptions::default());
        for _ in 0..40 {
            let mut moves = Vec::new();
            position.moves(&mut moves);
            position.play(moves[rng.random_range(0..moves.len())]);
            let row = row(&encoder, &position, Symmetry::IDENTITY);
            // Optimism at the root is read differently, so a root has a key of its own; these are all below one.
            let before = known.insert(encoder.key(&position), row.clone());
            assert!(before.is_none_or(|before| before == row));
            rows.insert(row.iter().map(|value| value.to_bits()).collect());
        }
    }
    assert_eq!(known.len(), rows.len(), "one key for each row");
    assert!(rows.len() > 1000);
}

#[test]
fn ladders_of_earlier_boards_are_not_read_again() {
    let encoder = encoder(9);
    let mut position = Position::new(
        &played(9, 7.0, Rules::TROMP_TAYLOR, ""),
        Assumptions::default(),
    );
    let moves = "D4 C4 C5 D5 E5 D6 B4 C3";
    row(&encoder, &position, Symmetry::IDENTITY);
    for vertex in moves.split_whitespace() {
        position.play(vertex.parse().unwrap());
        row(&encoder, &position, Symmetry::ALL[3]);
    }
    let readings = encoder.ladders.statistics().misses;
    assert_eq!(readings, 9, "one for each board");
}

fn numbers(value: &Value) -> Vec<f32> {
    let list = value.as_array().into_iter().flatten();
    list.map(|number| number.as_f64().unwrap() as f32).collect()
}

fn assert_near(ours: f32, printed: &Value, tolerance: f64, what: &str) {
    let printed = printed.as_f64().unwrap();
    let difference = (f64::from(ours) - printed).abs();
    assert!(difference <= tolerance, "{what}: {ours}, not {printed}");
}

/// KataGo's raw numbers, read by us, are what KataGo prints about them. Printed numbers have three or six decimals,
/// raw ones four to seven digits.
#[test]
fn recorded_outputs_are_read_as_katago_reads_them() {
    let files = [
        ("outputs-g170e-b15c192.json", 8, 4),
        ("outputs-b18c384nbt-s9996.json", 14, 6),
        ("outputs-b18c384nbt-s6582.json", 14, 6),
        ("outputs-b10c384h6.json", 15, 6),
    ];
    for (file, version, scores) in files {
        let (Some(outputs), Some(positions)) = (data(file), data("positions.json")) else {
            return;
        };
        for (output, record) in outputs.iter().zip(&positions) {
            assert_eq!(output["name"], record["name"]);
            let what = format!("{file} {}", output["name"]);
            check_outputs(output, record, version, scores, &what);
        }
    }
}

fn check_outputs(output: &Value, record: &Value, version: u32, scores: usize, what: &str) {
    let game = game(record);
    let size = game.size();
    let encoder = encoder_of(size.get(), version, scores);
    let normal = numbers(&output["policyLogits"]);
    let mut row = normal.clone();
    let optimistic = numbers(&output["policyLogitsOptimistic"]);
    row.extend(if optimistic.is_empty() {
        normal
    } else {
        optimistic
    });
    for name in ["valueLogits", "scoreRaw", "ownershipPreTanh"] {
        row.extend(numbers(&output[name]));
    }
    let read = |root_optimism| {
        let view = NetworkView {
            root_optimism,
            ..NetworkView::default()
        };
        let assumptions = Assumptions {
            view,
            ..Assumptions::default()
        };
        encoder.read(&Position::new(&game, assumptions), Symmetry::IDENTITY, &row)
    };
    let opinion = read(0.0);
    let printed = &output["printed"];
    let is_white = game.to_move() == Color::White;
    let sign = if is_white { 1.0 } else { -1.0 };
    let win = opinion.winrate - opinion.no_result / 2.0;
    let loss = 1.0 - opinion.no_result - win;
    let white_win = if is_white { win } else { loss };
    assert_near(white_win, &printed["whiteWin"], 2e-6, what);
    assert_near(opinion.no_result, &printed["noResult"], 2e-6, what);
    let score = opinion.score.unwrap();
    assert_near(sign * score.lead, &printed["whiteLead"], 6e-4, what);
    assert_near(
        sign * score.mean,
        &printed["whiteScoreSelfplay"],
        6e-4,
        what,
    );
    let square = f64::from(score.mean_square);
    assert_near(
        score.mean_square,
        &printed["whiteScoreSelfplaySq"],
        6e-4 + 1e-6 * square,
        what,
    );
    assert_near(
        score.variance_time.unwrap_or(-1.0),
        &printed["varTimeLeft"],
        6e-4,
        what,
    );
    let errors = score
        .errors
        .map_or([-1.0; 2], |errors| [errors.win_loss, errors.score]);
    assert_near(errors[0], &printed["shorttermWinlossError"], 6e-4, what);
    assert_near(errors[1], &printed["shorttermScoreError"], 6e-4, what);
    let ownership = opinion.ownership.as_ref().unwrap();
    let last = size.get() - 1;
    let corners = [(0, last), (last, last), (0, 0), (last, 0)];
    for ((x, y), corner) in corners
        .into_iter()
        .zip(output["whiteOwnershipCorners"].as_array().unwrap())
    {
        assert_near(
            sign * ownership[size.index(go::Point::new(x, y))],
            corner,
            1e-4,
            what,
        );
    }
    for (optimism, top, pass) in [
        (0.0, &output["topPolicy"], &printed["policyPass"]),
        (
            0.2,
            &output["topPolicyOptimism0.2"],
            &output["policyPassOptimism0.2"],
        ),
    ] {
        let policy = read(optimism).policy;
        for entry in top.as_array().into_iter().flatten() {
            let index = match entry[0].as_str().unwrap().parse().unwrap() {
                Move::Play(point) => size.index(point),
                Move::Pass => size.area(),
            };
            assert_near(policy[index], &entry[1], 2e-4, what);
        }
        if !pass.is_null() {
            assert_near(policy[size.area()], pass, 2e-4, what);
        }
    }
}
