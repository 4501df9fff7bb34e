//! The first ladder network, rebuilt with its faults: one diagonal, no liberties, 24 blocks.
//!
//! It matches four 3x3 templates (two shapes of an escape, two of an atari), spreads three features (runner's stones,
//! chaser's stones, the edge) down the diagonal through empty 3x3 squares, one step a block, and lets a move fail if
//! the feature that arrives first speaks against it. Black's two "fail" planes are left empty, as they were: with Black
//! to move it never sees a failing ladder. All numbers are the original's, its variance of 1 too, which lets values
//! drift by a few parts in a hundred thousand per layer.

use net::{OpenError, leela::LeelaNetwork};

use crate::circuit::Circuit;
use crate::compile::{Compiled, Target, compile};
use crate::exam::Candidate;
use crate::formula::{Plane, Sum, total};
use crate::frame::{DIAGONALS, EAST, HERE, NORTH, Offset, SIDES, SOUTH, WEST};
use crate::heads::{Voice, write_heads};

/// Blocks that spread the features.
const DYNAMIC_BLOCKS: usize = 20;
/// The width of the file; 33 are used.
const FILTERS: usize = 64;
/// Its batch normalisation.
const VARIANCE: f32 = 1.0;
/// Cells of a template.
const CELLS: i32 = 9;
/// North-east: where everything comes from.
const NORTHEAST: Offset = DIAGONALS[0];

/// The templates, north up: `O` the side to move, `X` the opponent, `.` empty.
const ESCAPE: [&str; 3] = ["X..", "OOX", "OX."];
const ESCAPE_2: [&str; 3] = [".X.", "XO.", "OOX"];
const ATARI: [&str; 3] = ["...", "OX.", "XXO"];
const ATARI_2: [&str; 3] = ["O..", "XX.", "XO."];
/// Squares a feature passes through.
const PASSES: [[&str; 3]; 3] = [
    ["...", "...", "..."],
    ["...", "...", "OX."],
    ["...", "X..", "O.."],
];

/// The rebuilt network.
#[derive(Clone, Debug)]
pub struct Original {
    pub compiled: Compiled,
    verdicts: Verdicts,
}

/// Its last planes, Black's then White's.
#[derive(Clone, Copy, Debug)]
struct Verdicts {
    escape_move: [Plane; 2],
    escape_fail: [Plane; 2],
    atari_move: [Plane; 2],
    atari_fail: [Plane; 2],
}

/// The planes of the first layer.
#[derive(Clone, Copy)]
struct Input {
    turn: [Plane; 2],
    mine: Plane,
    theirs: Plane,
    empty: Plane,
    on_board: Plane,
}

impl Original {
    /// Builds it for 19x19, as the script did.
    pub fn new() -> Original {
        let (circuit, verdicts) = circuit();
        let target = Target {
            size: 19,
            min_filters: FILTERS,
            variance: VARIANCE,
        };
        let mut compiled = compile(&circuit, target);
        let mut voices = Vec::new();
        // The value is Black's, whoever is to move: another of its faults.
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            for plane in [verdicts.escape_move[side], verdicts.atari_move[side]] {
                voices.push(Voice {
                    place: compiled.final_place(plane),
                    good: 8.0,
                    bad: 0.0,
                    value: 0.2 * sign,
                });
            }
            for plane in [verdicts.escape_fail[side], verdicts.atari_fail[side]] {
                voices.push(Voice {
                    place: compiled.final_place(plane),
                    good: 0.0,
                    bad: 16.0,
                    value: -sign,
                });
            }
        }
        const OFFSET: f32 = 10.0;
        write_heads(&mut compiled.leela, &voices, OFFSET, VARIANCE);
        Original { compiled, verdicts }
    }

    /// The rows of the file.
    pub fn leela(&self) -> &LeelaNetwork {
        &self.compiled.leela
    }

    /// The network as a candidate for the [examination](crate::examine): a move works if it is seen and does not fail.
    pub fn candidate(&self) -> Result<Candidate, OpenError> {
        let verdicts = &self.verdicts;
        let moves = [verdicts.escape_move.to_vec(), verdicts.atari_move.to_vec()];
        let fails = [verdicts.escape_fail.to_vec(), verdicts.atari_fail.to_vec()];
        Candidate::new(&self.compiled, moves.clone(), fails, moves)
    }
}

