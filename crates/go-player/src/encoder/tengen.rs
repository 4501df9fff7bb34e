//! Our own networks for every board: 16 planes and 15 globals in, policy, value, lead, spread and ownership out.
//!
//! The planes and globals are a part of what KataGo's networks see, so that one of those can teach them. The lead that
//! such a network says is that of the stones alone: komi is added when it is read, so points of komi are points of lead.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
};

use go::{BoardSize, LadderMarks, PointSet, Symmetry};
use net::{Cache, IoShape, Perspective};

use super::{
    Encoder, NotForGo, Opinion, ScoreOpinion,
    katago::{LADDER_BYTES, Shown, board_key, legal_policy, self_komi},
};
use crate::{
    planes::Orientation,
    position::{PastBoard, Position},
};

/// Numbers of the value head are in so many points.
pub const SCORE_UNIT: f32 = 10.0;

/// Planes by number.
mod plane {
    pub const BOARD: usize = 0;
    pub const OWN: usize = 1;
    pub const THEIRS: usize = 2;
    /// Chains of one, two and three liberties.
    pub const LIBERTIES: usize = 3;
    pub const KO: usize = 6;
    /// The last move, and four before it.
    pub const MOVES: usize = 7;
    /// Caught in a ladder, and the moves that catch chains of the opponent.
    pub const LADDERS: usize = 12;
    pub const WORKING: usize = 13;
    /// Stones, and what is settled around them.
    pub const OWN_AREA: usize = 14;
    pub const THEIR_AREA: usize = 15;
}

/// The globals of a KataGo network that are shown: passes, komi, ko, suicide, scoring, tax, whether a pass ends the
/// game, the button, and the parity of komi. The others are for searches that only KataGo's networks know.
const SHOWN_GLOBALS: [usize; TengenFeatures::GLOBALS] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 17, 18];

/// What our own networks are shown of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct TengenFeatures {
    /// The planes, each as the points where it is one.
    pub planes: [PointSet; Self::PLANES],
    /// Numbers about the whole position.
    pub globals: [f32; Self::GLOBALS],
    /// Komi as the side to move gets it: the lead is that of the stones and this.
    pub self_komi: f32,
}

impl TengenFeatures {
    /// Planes of an input row.
    pub const PLANES: usize = 16;
    /// Globals of an input row, after the planes.
    pub const GLOBALS: usize = 15;

    /// What a network is shown of a position.
    pub fn new(position: &Position) -> TengenFeatures {
        TengenFeatures::with_ladders(position, |board| {
            board.board(position.size()).ladder_marks()
        })
    }

    fn with_ladders(
        position: &Position,
        ladders: impl Fn(&PastBoard) -> LadderMarks,
    ) -> TengenFeatures {
        let suicide = position.rules().suicide;
        let shown = Shown::new(position, suicide);
        let board = position.board();
        let (own, theirs) = (position.to_move(), position.to_move().opponent());
        let mut planes = [PointSet::EMPTY; Self::PLANES];
        planes[plane::BOARD] = PointSet::full(board.size());
        planes[plane::OWN] = *board.stone_set(own);
        planes[plane::THEIRS] = *board.stone_set(theirs);
        for stone in (planes[plane::OWN] | planes[plane::THEIRS]).iter() {
            if let few @ 1..=3 = board.liberty_count(stone) {
                planes[plane::LIBERTIES + few - 1].insert(stone);
            }
        }
        planes[plane::KO] = shown.forbidden;
        for (age, mv) in shown.moves.iter().enumerate() {
            planes[plane::MOVES + age].extend(mv.point());
        }
        let [now, ..] = shown.boards(position);
        let marks = ladders(now);
        planes[plane::LADDERS] = marks.caught;
        planes[plane::WORKING] = marks.working[theirs.index()];
        let area = board.settled_area(suicide);
        planes[plane::OWN_AREA] = area[own.index()];
        planes[plane::THEIR_AREA] = area[theirs.index()];
        TengenFeatures {
            planes,
            globals: SHOWN_GLOBALS.map(|index| shown.globals[index]),
            self_komi: self_komi(position),
        }
    }
}

/// The encoder of our own networks for one board size.
pub struct TengenEncoder {
    size: BoardSize,
    outputs: Outputs,
    orientations: [Orientation; Symmetry::COUNT],
    ladders: Cache<u64, LadderMarks>,
}

/// Where the outputs lie in a row.
struct Outputs {
    policy: Range<usize>,
    value: usize,
    lead: usize,
    spread: usize,
    ownership: Range<usize>,
}

impl TengenEncoder {
    /// Whether a network of this shape is one of ours, by what it reads.
    pub fn fits(shape: &IoShape) -> bool {
        let globals = shape.input_len() - shape.input.len();
        shape.input.planes == TengenFeatures::PLANES && globals == TengenFeatures::GLOBALS
    }

