//! Our ladder network: four diagonals, both colours, liberties counted.
//!
//! The network has two lanes that never meet: in one the runner is the side to move (does extending escape?), in the
//! other the opponent (does this atari capture?). Both read the same four things, in eight [frames](Frame) at once.
//! In the words of a frame, the runner has just gone north to the point *c* and the last chaser stands west of it:
//!
//! 1. **Liberties.** Stones in atari and stones with two liberties, counted over the stone, its neighbours and theirs.
//! 2. **What happens at a point.** *Out*: with the friends it meets and the chasers it can take, the runner gets a third
//!    liberty. *Open*: the points north and east are empty and the chaser cannot turn the ladder. Else it is caught.
//! 3. **The scan.** A runner is safe at *c* if it is out there, or out one step on, or if both steps are open and it is
//!    safe two steps on, in the north-east. A hunter stone in the north-west lets the chaser choose another ladder, one
//!    column over; then the runner must be safe there too. One convolution, one diagonal step.
//! 4. **Heads.** Where a string in atari can extend, or a string with two liberties can be chased, read the scan.
//!
//! That a string has *no other* liberty is found by flooding: the claim is dropped stone by stone, from every stone
//! that has another one. A claim that nobody drops is true (the same kind of head twice in one string excepted).

use crate::circuit::Circuit;
use crate::formula::{Plane, Sum, around, total};
use crate::frame::{DIAGONALS, Frame, HERE, Offset, SIDES, side_name};

/// Larger than any count of a neighbourhood: subtracted, it silences a formula.
const NEVER: i32 = 16;

/// Larger than the sum of two cramped planes.
const CRAMPED_MOST: i32 = 5;

/// A block has two convolutions and each takes one diagonal step.
const STEPS_PER_BLOCK: usize = 2;

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

/// Builds the circuit.
pub fn reader(steps: usize) -> Reader {
    let mut circuit = Circuit::new();
    let mut lanes = [Lane::escape(&mut circuit), Lane::chase(&mut circuit)];

    circuit.block();
    for lane in &mut lanes {
        lane.count_liberties(&mut circuit);
    }
    circuit.block();
    for lane in &mut lanes {
        lane.judge_points(&mut circuit);
    }
    circuit.block();
    for lane in &mut lanes {
        lane.tidy(&mut circuit);
    }
    for _ in 0..steps.div_ceil(STEPS_PER_BLOCK) {
        circuit.block();
        for lane in &mut lanes {
            lane.scan(&mut circuit);
        }
    }
    circuit.block();
    let [escape, chase] = &lanes;
    let [escape_ok, escape_bad] = escape.read_escapes(&mut circuit);
    let [chase_ok, chase_bad] = chase.read_chases(&mut circuit);
    let scans = lanes.map(|lane| lane.scans);
    Reader {
        circuit,
        escape_ok,
        escape_bad,
        chase_ok,
        chase_bad,
        scans,
    }
}

/// A claim about a whole string, dropped stone by stone.
#[derive(Clone, Copy)]
struct Claim {
    plane: Plane,
    what: Offset,
}

/// Planes that are needed before the scan only.
struct Early {
    /// Stones and liberties next to a runner's or hunter's stone, itself not counted.
    runner_reach: Plane,
    hunter_reach: Plane,
    /// By diagonal: a chaser played on this empty point would have at most one liberty on these two sides.
    weak: Vec<(Offset, Plane)>,
    /// By diagonal: a runner driven onto this empty point would lack one of the liberties on these two sides, or both.
    cramped: Vec<(Offset, Plane)>,
    /// By side: 2 if the neighbour there is off the board, 1 if it is a hunter.
    wall: Vec<(Offset, Plane)>,
    /// By side: a runner's stone with a liberty there.
    breath: Vec<(Offset, Plane)>,
    /// Shapes that may be the head of a ladder: by frame for escapes, by diagonal for chases.
    heads: Vec<(Frame, Plane)>,
    /// Liberties of a runner's stone.
    liberties: Option<Plane>,
    /// Hunters with at most two liberties (1), or in atari (2).
    short: Option<Plane>,
    /// Hunters in atari.
    atari: Option<Plane>,
    /// Runner's stones next to a hunter in atari.
    takes: Option<Plane>,
}