impl Default for Original {
    fn default() -> Original {
        Original::new()
    }
}

fn circuit() -> (Circuit, Verdicts) {
    let mut circuit = Circuit::new();
    let input = input_layer(&mut circuit);
    circuit.block();
    let statics = static_features(&mut circuit, input);
    normalise(&mut circuit, &statics.all());
    let spread = spread(&mut circuit, input, &statics);
    let mut lasting = statics.all();
    lasting.extend([spread.edge, spread.theirs, spread.mine]);
    normalise(&mut circuit, &lasting);
    let verdicts = judge(&mut circuit, input, &statics, &spread);
    (circuit, verdicts)
}

fn input_layer(circuit: &mut Circuit) -> Input {
    let black = Sum::from(circuit.input_plane(16));
    let white = Sum::from(circuit.input_plane(17));
    let mine = Sum::from(circuit.input_plane(0));
    let theirs = Sum::from(circuit.input_plane(8));
    let on_board = black.clone() + white.clone();
    let mut plane = |name: &str, sum: Sum| circuit.of_input(0, name, sum);
    Input {
        turn: [plane("black to move", black), plane("white to move", white)],
        mine: plane("mine", mine.clone()),
        theirs: plane("theirs", theirs.clone()),
        empty: plane("empty", on_board.clone() - mine - theirs),
        on_board: plane("on board", on_board),
    }
}

struct Statics {
    escape: Plane,
    escape_2: Plane,
    atari: Plane,
    atari_2: Plane,
    mine: Plane,
    theirs: Plane,
    passes: Vec<Plane>,
    edge: Plane,
}

impl Statics {
    fn all(&self) -> Vec<Plane> {
        let mut all = vec![
            self.escape,
            self.escape_2,
            self.atari,
            self.atari_2,
            self.mine,
            self.theirs,
        ];
        all.extend(&self.passes);
        all.push(self.edge);
        all
    }
}

/// The first convolution computes, the second hands on.
fn static_features(circuit: &mut Circuit, input: Input) -> Statics {
    let matches = |template: [&str; 3]| template_sum(input, template) - (CELLS - 1);
    // Stones count in the six cells that are not west, south-west or south.
    let ahead = |plane: Plane| {
        let cells = [HERE, NORTH, EAST, DIAGONALS[0], DIAGONALS[1], DIAGONALS[3]];
        total(cells.map(|step| plane.at(step)))
    };
    let square = |plane: Plane| {
        let cells = SIDES.into_iter().chain(DIAGONALS).chain([HERE]);
        total(cells.map(|step| plane.at(step)))
    };
    let mut feature = |name: &str, sum: Sum| {
        let found = circuit.inner(0, format!("{name} found"), sum);
        circuit.lasting(0, name, found.into())
    };
    Statics {
        escape: feature("escape", matches(ESCAPE)),
        escape_2: feature("escape 2", matches(ESCAPE_2)),
        atari: feature("atari", matches(ATARI)),
        atari_2: feature("atari 2", matches(ATARI_2)),
        mine: feature("my stones", ahead(input.mine)),
        theirs: feature("their stones", ahead(input.theirs)),
        passes: PASSES
            .map(|template| feature("passes", matches(template)))
            .to_vec(),
        edge: feature("edge", CELLS - square(input.on_board)),
    }
}

