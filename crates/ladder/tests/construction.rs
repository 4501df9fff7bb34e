//! The compiled network against the formulas it was compiled from.

use std::collections::HashMap;

use go::{Board, BoardSize, Color, LadderReader, Point, Symmetry};
use ladder::{
    Boards, Compiled, Kind, LadderNetwork, Original, Plane, Probe, Recipe, Snapshot, Start,
    boards_of, emulate, examine, input_row, input_values, kind_of, planes_of, sets,
};
use net::{Layer, Reference};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SIZE: BoardSize = BoardSize::NINETEEN;

/// Boards of every sort: random play, planted on the edge and in the open, running.
fn some_boards(seed: u64, count: usize) -> Vec<Board> {
    let recipes = [
        Recipe::RandomPlay,
        Recipe::Planted {
            kind: Kind::Escape,
            strays: 40,
            start: Start::StoneAnywhere,
        },
        Recipe::Planted {
            kind: Kind::Chase,
            strays: 20,
            start: Start::Bend,
        },
        Recipe::Running,
    ];
    let sorts = recipes.map(|recipe| Boards::new(recipe, SIZE, seed).take(count));
    sorts.into_iter().flatten().collect()
}

/// Runs the tower layer by layer and compares every place of every layer with the emulation; places that no plane
/// occupies must be zero.
fn assert_same(compiled: &Compiled, layers: &[Snapshot], board: &Board, to_move: Color) {
    let network = compiled.leela.to_network();
    let filters = compiled.leela.shape().filters;
    let everything: Vec<usize> = (0..filters).collect();
    let input = input_row(board, to_move);
    for (index, snapshot) in layers.iter().enumerate() {
        let mut part = planes_of(&network, 1 + index.div_ceil(2), &everything);
        if index % 2 == 1 {
            // Inner planes: the last block's first convolution alone.
            let Some(Layer::Residual { mut body, .. }) = part.trunk.pop() else {
                panic!("blocks are residual");
            };
            part.trunk.push(body.remove(0));
        }
        let row = Reference::new(part).unwrap().evaluate_one(&input);
        let by_place: HashMap<usize, Plane> = compiled.places[index]
            .iter()
            .map(|(&plane, &place)| (place, plane))
            .collect();
        for (place, numbers) in row.chunks_exact(SIZE.area()).enumerate() {
            for (cell, &number) in numbers.iter().enumerate() {
                let expected = by_place
                    .get(&place)
                    .map_or(0, |plane| snapshot.values[plane][cell]);
                assert_eq!(
                    number, expected as f64,
                    "{}, place {place}, cell {cell}",
                    snapshot.layer
                );
            }
        }
    }
}

#[test]
fn every_channel_equals_the_integer_emulation() {
    let network = LadderNetwork::new(SIZE.get(), 4);
    for (index, board) in some_boards(7, 1).iter().enumerate() {
        let to_move = Color::BOTH[index % 2];
        let layers = emulate(
            &network.reader.circuit,
            SIZE.get(),
            &input_values(board, to_move),
        );
        assert_same(&network.compiled, &layers, board, to_move);
    }
}

#[test]
fn no_plane_outgrows_the_value_that_ends_planes() {
    let network = LadderNetwork::new(SIZE.get(), 16);
    for board in some_boards(8, 3) {
        let layers = emulate(
            &network.reader.circuit,
            SIZE.get(),
            &input_values(&board, Color::White),
        );
        // Inner planes end with their block anyway.
        for layer in layers.into_iter().step_by(2) {
            let largest = layer.values.values().flatten().max().copied().unwrap_or(0);
            assert!(
                largest < i64::from(ladder::LARGEST_VALUE),
                "{}: {largest}",
                layer.layer
            );
        }
    }
}

#[test]
fn the_fast_forward_pass_gives_the_emulated_verdicts() {
    let network = LadderNetwork::new(SIZE.get(), 16);
    let reader = &network.reader;
    let planes = [
        reader.escape_ok,
        reader.escape_bad,
        reader.chase_ok,
        reader.chase_bad,
    ];
    let probe = Probe::new(&network.compiled, &planes).unwrap();
    for board in some_boards(9, 6) {
        for to_move in Color::BOTH {
            let layers = emulate(&reader.circuit, SIZE.get(), &input_values(&board, to_move));
            let expected = &layers.last().unwrap().values;
            let seen = &probe.read(&[(&board, to_move)])[0];
            for plane in planes {
                for (number, &value) in seen.plane(plane).iter().zip(&expected[&plane]) {
                    assert!((number - value as f32).abs() < 1e-3, "{number} for {value}");
                }
            }
        }
    }
}

fn turned(board: &Board, symmetry: Symmetry) -> Board {
    let mut turned = Board::new(SIZE);
    for point in SIZE.points() {
        if let Some(color) = board.stone(point) {
            let _ = turned.play(symmetry.point(SIZE, point), color);
        }
    }
    turned
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn all_symmetries_and_colours_give_the_same_answer(seed in any::<u64>()) {
        let network = LadderNetwork::new(SIZE.get(), 16);
        let circuit = &network.reader.circuit;
        let reader = &network.reader;
        for board in some_boards(seed, 1) {
            let verdicts = |board: &Board, to_move| {
                let layers = emulate(circuit, SIZE.get(), &input_values(board, to_move));
                let last = layers.into_iter().last().unwrap().values;
                [reader.escape_ok, reader.escape_bad, reader.chase_ok, reader.chase_bad].map(|plane| last[&plane].clone())
            };
            let straight = verdicts(&board, Color::Black);
            for symmetry in Symmetry::ALL {
                let other = verdicts(&turned(&board, symmetry), Color::Black);
                for (plane, other) in straight.iter().zip(&other) {
                    for point in SIZE.points() {
                        prop_assert_eq!(plane[SIZE.index(point)], other[SIZE.index(symmetry.point(SIZE, point))]);
                    }
                }
            }
            let mut swapped = Board::new(SIZE);
            for point in SIZE.points() {
                if let Some(color) = board.stone(point) {
                    let _ = swapped.play(point, color.opponent());
                }
            }
            prop_assert_eq!(straight, verdicts(&swapped, Color::White));
        }
    }
}