    /// The encoder for a network of this shape.
    pub fn new(shape: &IoShape) -> Result<TengenEncoder, NotForGo> {
        let input = shape.input;
        if !TengenEncoder::fits(shape) || shape.perspective != Perspective::SideToMove {
            return Err(NotForGo(format!(
                "it reads {} planes and {} more numbers, not {} and {}",
                input.planes,
                shape.input_len() - input.len(),
                TengenFeatures::PLANES,
                TengenFeatures::GLOBALS,
            )));
        }
        let size = BoardSize::new(input.width)
            .filter(|_| input.width == input.height)
            .ok_or_else(|| NotForGo(format!("no board is {}x{}", input.width, input.height)))?;
        let find = |name: &str, length: usize| {
            let range = shape.output(name).filter(|range| range.len() == length);
            range.ok_or_else(|| NotForGo(format!("it has no output `{name}` of the right length")))
        };
        let outputs = Outputs {
            policy: find("policy", size.area() + 1)?,
            value: find("value", 1)?.start,
            lead: find("lead", 1)?.start,
            spread: find("spread", 1)?.start,
            ownership: find("ownership", size.area())?,
        };
        Ok(TengenEncoder {
            size,
            outputs,
            orientations: Orientation::all(size),
            ladders: Cache::new(LADDER_BYTES),
        })
    }

    fn ladders(&self, board: &PastBoard) -> LadderMarks {
        let key = board_key(board);
        self.ladders.get(key).unwrap_or_else(|| {
            let marks = board.board(self.size).ladder_marks();
            self.ladders.insert(key, marks, 0);
            marks
        })
    }
}

impl Encoder for TengenEncoder {
    fn family(&self) -> String {
        "Tengen version 1".into()
    }

    fn version(&self) -> u32 {
        1
    }

    fn size(&self) -> BoardSize {
        self.size
    }

