//! Grafted networks against their base.

use go::{Board, BoardSize, Color, Point};
use ladder::{Gains, GraftError, LadderNetwork, graft, input_row};
use net::{
    Layer, Reading, Reference,
    leela::{LeelaNetwork, LeelaShape, LeelaVersion, POLICY, TextStyle, VALUE_LOGIT},
};

const SIZE: BoardSize = BoardSize::NINE;

const GAINS: Gains = Gains {
    escape_works: 1.0,
    escape_fails: -3.0,
    chase_works: 2.0,
    chase_fails: -0.5,
    value: 0.5,
};

fn ladder() -> LadderNetwork {
    LadderNetwork::new(SIZE.get(), 6)
}

fn base(version: LeelaVersion, blocks: usize) -> LeelaNetwork {
    LeelaNetwork::random(version, LeelaShape::stock(SIZE.get(), blocks, 32), 3)
}

/// Policy logits and the value before its tanh.
fn logits(network: &LeelaNetwork, board: &Board, to_move: Color) -> (Vec<f64>, f64) {
    let mut raw = network.to_network();
    for output in raw.heads.iter_mut().flat_map(|head| &mut head.outputs) {
        output.reading = Reading::Raw;
    }
    let shape = raw.io_shape();
    let row = Reference::new(raw)
        .unwrap()
        .evaluate_one(&input_row(board, to_move));
    let policy = row[shape.output(POLICY).unwrap()].to_vec();
    (policy, row[shape.output(VALUE_LOGIT).unwrap().start])
}

/// A black stone in atari that cannot run, and nothing else.
fn caught() -> (Board, Point) {
    let mut board = Board::new(SIZE);
    let _ = board.play(Point::new(2, 2), Color::Black);
    for (x, y) in [(1, 2), (2, 1), (3, 2), (1, 3)] {
        let _ = board.play(Point::new(x, y), Color::White);
    }
    (board, Point::new(2, 3))
}

#[test]
fn without_a_ladder_the_graft_is_the_base() {
    let mut board = Board::new(SIZE);
    for (x, y, color) in [
        (2, 2, Color::Black),
        (6, 6, Color::White),
        (2, 6, Color::Black),
    ] {
        let _ = board.play(Point::new(x, y), color);
    }
    for version in [LeelaVersion::V1, LeelaVersion::V2] {
        // Shorter and longer than the ladder's nine blocks.
        for blocks in [2, 11] {
            let base = base(version, blocks);
            let gains = GAINS;
            let grafted = graft(&base, ladder().leela(), gains).unwrap();
            for to_move in Color::BOTH {
                let before = logits(&base, &board, to_move);
                assert_eq!(
                    logits(&grafted, &board, to_move),
                    before,
                    "{version:?}, {blocks} blocks"
                );
            }
        }
    }
}

#[test]
fn a_verdict_moves_its_own_logit_and_the_value_only() {
    let (board, extension) = caught();
    let gains = GAINS;
    for (version, sign) in [
        (LeelaVersion::V1, [-1.0, 1.0]),
        (LeelaVersion::V2, [-1.0, -1.0]),
    ] {
        let base = base(version, 2);
        let grafted = graft(&base, ladder().leela(), gains).unwrap();
        // Black to move cannot save the stone; in a version 2 file the value is Black's.
        let (old_policy, old_value) = logits(&base, &board, Color::Black);
        let (new_policy, new_value) = logits(&grafted, &board, Color::Black);
        for (index, (old, new)) in old_policy.iter().zip(&new_policy).enumerate() {
            let expected = if index == SIZE.index(extension) {
                -3.0
            } else {
                0.0
            };
            assert!(
                (new - old - expected).abs() < 1e-5,
                "{index}: {old} became {new}"
            );
        }
        assert!(
            (new_value - old_value - sign[0] * 0.4).abs() < 1e-4,
            "{version:?}"
        );
        // White to move, with the stone on two liberties: the atari works.
        let mut chase = Board::new(SIZE);
        let _ = chase.play(Point::new(2, 2), Color::Black);
        for (x, y) in [(1, 2), (2, 1), (1, 3)] {
            let _ = chase.play(Point::new(x, y), Color::White);
        }
        let (_, old_value) = logits(&base, &chase, Color::White);
        let (policy, new_value) = logits(&grafted, &chase, Color::White);
        let (old_policy, _) = logits(&base, &chase, Color::White);
        let atari = SIZE.index(Point::new(3, 2));
        assert!((policy[atari] - old_policy[atari] - 2.0).abs() < 1e-5);
        assert!(sign[1] * (new_value - old_value) > 0.3, "{version:?}");
    }
}

#[test]
fn the_graft_survives_its_file_and_runs_in_groups() {
    let (board, _) = caught();
    let grafted = graft(
        &base(LeelaVersion::V1, 2),
        ladder().leela(),
        Gains::default(),
    )
    .unwrap();
    let text = grafted.to_exact_text(TextStyle::default());
    let read = LeelaNetwork::parse(std::path::Path::new("graft.txt"), &text).unwrap();
    assert_eq!(read, grafted);
    let network = read.to_network();
    let Layer::Residual { body, .. } = &network.trunk[1] else {
        panic!("a block is residual");
    };
    let Layer::Conv(conv) = &body[0] else {
        panic!("a block begins with a convolution");
    };
    assert!(
        conv.groups.len() >= 3,
        "the base and the two lanes of the ladder network"
    );
    assert_eq!(
        logits(&read, &board, Color::Black),
        logits(&grafted, &board, Color::Black)
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let base = base(LeelaVersion::V1, 2);
    let other_board = LadderNetwork::new(13, 4);
    let refused = graft(&base, other_board.leela(), Gains::default());
    assert_eq!(
        refused,
        Err(GraftError::Size {
            base: 9,
            ladder: 13
        })
    );
    assert!(matches!(
        graft(&base, &base, Gains::default()),
        Err(GraftError::NotALadder(_))
    ));
    let gains = Gains {
        escape_fails: f32::NAN,
        ..Gains::default()
    };
    assert!(matches!(
        graft(&base, ladder().leela(), gains),
        Err(GraftError::Gain(_))
    ));
}
