//! What happens to a runner point by point, and the scan that carries it down the diagonals.

use crate::circuit::Circuit;
use crate::formula::{Plane, Sum, around};
use crate::frame::{Frame, Offset};
use crate::reader::{Lane, NEVER, Scan};

/// Larger than the sum of two cramped planes.
const CRAMPED_MOST: i32 = 5;

impl Lane {
    /// Block 1. A stone's liberties: its own, and through each neighbour of its colour that one's liberties and stones.
    pub(crate) fn count_liberties(&mut self, circuit: &mut Circuit) {
        let (lane, who) = (self.index, self.who());
        let (runner, hunter, empty) = (self.runner, self.hunter, self.empty());
        let hunter_liberties = around(empty.clone()) + around(self.early.hunter_reach);
        let liberties = circuit.inner(
            lane,
            format!("{who}: liberties found"),
            around(empty) + around(self.early.runner_reach) - NEVER * (1 - runner),
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
        if !self.is_escape() {
            let sum = copy - around(atari);
            self.untouchable = Some(circuit.lasting(lane, format!("{who}: nothing to take"), sum));
        }
        self.early.liberties =
            Some(circuit.lasting(lane, format!("{who}: liberties"), liberties.into()));
        self.early.short =
            Some(circuit.lasting(lane, format!("{who}: hunters short"), short.into()));
        self.atari = Some(circuit.lasting(lane, format!("{who}: atari"), atari.into()));
        self.early.takes = Some(circuit.lasting(
            lane,
            format!("{who}: takes"),
            around(atari) - NEVER * (1 - copy),
        ));
        for plane in [self.early.runner_reach, self.early.hunter_reach] {
            circuit.drop_plane(plane);
        }
    }

    /// Block 2. What happens to a runner that arrives at a point: out, open or caught, there and one step on.
    pub(crate) fn judge_points(&mut self, circuit: &mut Circuit) {
        let (lane, who) = (self.index, self.who());
        let empty = self.empty();
        let known = "block 1 has counted";
        let liberties = self.early.liberties.expect(known);
        let short = self.early.short.expect(known);
        let takes = self.early.takes.expect(known);
        let atari = self.atari.expect(known);

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
            let ways = 2
                - of(&self.early.wall, north).at(north)
                - blocked(self.hunter, self.on_board, frame.northwest())
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
            let out_next = open.clone() + next_out.clone() - 1 - out.clone();
            let both_open = open.clone() + next_open - 1 - out.clone() - next_out;
            self.scans.push(Scan {
                frame: *frame,
                out: circuit.lasting(lane, name("out soon"), out.clone()),
                open: circuit.lasting(lane, name("both open"), both_open),
                safe: circuit.lasting(lane, name("out next"), out_next),
                // Given its place by the next block.
                turn: self.hunter,
            });
        }
        let early = &self.early;
        let by_step = early.weak.iter().chain(&early.cramped);
        let by_step = by_step.chain(&early.wall).chain(&early.breath);
        for plane in by_step
            .map(|(_, plane)| *plane)
            .chain([liberties, short, takes])
        {
            circuit.drop_plane(plane);
        }
    }

    /// Block 3. Being out one step on counts unless the chaser can turn before, and the scan begins. A hunter in the
    /// north-west lets the chaser turn, if that does not let the runner out at once.
    pub(crate) fn begin_scan(&mut self, circuit: &mut Circuit, reads_to_the_end: bool) {
        let (lane, who) = (self.index, self.who());
        for scan in &mut self.scans {
            let frame = scan.frame;
            let name = |what: &str| format!("{who}: {what} {}", frame.name());
            let turn = blocked(self.hunter, self.on_board, frame.northwest())
                - scan.out.at(frame.north)
                - scan.out;
            let turn = circuit.inner(lane, name("turn found"), turn);
            let out_next = circuit.inner(lane, name("out next copied"), scan.safe.into());
            circuit.add_to(scan.out, out_next - turn);
            scan.turn = circuit.lasting(lane, name("turn"), turn.into());
            circuit.drop_plane(scan.safe);
            // What lies farther than the scan reaches is good for the side to move: it may run. A chaser that turns is
            // overlooked then, so the scan starts with what it knows if it reaches everything.
            let beyond = i32::from(lane == 0 && !reads_to_the_end);
            scan.safe = circuit.lasting(lane, name("safe"), Sum::from(beyond));
        }
    }

    /// A scan block: two diagonal steps.
    pub(crate) fn scan(&mut self, circuit: &mut Circuit) {
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
    }
}

/// One if a hunter stands there or the board ends.
fn blocked(hunter: Plane, on_board: Plane, step: Offset) -> Sum {
    1 - on_board.at(step) + hunter.at(step)
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
