//! Our ladder network: four diagonals, both colours, liberties counted.
//!
//! The network has two lanes that never meet: in one the runner is the side to move (does extending escape?), in the
//! other the opponent (does this atari capture?). Both read the same five things, in eight [frames](Frame) at once.
//! In the words of a frame, the runner has just gone north to the point *c* and the last chaser stands west of it:
//!
//! 1. **Liberties.** Stones in atari and stones with two liberties, counted over the stone, its neighbours and theirs.
//! 2. **What happens at a point.** *Out*: with the friends it meets and the chasers it can take, the runner gets a third
//!    liberty. *Open*: the points north and east are empty and the chaser cannot turn the ladder. Else it is caught.
//! 3. **The scan.** A runner is safe at *c* if it is out there, or out one step on, or if both steps are open and it is
//!    safe two steps on, in the north-east. A hunter stone in the north-west lets the chaser choose another ladder, one
//!    column over; then the runner must be safe there too. One convolution, one diagonal step.
//! 4. **Strings.** Which strings have one liberty, which two, and how many a runner has once it has landed on a point:
//!    counted over whole strings, by [claims](crate::strings) that are dropped stone by stone while the scan runs.
//! 5. **Landings.** A string in atari lands on its liberty, a string with two liberties on the one that the atari leaves.
//!    With three liberties there it is out, with one it is caught, with two at the landing the scan knows.
//!
//! What the network has not read far enough is good for whoever is to move: the runner may run, the hunter may chase.

use crate::circuit::Circuit;
use crate::formula::{Plane, Sum, around};
use crate::frame::{DIAGONALS, Frame, Offset, SIDES, side_name};

/// Larger than any count of a neighbourhood: subtracted, it silences a formula.
pub(crate) const NEVER: i32 = 16;

/// A block has two convolutions and each takes one diagonal step.
const STEPS_PER_BLOCK: usize = 2;

/// The block after which the planes of the scan are there.
const SCAN_BEGINS: usize = 3;

/// A ladder needs fewer steps than the board has rows, by its first stones and the edge.
const ROWS_WITHOUT_STEPS: usize = 3;

/// Enough diagonal steps for the longest ladder on 19x19.
pub const DEFAULT_STEPS: usize = 16;

/// The circuit of the ladder network and where its results are.
#[derive(Clone, Debug)]
pub struct Reader {
    pub circuit: Circuit,
    /// Points where a string of the side to move can extend and gets away.
    pub escape_ok: Plane,
    /// Points where a string of the side to move could extend but is caught.
    pub escape_bad: Plane,
    /// Points where the side to move can give atari and captures.
    pub chase_ok: Plane,
    /// Points where the side to move could give atari but the string gets away.
    pub chase_bad: Plane,
    /// For pictures: the two lanes' scans, by frame.
    pub scans: [Vec<Scan>; 2],
    /// For pictures: the blocks that scan, counted from one.
    pub scan_blocks: std::ops::RangeInclusive<usize>,
}

/// The planes of one frame's scan.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    pub frame: Frame,
    /// Out at this point or at the next.
    pub out: Plane,
    /// Both steps are open.
    pub open: Plane,
    /// Safe farther on.
    pub safe: Plane,
    /// The chaser may turn here and the runner is not known to be safe there.
    pub turn: Plane,
}

/// Builds the circuit of a network that follows a ladder for `steps` diagonal steps on boards of `size` rows.
pub fn reader(size: usize, steps: usize) -> Reader {
    let mut circuit = Circuit::new();
    let mut lanes = [Lane::escape(&mut circuit), Lane::chase(&mut circuit)];
    let reads_to_the_end = steps + ROWS_WITHOUT_STEPS >= size;

    circuit.block();
    for lane in &mut lanes {
        lane.count_liberties(&mut circuit);
    }
    circuit.block();
    for lane in &mut lanes {
        lane.judge_points(&mut circuit);
        lane.flood(&mut circuit);
    }
    circuit.block();
    for lane in &mut lanes {
        lane.begin_scan(&mut circuit, reads_to_the_end);
        lane.flood(&mut circuit);
    }
    // The claims need a block of their own before they are counted.
    let scan_count = steps.div_ceil(STEPS_PER_BLOCK).max(2);
    for scan in 1..scan_count {
        circuit.block();
        for lane in &mut lanes {
            lane.scan(&mut circuit);
            lane.flood(&mut circuit);
            if scan == 1 {
                lane.claim(&mut circuit);
            }
        }
    }
    circuit.block();
    let strings = lanes.each_mut().map(|lane| {
        lane.scan(&mut circuit);
        lane.count_strings(&mut circuit)
    });
    circuit.block();
    let [escape, chase] = &lanes;
    let landings = [
        escape.look_at_landings(&mut circuit, strings[0]),
        chase.look_at_landings(&mut circuit, strings[1]),
    ];
    circuit.block();
    let [escape_ok, escape_bad] = escape.read_escapes(&mut circuit, &landings[0]);
    let verdicts = chase.judge_landings(&mut circuit, &landings[1]);
    circuit.block();
    let [chase_ok, chase_bad] = chase.read_chases(&mut circuit, &landings[1], verdicts);
    let scans = lanes.map(|lane| lane.scans);
    let scan_blocks = SCAN_BEGINS..=SCAN_BEGINS + scan_count;
    Reader {
        circuit,
        escape_ok,
        escape_bad,
        chase_ok,
        chase_bad,
        scans,
        scan_blocks,
    }
}