    fn key(&self, position: &Position) -> u128 {
        let shown = Shown::new(position, position.rules().suicide);
        let [now, ..] = shown.boards(position);
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            (salt, self.size, position.to_move()).hash(&mut hasher);
            position.assumptions().view.passing_hacks.hash(&mut hasher);
            board_key(now).hash(&mut hasher);
            shown.hash_rest(&mut hasher);
            u128::from(hasher.finish())
        };
        half(1) << 64 | half(2)
    }

    fn write(&self, position: &Position, symmetry: Symmetry, row: &mut [f32]) {
        let features = TengenFeatures::with_ladders(position, |board| self.ladders(board));
        let (size, area) = (self.size, self.size.area());
        let orientation = &self.orientations[symmetry.number()];
        row.fill(0.0);
        for (plane, points) in row.chunks_exact_mut(area).zip(&features.planes) {
            for point in points.iter() {
                plane[orientation.cell(size.index(point))] = 1.0;
            }
        }
        row[TengenFeatures::PLANES * area..].copy_from_slice(&features.globals);
    }

    fn read(&self, position: &Position, symmetry: Symmetry, row: &[f32]) -> Opinion {
        let orientation = &self.orientations[symmetry.number()];
        let place = |point| orientation.cell(self.size.index(point));
        let owners = &row[self.outputs.ownership.clone()];
        let lead = SCORE_UNIT * row[self.outputs.lead] + self_komi(position);
        let spread = SCORE_UNIT * row[self.outputs.spread];
        Opinion {
            policy: legal_policy(position, &row[self.outputs.policy.clone()], &place),
            winrate: row[self.outputs.value],
            no_result: 0.0,
            score: Some(ScoreOpinion {
                mean: lead,
                mean_square: lead * lead + spread * spread,
                lead,
                variance_time: None,
                errors: None,
            }),
            ownership: Some(
                self.size
                    .points()
                    .map(|point| owners[place(point)])
                    .collect(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use go::{Color, Game, Komi, Move, Rules};
    use net::Backend;
    use rand::{RngExt, SeedableRng};
    use search::SearchRng;

    use super::*;
    use crate::{Assumptions, Judge, LoadedNetwork};

    fn board(side: usize) -> BoardSize {
        BoardSize::new(side).unwrap()
    }

    /// Random legal moves, seldom passes.
    fn moves(size: BoardSize, seed: u64, count: usize) -> Vec<Move> {
        let mut rng = SearchRng::seed_from_u64(seed);
        let mut game = Game::new(size, Komi::default());
        for _ in 0..count {
            let legal: Vec<Move> = game.legal_points(game.to_move()).map(Move::Play).collect();
            let passes = legal.is_empty() || rng.random_bool(0.05);
            let mv = if passes {
                Move::Pass
            } else {
                legal[rng.random_range(0..legal.len())]
            };
            game.play(mv).unwrap();
        }
        game.moves().map(|(_, mv)| mv).collect()
    }

    fn position(size: BoardSize, moves: &[Move], rules: Rules) -> Position {
        let mut game = Game::new(size, Komi::default());
        game.set_rules(rules);
        for &mv in moves {
            let color = game.to_move();
            game.force(color, mv).unwrap();
        }
        Position::new(&game, Assumptions::default())
    }

    fn row(encoder: &dyn Encoder, position: &Position, symmetry: Symmetry) -> Vec<f32> {
        let area = position.size().area();
        let mut row = vec![0.5; TengenFeatures::PLANES * area + TengenFeatures::GLOBALS];
        encoder.write(position, symmetry, &mut row);
        row
    }

    #[test]
    fn a_board_seen_through_a_symmetry_is_the_turned_board() {
        for side in [2, 3, 7, 9, 19, 25] {
            let size = board(side);
            let network = LoadedNetwork::inside(size);
            for seed in 0..3 {
                let moves = moves(size, seed, size.area() / 2);
                let straight = position(size, &moves, Rules::CHINESE);
                for symmetry in Symmetry::ALL {
                    let back = symmetry.inverse();
                    let turn = |mv: &Move| match mv.point() {
                        Some(point) => Move::Play(size.point(back.index(size, size.index(point)))),
                        None => Move::Pass,
                    };
                    let turned: Vec<Move> = moves.iter().map(turn).collect();
                    let turned = position(size, &turned, Rules::CHINESE);
                    let encoder = &*network.encoder;
                    assert_eq!(
                        row(encoder, &straight, symmetry),
                        row(encoder, &turned, Symmetry::IDENTITY)
                    );
                }
            }
        }
    }

    #[test]
    fn the_fast_network_says_what_the_plain_one_says_on_every_kind_of_board() {
        for side in [2, 3, 4, 5, 8, 9, 13, 19, 25] {
            let size = board(side);
            let network = LoadedNetwork::inside(size);
            let plain = Backend::Reference.open(&network.layers().unwrap()).unwrap();
            let plain = Judge::with_encoder(plain, network.encoder.clone(), 0);
            let position = position(size, &moves(size, 5, size.area() / 2), Rules::JAPANESE);
            let asked = [(&position, Symmetry::ALL[3])];
            let exact = plain.evaluate_anew(&asked).unwrap().remove(0);
            // The same position again and again: batches change nothing.
            let batch = network.judge(0).evaluate_anew(&[asked[0]; 5]).unwrap();
            for said in batch {
                let near = |a: f32, b: f32| assert!((a - b).abs() < 2e-3, "{side}: {a} and {b}");
                near(said.winrate, exact.winrate);
                near(
                    said.score.unwrap().lead / 10.0,
                    exact.score.unwrap().lead / 10.0,
                );
                let pairs = said.policy.iter().zip(&exact.policy);
                pairs.for_each(|(a, b)| near(*a, *b));
                let pairs = said.ownership.unwrap();
                let pairs = pairs.iter().zip(exact.ownership.as_ref().unwrap());
                pairs.for_each(|(a, b)| near(*a, *b));
            }
        }
    }

    #[test]
    fn whatever_the_network_is_shown_is_in_the_key() {
        let size = board(9);
        let encoder = LoadedNetwork::inside(size).encoder;
        let mut keys = std::collections::HashMap::new();
        for seed in 0..40 {
            let moves = moves(size, seed, seed as usize);
            for rules in [Rules::CHINESE, Rules::JAPANESE, Rules::TROMP_TAYLOR] {
                for komi in [0.5, 7.5] {
                    let mut game = Game::new(size, Komi::new(komi).unwrap());
                    game.set_rules(rules);
                    for &mv in &moves {
                        let color = game.to_move();
                        game.force(color, mv).unwrap();
                    }
                    for color in Color::BOTH {
                        game.set_to_move(color);
                        let position = Position::new(&game, Assumptions::default());
                        let shown = row(&*encoder, &position, Symmetry::IDENTITY);
                        let bits: Vec<u32> = shown.iter().map(|value| value.to_bits()).collect();
                        let known = keys.entry(encoder.key(&position)).or_insert(bits.clone());
                        assert_eq!(*known, bits, "one key for two positions");
                    }
                }
            }
        }
    }

    #[test]
    fn a_network_that_sees_something_else_is_refused_in_one_sentence() {
        let leela = net::leela::LeelaNetwork::random(
            net::leela::LeelaVersion::V1,
            net::leela::LeelaShape::stock(9, 1, 4),
            1,
        );
        let evaluator = Backend::Cpu.open(&leela.to_network()).unwrap();
        let error = TengenEncoder::new(evaluator.shape()).err().unwrap();
        let said = error.to_string();
        assert!(said.contains("18 planes") && !said.contains('\n'), "{said}");
    }
}