/// Stones that all have three liberties or more.
fn without_ladders(seed: u64) -> Board {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut board = Board::new(SIZE);
    for _ in 0..60 {
        let point = Point::new(
            rng.random_range(0..SIZE.get()),
            rng.random_range(0..SIZE.get()),
        );
        let mut tried = board.clone();
        let color = Color::BOTH[rng.random_range(0..2)];
        if tried.is_legal(point, color) {
            let _ = tried.play(point, color);
            if LadderReader::questions(&tried).is_empty() {
                board = tried;
            }
        }
    }
    board
}

#[test]
fn a_board_without_ladders_gives_exactly_zero() {
    let candidate = LadderNetwork::new(SIZE.get(), 16).candidate().unwrap();
    let boards = (0..40).map(without_ladders);
    let empty = std::iter::once(Board::new(SIZE));
    let marks = examine(&[&candidate], empty.chain(boards), None, |_| {});
    assert_eq!(marks[0].boards_without_ladder, 41);
    assert_eq!(marks[0].false_alarms, 0);
}

/// The full sets are the examination's; these are small ones with a margin for their size.
#[test]
fn the_verdicts_agree_with_the_exact_reader_on_most_of_its_ladders() {
    let ours = LadderNetwork::new(SIZE.get(), 16).candidate().unwrap();
    for set in sets(150) {
        let marks = examine(&[&ours], boards_of(&set, SIZE, 11), kind_of(&set), |_| {});
        let mut score = marks[0].escape;
        score.join(marks[0].chase);
        let (accuracy, coverage) = if set.recipe == Recipe::RandomPlay {
            (0.92, 0.80)
        } else {
            (0.94, 0.85)
        };
        assert!(score.accuracy() >= accuracy, "{}: {score:?}", set.name);
        assert!(score.coverage() >= coverage, "{}: {score:?}", set.name);
    }
}

#[test]
fn verdicts_stand_only_where_a_string_has_few_liberties() {
    let network = LadderNetwork::new(SIZE.get(), 16);
    let reader = &network.reader;
    let (mut verdicts, mut misplaced) = (0, 0);
    for board in some_boards(12, 6) {
        for to_move in Color::BOTH {
            let layers = emulate(&reader.circuit, SIZE.get(), &input_values(&board, to_move));
            let last = &layers.last().unwrap().values;
            for (planes, prey, liberties) in [
                ([reader.escape_ok, reader.escape_bad], to_move, 1),
                ([reader.chase_ok, reader.chase_bad], to_move.opponent(), 2),
            ] {
                for point in SIZE.points() {
                    if planes
                        .iter()
                        .all(|plane| last[plane][SIZE.index(point)] == 0)
                    {
                        continue;
                    }
                    verdicts += 1;
                    let mut beside = board.adjacent_blocks(point, prey);
                    let is_liberty = board.is_empty(point)
                        && beside.any(|block| board.liberty_count(block) == liberties);
                    misplaced += usize::from(!is_liberty);
                }
            }
        }
    }
    // Liberties that differ by a vector of the lattice are taken for one.
    assert!(
        verdicts > 100 && misplaced * 100 <= verdicts,
        "{misplaced} of {verdicts}"
    );
}

/// A runner in the south-west corner and a friend 10 steps up its path, in atari or before the atari.
fn far_friend(in_atari: bool) -> Board {
    let mut board = Board::new(SIZE);
    let at = |x, y| Point::new(x, y);
    let _ = board.play(at(2, 2), Color::Black);
    for hunter in [at(1, 2), at(2, 1), at(1, 3)] {
        let _ = board.play(hunter, Color::White);
    }
    if in_atari {
        let _ = board.play(at(3, 2), Color::White);
    }
    let _ = board.play(at(12, 13), Color::Black);
    board
}

#[test]
fn what_is_not_read_far_enough_is_good_for_the_side_to_move() {
    let verdicts = |steps| {
        let network = LadderNetwork::new(SIZE.get(), steps);
        let reader = &network.reader;
        let escapes = [reader.escape_ok, reader.escape_bad];
        let chases = [reader.chase_ok, reader.chase_bad];
        let probe = Probe::new(&network.compiled, &[escapes, chases].concat()).unwrap();
        let (run, chase) = (far_friend(true), far_friend(false));
        let seen = probe.read(&[(&run, Color::Black), (&chase, Color::White)]);
        [
            escapes.map(|plane| seen[0].at(plane, SIZE, Point::new(2, 3)).round()),
            chases.map(|plane| seen[1].at(plane, SIZE, Point::new(3, 2)).round()),
        ]
    };
    assert_eq!(verdicts(16), [[1.0, 0.0], [0.0, 1.0]], "the friend is seen");
    assert_eq!(verdicts(4), [[1.0, 0.0], [1.0, 0.0]], "both may be tried");
}

#[test]
fn the_original_has_the_size_of_the_original() {
    let original = Original::new();
    let shape = original.leela().shape();
    assert_eq!((shape.blocks, shape.filters, shape.lines()), (24, 64, 211));
}