/// Planes that are needed before the scan only.
pub(crate) struct Early {
    /// Stones and liberties next to a runner's or hunter's stone, itself not counted.
    pub runner_reach: Plane,
    pub hunter_reach: Plane,
    /// By diagonal: a chaser played on this empty point would have at most one liberty on these two sides.
    pub weak: Vec<(Offset, Plane)>,
    /// By diagonal: a runner driven onto this empty point would lack one of the liberties on these two sides, or both.
    pub cramped: Vec<(Offset, Plane)>,
    /// By side: 2 if the neighbour there is off the board, 1 if it is a hunter.
    pub wall: Vec<(Offset, Plane)>,
    /// By side: a runner's stone with a liberty there.
    pub breath: Vec<(Offset, Plane)>,
    /// Liberties of a runner's stone.
    pub liberties: Option<Plane>,
    /// Hunters with at most two liberties (1), or in atari (2).
    pub short: Option<Plane>,
    /// Runner's stones next to a hunter in atari.
    pub takes: Option<Plane>,
}

/// One half of the network.
pub(crate) struct Lane {
    pub index: usize,
    pub runner: Plane,
    pub hunter: Plane,
    pub on_board: Plane,
    pub early: Early,
    /// By class: the string has no liberty there.
    pub claims: Vec<Plane>,
    /// Chase only: no hunter beside the string is in atari.
    pub untouchable: Option<Plane>,
    /// Hunters in atari.
    pub atari: Option<Plane>,
    /// Chase only: a stone played here would have no liberty of its own and no friend.
    pub self_atari: Option<Plane>,
    pub scans: Vec<Scan>,
}

impl Lane {
    fn escape(circuit: &mut Circuit) -> Lane {
        Lane::new(circuit, 0, "mine", 0, 8)
    }

    fn chase(circuit: &mut Circuit) -> Lane {
        let mut lane = Lane::new(circuit, 1, "theirs", 8, 0);
        let [runner, hunter, on_board] =
            [8, 0, 16].map(|index| Sum::from(circuit.input_plane(index)));
        let on_board = on_board + circuit.input_plane(17);
        let empty = on_board - runner - hunter.clone();
        let sum = 2 - around(empty.clone() + 2 * hunter) - 2 * (1 - empty);
        lane.self_atari = Some(circuit.of_input(lane.index, "theirs: self-atari", sum));
        lane
    }

    /// The planes both lanes take from the input. Planes 16 and 17 add up to one, also under dynamic komi.
    fn new(
        circuit: &mut Circuit,
        index: usize,
        who: &str,
        runner_input: usize,
        hunter_input: usize,
    ) -> Lane {
        let runner = Sum::from(circuit.input_plane(runner_input));
        let hunter = Sum::from(circuit.input_plane(hunter_input));
        let on_board = circuit.input_plane(16) + circuit.input_plane(17);
        let empty = on_board.clone() - runner.clone() - hunter.clone();
        let mut plane =
            |name: String, sum: Sum| circuit.of_input(index, format!("{who}: {name}"), sum);

        let early = Early {
            runner_reach: plane(
                "runner's reach".into(),
                around(empty.clone() + runner.clone()) - 1 - NEVER * (1 - runner.clone()),
            ),
            // A hunter out of sight counts twice: in a long string there may be more behind it, and a chaser that
            // is taken for weak is the worse mistake.
            hunter_reach: plane(
                "hunter's reach".into(),
                around(empty.clone() + 2 * hunter.clone()) - 2 - NEVER * (1 - hunter.clone()),
            ),
            weak: DIAGONALS
                .map(|diagonal| {
                    let sum = short_of_room(&hunter, &empty, diagonal);
                    (
                        diagonal,
                        plane(format!("weak {}", side_name(diagonal)), sum),
                    )
                })
                .to_vec(),
            cramped: DIAGONALS
                .map(|diagonal| {
                    let sum = short_of_room(&runner, &empty, diagonal);
                    (
                        diagonal,
                        plane(format!("cramped {}", side_name(diagonal)), sum),
                    )
                })
                .to_vec(),
            wall: SIDES
                .map(|side| {
                    let sum = 2 - 2 * on_board.clone().at(side) + hunter.clone().at(side);
                    (side, plane(format!("wall {}", side_name(side)), sum))
                })
                .to_vec(),
            breath: SIDES
                .map(|side| {
                    let sum = empty.clone().at(side) + runner.clone() - 1;
                    (side, plane(format!("breath {}", side_name(side)), sum))
                })
                .to_vec(),
            liberties: None,
            short: None,
            takes: None,
        };
        Lane {
            index,
            runner: plane("runner".into(), runner),
            hunter: plane("hunter".into(), hunter),
            on_board: plane("on board".into(), on_board),
            early,
            claims: Vec::new(),
            untouchable: None,
            atari: None,
            self_atari: None,
            scans: Vec::new(),
        }
    }

    pub(crate) fn who(&self) -> &'static str {
        ["mine", "theirs"][self.index]
    }

    pub(crate) fn is_escape(&self) -> bool {
        self.index == 0
    }

    pub(crate) fn empty(&self) -> Sum {
        self.on_board - self.runner - self.hunter
    }
}

/// How many liberties `stone`, played on an empty point, would lack on the two sides of a diagonal. A friend is as good as two.
fn short_of_room(stone: &Sum, empty: &Sum, diagonal: Offset) -> Sum {
    let room = empty.clone() + 2 * stone.clone();
    let [side, other] = [Offset { y: 0, ..diagonal }, Offset { x: 0, ..diagonal }];
    2 - room.clone().at(side) - room.at(other) - NEVER * (1 - empty.clone())
}