/// One half of the network.
struct Lane {
    index: usize,
    runner: Plane,
    hunter: Plane,
    on_board: Plane,
    early: Early,
    claims: Vec<Claim>,
    /// Chase only: no hunter beside the string is in atari.
    untouchable: Option<Claim>,
    /// Chase only, by side: a stone played here would be in atari, and the board goes on at that side.
    self_atari: Vec<(Offset, Plane)>,
    scans: Vec<Scan>,
}

impl Lane {
    fn escape(circuit: &mut Circuit) -> Lane {
        let mut lane = Lane::new(circuit, 0, "mine", 0, 8);
        let (runner, hunter, empty) = lane.input_sums(circuit);
        for frame in Frame::all() {
            let head = empty.clone()
                + hunter.clone().at(frame.west())
                + runner.clone().at(frame.south())
                + hunter.clone().at(frame.southeast())
                - hunter.clone().at(frame.east)
                - 3;
            let name = format!("mine: head {}", frame.name());
            let plane = circuit.of_input(lane.index, name, head);
            lane.early.heads.push((frame, plane));
        }
        lane
    }

    fn chase(circuit: &mut Circuit) -> Lane {
        let mut lane = Lane::new(circuit, 1, "theirs", 8, 0);
        let (runner, hunter, empty) = lane.input_sums(circuit);
        for frame in Frame::all().filter(|frame| frame.north.x == 0) {
            let head =
                runner.clone() + empty.clone().at(frame.north) + empty.clone().at(frame.east) - 2;
            let name = format!("theirs: head {}", side_name(frame.northeast()));
            let plane = circuit.of_input(lane.index, name, head);
            lane.early.heads.push((frame, plane));
        }
        let on_board = circuit.input_plane(16) + circuit.input_plane(17);
        for side in SIDES {
            let sum = 2
                - around(empty.clone() + 2 * hunter.clone())
                - 2 * (1 - empty.clone())
                - 2 * (1 - on_board.clone().at(side));
            let name = format!("theirs: self-atari {}", side_name(side));
            let plane = circuit.of_input(lane.index, name, sum);
            lane.self_atari.push((side, plane));
        }
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
            heads: Vec::new(),
            liberties: None,
            short: None,
            atari: None,
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
            self_atari: Vec::new(),
            scans: Vec::new(),
        }
    }

    fn input_sums(&self, circuit: &Circuit) -> (Sum, Sum, Sum) {
        let (runner, hunter) = if self.index == 0 { (0, 8) } else { (8, 0) };
        let runner = Sum::from(circuit.input_plane(runner));
        let hunter = Sum::from(circuit.input_plane(hunter));
        let empty =
            circuit.input_plane(16) + circuit.input_plane(17) - runner.clone() - hunter.clone();
        (runner, hunter, empty)
    }

    fn who(&self) -> &'static str {
        ["mine", "theirs"][self.index]
    }

    fn is_escape(&self) -> bool {
        self.index == 0
    }

    fn empty(&self) -> Sum {
        self.on_board - self.runner - self.hunter
    }

    /// Block 1. A stone's liberties: its own, and through each neighbour of its colour that one's liberties and stones.
    fn count_liberties(&mut self, circuit: &mut Circuit) {
        let (lane, who) = (self.index, self.who());
        let (runner, hunter, empty) = (self.runner, self.hunter, self.empty());
        let hunter_liberties = around(empty.clone()) + around(self.early.hunter_reach);
        let liberties = circuit.inner(
            lane,
            format!("{who}: liberties found"),
            around(empty.clone()) + around(self.early.runner_reach) - NEVER * (1 - runner),
        );
        let short = circuit.inner(
            lane,
            format!("{who}: hunters short found"),
            3 - hunter_liberties.clone() - NEVER * (1 - hunter),
        );
        let atari = circuit.inner(
            lane,
            format!("{who}: hunters in atari"),
            2 - hunter_liberties - NEVER * (1 - hunter),
        );
        let copy = circuit.inner(lane, format!("{who}: runner copied"), runner.into());

        // A claim starts on every stone that has no liberty but the head's.
        let mut claims: Vec<(Offset, Sum)> = Vec::new();
        for &(frame, head) in &self.early.heads {
            let (what, allowed) = if self.is_escape() {
                (frame.north, head.at(frame.north))
            } else {
                (frame.northeast(), 2 * head)
            };
            match claims.iter_mut().find(|(known, _)| *known == what) {
                Some((_, sum)) => *sum = sum.clone() + allowed,
                None => claims.push((what, runner - around(empty.clone()) + allowed)),
            }
        }
        for (what, sum) in claims {
            let name = format!("{who}: only liberty {}", side_name(what));
            let found = circuit.inner(lane, format!("{name} found"), sum);
            let plane = circuit.lasting(lane, name, found.into());
            self.claims.push(Claim { plane, what });
        }
        if !self.is_escape() {
            let plane = circuit.lasting(
                lane,
                format!("{who}: nothing to take"),
                copy - around(atari),
            );
            self.untouchable = Some(Claim { plane, what: HERE });
        }
        self.early.liberties =
            Some(circuit.lasting(lane, format!("{who}: liberties"), liberties.into()));
        self.early.short =
            Some(circuit.lasting(lane, format!("{who}: hunters short"), short.into()));
        self.early.atari = Some(circuit.lasting(lane, format!("{who}: atari"), atari.into()));
        self.early.takes = Some(circuit.lasting(
            lane,
            format!("{who}: takes"),
            around(atari) - NEVER * (1 - copy),
        ));
        for plane in [self.early.runner_reach, self.early.hunter_reach] {
            circuit.drop_plane(plane);
        }
        for &(_, head) in &self.early.heads {
            circuit.drop_plane(head);
        }
    }

    /// Block 2. What happens to a runner that arrives at a point: out, open or caught, there and one step on.
    fn judge_points(&mut self, circuit: &mut Circuit) {
        let (lane, who) = (self.index, self.who());
        let empty = self.empty();
        let known = "block 1 has counted";
        let liberties = self.early.liberties.expect(known);
        let short = self.early.short.expect(known);
        let takes = self.early.takes.expect(known);
        let atari = self.early.atari.expect(known);
        let hunter = circuit.inner(lane, format!("{who}: hunter copied"), self.hunter.into());

        // Out if twice the liberties and the chasers in trouble make five: three liberties, or two and a weak chaser.
        let mut events = Vec::new();
        for frame in Frame::all() {
            let (north, east, west) = (frame.north, frame.east, frame.west());
            let friend = |side: Offset| liberties.at(side) + takes.at(side) - self.runner.at(side);
            let gained = empty.clone().at(north)
                + empty.clone().at(east)
                + friend(north)
                + friend(east)
                // The point south of an eastern friend is where the inner chaser stands.
                - of(&self.early.breath, frame.south()).at(east);
            let weak_chasers = short.at(west)
                + of(&self.early.weak, frame.northwest()).at(west)
                + short.at(north)
                + short.at(east)
                + takes.at(frame.south())
                // The inner chaser in atari does not count: the chaser's next move there would save it.
                - atari.at(frame.southeast());
            let out = 2 * gained + weak_chasers - 4;
            // Open if both points are empty and the chaser cannot turn. Were the chaser to play in the east, the
            // runner would go north and needs three ways on from there, or two that are not cramped: walls beyond
            // and hunters in the north-west take ways away, a friend in the north-east gives one.
            let ways =
                2 - of(&self.early.wall, north).at(north) - self.hunter.at(frame.northwest())
                    + self.runner.at(frame.northeast());
            let cramped = of(&self.early.cramped, frame.northwest()).at(frame.northwest())
                + of(&self.early.cramped, frame.northeast()).at(frame.northeast());
            let open = CRAMPED_MOST * (ways - 1) + 1
                - cramped
                - 2 * NEVER * (2 - empty.clone().at(north) - empty.clone().at(east));
            let mut zero_or_one = |what: &str, sum: Sum| {
                let name = format!("{who}: {what} {}", frame.name());
                let some = circuit.inner(lane, name.clone(), sum.clone());
                let beyond = circuit.inner(lane, format!("{name}, beyond one"), sum - 1);
                some - beyond
            };
            events.push((frame, zero_or_one("out", out), zero_or_one("open", open)));
        }

        for (frame, out, open) in &events {
            let (_, next_out, next_open) = find(&events, frame.next());
            let next_out = next_out.clone().at(frame.east);
            let next_open = next_open.clone().at(frame.east);
            let name = |what: &str| format!("{who}: {what} {}", frame.name());
            let soon_out = 3 * out.clone() + open.clone() + next_out.clone()
                - 1
                - hunter.at(frame.northwest());
            let both_open = open.clone() + next_open - 1 - out.clone() - next_out;
            self.scans.push(Scan {
                frame: *frame,
                out: circuit.lasting(lane, name("out soon"), soon_out),
                open: circuit.lasting(lane, name("both open"), both_open),
                // Given their places by the next block.
                safe: hunter,
                turn: hunter,
            });
        }
        let early = &self.early;
        let by_step = early.weak.iter().chain(&early.cramped);
        let by_step = by_step.chain(&early.wall).chain(&early.breath);
        for plane in by_step
            .map(|(_, plane)| *plane)
            .chain([liberties, short, atari, takes])
        {
            circuit.drop_plane(plane);
        }
        self.flood(circuit);
    }

    /// Block 3. `out` becomes 0 or 1, and the planes of the scan begin.
    fn tidy(&mut self, circuit: &mut Circuit) {
        let (lane, who) = (self.index, self.who());
        let hunter = circuit.inner(lane, format!("{who}: hunter copied"), self.hunter.into());
        for scan in &mut self.scans {
            let name = |what: &str| format!("{who}: {what} {}", scan.frame.name());
            let beyond = circuit.inner(lane, name("out, beyond one"), scan.out - 1);
            circuit.add_to(scan.out, -1 * beyond);
            scan.turn = circuit.lasting(lane, name("turn"), hunter.at(scan.frame.northwest()));
            scan.safe = circuit.lasting(lane, name("safe"), Sum::default());
        }
        self.flood(circuit);
    }

    /// A scan block: two diagonal steps.
    fn scan(&mut self, circuit: &mut Circuit) {
        let (lane, who) = (self.index, self.who());
        let mut halfway = Vec::new();
        for scan in &self.scans {
            let frame = scan.frame;
            let next = find_scan(&self.scans, frame.next());
            let name = |what: &str| format!("{who}: {what} {}", frame.name());
            let passable = scan.open - scan.turn - next.turn.at(frame.east);
            let arrives = scan.out.at(frame.northeast()) + scan.safe.at(frame.northeast());
            let safe = circuit.inner(lane, name("safe, one step"), passable.clone() + arrives - 1);
            let passable = circuit.inner(lane, name("passable"), passable);
            let out = circuit.inner(lane, name("out copied"), scan.out.into());
            halfway.push((*scan, safe, passable, out));
        }
        for (scan, safe, passable, out) in halfway {
            let there = |side: Offset| out.at(side) + safe.at(side);
            circuit.replace(scan.safe, passable + there(scan.frame.northeast()) - 1);
            circuit.add_to(scan.turn, -1 * there(scan.frame.north));
        }
        self.flood(circuit);
    }

    /// One round of dropping claims: a stone drops its claim if a neighbour of the same string has dropped it.
    ///
    /// Doubling and subtracting one keeps rounding errors of fast convolutions from growing from round to round.
    fn flood(&self, circuit: &mut Circuit) {
        for claim in self.claims.iter().chain(&self.untouchable) {
            let name = format!("{} dropped nearby", circuit.name(claim.plane));
            let dropped = around(self.runner) - around(claim.plane);
            let dropped = circuit.inner(self.index, name, 2 * dropped - 1);
            circuit.add_to(claim.plane, -1 * dropped);
        }
    }

    /// The last block: extensions of strings in atari, good and bad.
    fn read_escapes(&self, circuit: &mut Circuit) -> [Plane; 2] {
        let mut found = Vec::new();
        for scan in &self.scans {
            let frame = scan.frame;
            let head = self.empty()
                + self.hunter.at(frame.west())
                + self.runner.at(frame.south())
                + self.hunter.at(frame.southeast())
                - self.hunter.at(frame.east)
                + self.claim(frame.north).at(frame.south())
                - 4;
            let bad = head.clone() - scan.out - scan.safe;
            found.push(self.read(circuit, "extension", frame, head, bad));
        }
        let all = total(found.iter().map(|(head, _)| Sum::from(*head)));
        let bad = total(found.iter().map(|(_, bad)| Sum::from(*bad)));
        let lane = self.index;
        [
            circuit.lasting(lane, "escape ok", all - bad.clone()),
            circuit.lasting(lane, "escape bad", bad),
        ]
    }

    /// The last block: ataris on strings with two liberties, good and bad. The atari is played in the east of the
    /// head, and the runner goes north.
    fn read_chases(&self, circuit: &mut Circuit) -> [Plane; 2] {
        let untouchable = self.untouchable.expect("chases have it").plane;
        let mut found = Vec::new();
        for scan in &self.scans {
            let frame = scan.frame;
            let head = self.runner
                + self.empty().at(frame.north)
                + self.empty().at(frame.east)
                + self.hunter.at(frame.northwest())
                - self.runner.at(frame.southeast())
                + self.claim(frame.northeast())
                - 4;
            let works = head.clone()
                - scan.out.at(frame.north)
                - scan.safe.at(frame.north)
                - (1 - untouchable)
                - of(&self.self_atari, frame.east).at(frame.east);
            let (head, works) = self.read(circuit, "atari", frame, head, works);
            found.push((head.at(frame.west()), works.at(frame.west())));
        }
        let all = total(found.iter().map(|(head, _)| head.clone()));
        let works = total(found.iter().map(|(_, works)| works.clone()));
        let lane = self.index;
        [
            circuit.lasting(lane, "chase ok", works.clone()),
            circuit.lasting(lane, "chase bad", all - works),
        ]
    }

    /// Both are at most one; doubled less one, they are exactly zero where they should be, whatever the rounding.
    fn read(
        &self,
        circuit: &mut Circuit,
        what: &str,
        frame: Frame,
        head: Sum,
        verdict: Sum,
    ) -> (Plane, Plane) {
        let name = format!("{}: {what} {}", self.who(), frame.name());
        (
            circuit.inner(self.index, name.clone(), 2 * head - 1),
            circuit.inner(self.index, format!("{name}, verdict"), 2 * verdict - 1),
        )
    }

    fn claim(&self, what: Offset) -> Plane {
        let claim = self.claims.iter().find(|claim| claim.what == what);
        claim
            .expect("there is a claim for every kind of head")
            .plane
    }
}

/// How many liberties `stone`, played on an empty point, would lack on the two sides of a diagonal. A friend is as good as two.
fn short_of_room(stone: &Sum, empty: &Sum, diagonal: Offset) -> Sum {
    let room = empty.clone() + 2 * stone.clone();
    let [side, other] = [Offset { y: 0, ..diagonal }, Offset { x: 0, ..diagonal }];
    2 - room.clone().at(side) - room.at(other) - NEVER * (1 - empty.clone())
}

fn of(planes: &[(Offset, Plane)], step: Offset) -> Plane {
    let found = planes.iter().find(|(known, _)| *known == step);
    found.expect("there is one for every step of its kind").1
}

fn find(events: &[(Frame, Sum, Sum)], frame: Frame) -> &(Frame, Sum, Sum) {
    let found = events.iter().find(|(known, ..)| *known == frame);
    found.expect("every frame has its events")
}

fn find_scan(scans: &[Scan], frame: Frame) -> &Scan {
    let found = scans.iter().find(|scan| scan.frame == frame);
    found.expect("every frame has its scan")
}