fn template_sum(input: Input, template: [&str; 3]) -> Sum {
    let mut sum = Sum::default();
    for (row, y) in template.iter().zip([1, 0, -1]) {
        for (cell, x) in row.chars().zip([-1, 0, 1]) {
            let plane = match cell {
                'O' => input.mine,
                'X' => input.theirs,
                _ => input.empty,
            };
            sum = sum + plane.at(Offset { x, y });
        }
    }
    sum
}

/// `min(x, 1)` for every plane.
fn normalise(circuit: &mut Circuit, planes: &[Plane]) {
    circuit.block();
    for &plane in planes {
        let name = format!("{}, beyond one", circuit.name(plane));
        let beyond = circuit.inner(0, name, plane - 1);
        circuit.add_to(plane, -1 * beyond);
    }
}

struct Spread {
    edge: Plane,
    theirs: Plane,
    mine: Plane,
}

/// One diagonal step a block: a feature is here, or the square is passable and it was in the north-east.
fn spread(circuit: &mut Circuit, input: Input, statics: &Statics) -> Spread {
    let mut planes: [Option<Plane>; 3] = [None; 3];
    let sources = [statics.edge, statics.theirs, statics.mine];
    for _ in 0..DYNAMIC_BLOCKS {
        circuit.block();
        for (plane, source) in planes.iter_mut().zip(sources) {
            let passes = total(statics.passes.iter().map(|&pass| Sum::from(pass)));
            let arrives = plane.map_or(Sum::default(), |plane| plane.at(NORTHEAST));
            let sum = 2 * source + passes + arrives - input.on_board;
            let name = format!("{} spread", circuit.name(source));
            let found = circuit.inner(0, format!("{name}, found"), sum.clone());
            let beyond = circuit.inner(0, format!("{name}, beyond one"), sum - input.on_board);
            match *plane {
                None => *plane = Some(circuit.lasting(0, name, found - beyond)),
                Some(plane) => circuit.replace(plane, found - beyond),
            }
        }
    }
    let [edge, theirs, mine] =
        planes.map(|plane| plane.expect("there is at least one dynamic block"));
    Spread { edge, theirs, mine }
}

/// The move is played north of a vertical shape and east of a horizontal one.
fn judge(circuit: &mut Circuit, input: Input, statics: &Statics, spread: &Spread) -> Verdicts {
    circuit.block();
    let escape = statics.escape.at(SOUTH) + statics.escape_2.at(WEST);
    let atari = statics.atari.at(SOUTH) + statics.atari_2.at(WEST);
    let mut verdict = |side: usize, name: &str, sum: Option<Sum>| {
        let other = input.turn[1 - side];
        let sum = sum.map_or(Sum::default(), |sum| sum - other);
        let found = circuit.inner(0, format!("{name} found"), sum);
        circuit.lasting(0, name, found.into())
    };
    let caught = spread.edge.at(NORTHEAST) + spread.theirs.at(NORTHEAST);
    let saved = spread.theirs.at(NORTHEAST);
    let escape_fails = escape.clone() + caught - input.on_board;
    let atari_fails = atari.clone() + saved - input.on_board;
    Verdicts {
        escape_move: [0, 1].map(|side| verdict(side, "escape move", Some(escape.clone()))),
        escape_fail: [None, Some(escape_fails)]
            .map_with_side(|side, sum| verdict(side, "escape fail", sum)),
        atari_move: [0, 1].map(|side| verdict(side, "atari move", Some(atari.clone()))),
        atari_fail: [None, Some(atari_fails)]
            .map_with_side(|side, sum| verdict(side, "atari fail", sum)),
    }
}

/// Maps Black's and White's entry, each with its side.
trait MapWithSide<T> {
    fn map_with_side<U>(self, map: impl FnMut(usize, T) -> U) -> [U; 2];
}

impl<T> MapWithSide<T> for [T; 2] {
    fn map_with_side<U>(self, mut map: impl FnMut(usize, T) -> U) -> [U; 2] {
        let [black, white] = self;
        [map(0, black), map(1, white)]
    }
}
