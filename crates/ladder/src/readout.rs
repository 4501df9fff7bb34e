//! From the scan to moves: where a runner lands, whether it is caught there, and which moves make it land there.

use crate::circuit::Circuit;
use crate::formula::{Plane, Sum, around, total};
use crate::frame::{DIAGONALS, EAST, Frame, HERE, NORTH, Offset, SIDES, side_name};
use crate::reader::{Lane, NEVER, Scan};
use crate::strings::Strings;

/// More than a landing's signs of capture add up to.
const MOST_SIGNS: i32 = 12;

/// More than the scan's signs of capture add up to.
const EDGE: i32 = 7;

/// What is known of a landing.
#[derive(Clone, Copy)]
pub(crate) struct Landing {
    /// Three liberties, or a chaser to take.
    out: Plane,
    /// Fewer than two liberties.
    dead: Plane,
    /// Two liberties, both at the landing.
    shaped: Plane,
    /// Caught by the scan: the liberties at right angles, in a row, in a column.
    caught: [Plane; 3],
    hunted: Plane,
}

impl Lane {
    /// The first block after the scan: what each empty point would be to a runner that lands there.
    pub(crate) fn look_at_landings(&self, circuit: &mut Circuit, strings: Strings) -> Landing {
        let (lane, who) = (self.index, self.who());
        let empty = || self.empty();
        let lacking = circuit.inner(
            lane,
            format!("{who}: lacking copied"),
            strings.lacking.into(),
        );
        let few = circuit.inner(lane, format!("{who}: lacking two"), strings.lacking - 1);
        let here = circuit.inner(lane, format!("{who}: empty copied"), empty());

        // Friends are no obstacle to the runner: it joins them there. Stones of the hunted string itself are.
        let not_blocked = empty() + self.runner - strings.hunted;
        let mut corners = Vec::new();
        for scan in &self.scans {
            let frame = scan.frame;
            let name = format!("{who}: landing {} caught", frame.name());
            let shape = corner(&empty(), frame) - 2 - known_safe(scan);
            let sum = 2 * shape - not_blocked.clone().at(frame.southeast())
                + self.driven_from(frame.south())
                - 1;
            corners.push(Sum::from(circuit.inner(lane, name, sum)));
        }
        let mut shapes = Vec::new();
        for diagonal in DIAGONALS {
            let frame = Frame {
                north: Offset { x: 0, ..diagonal },
                east: Offset { y: 0, ..diagonal },
            };
            let name = format!("{who}: landing at a corner {}", side_name(diagonal));
            shapes.push(Sum::from(circuit.inner(
                lane,
                name,
                corner(&empty(), frame) - 2,
            )));
        }
        // Driven on from the landing, the runner arrives at a neighbour with one side blocked, or it is out.
        let arrivals: Vec<(Frame, Plane)> = self
            .scans
            .iter()
            .map(|scan| {
                let frame = scan.frame;
                let from = self.driven_from(frame.south() + frame.west());
                let sum = 2 * (empty() - known_safe(scan)) - not_blocked.clone().at(frame.west())
                    + from
                    - 1;
                let name = format!("{who}: arrival {} caught", frame.name());
                (frame, circuit.inner(lane, name, sum))
            })
            .collect();
        let mut caught = vec![total(corners)];
        for along in [EAST, NORTH] {
            let across = along.turned();
            let sum = empty() + empty().at(along) + empty().at(-along)
                - empty().at(across)
                - empty().at(-across)
                - 2;
            let shape = circuit.inner(
                lane,
                format!("{who}: landing in line {}", side_name(along)),
                sum,
            );
            shapes.push(shape.into());
            let driven = arrivals
                .iter()
                .filter(|(frame, _)| frame.north == along || frame.north == -along);
            let driven = total(driven.map(|(frame, plane)| plane.at(frame.north)));
            caught.push(driven - NEVER * (1 - shape));
        }
        let mut names = ["at a corner", "in a row", "in a column"].into_iter();
        let caught = caught.into_iter().map(|sum| {
            circuit.lasting(
                lane,
                format!("{who}: caught {}", names.next().unwrap_or_default()),
                sum,
            )
        });
        let caught: Vec<Plane> = caught.collect();
        let landing = Landing {
            out: circuit.lasting(
                lane,
                format!("{who}: out at once"),
                here - NEVER * Sum::from(lacking),
            ),
            dead: circuit.lasting(lane, format!("{who}: dead at once"), few.into()),
            shaped: circuit.lasting(lane, format!("{who}: two liberties here"), total(shapes)),
            caught: [caught[0], caught[1], caught[2]],
            hunted: strings.hunted,
        };
        circuit.drop_plane(strings.lacking);
        landing
    }

    /// In a chase, whether a runner's stone is there. The runner lands beside it, and the atari is on its other liberty:
    /// an empty point beside both the stone and the landing will not be empty.
    fn driven_from(&self, step: Offset) -> Sum {
        if self.is_escape() {
            Sum::default()
        } else {
            self.runner.at(step)
        }
    }

    /// Caught and safe, zero or one each: what a landing comes to. Neither if it is not known.
    fn verdicts(&self, circuit: &mut Circuit, landing: &Landing) -> [Sum; 2] {
        let (lane, who) = (self.index, self.who());
        let scanned = total(landing.caught.map(Sum::from));
        // On the first line much depends on chasers that run out of liberties. Of a string that is to be saved there,
        // nothing is said unless it is dead at once.
        let is_unsure = if self.is_escape() {
            4 - around(self.on_board)
        } else {
            Sum::default()
        };
        let caught = scanned.clone() - EDGE * is_unsure + 2 * EDGE * landing.dead;
        let signs = scanned + landing.dead;
        let mut zero_or_one =
            |what: &str, sum: Sum| step(circuit, lane, format!("{who}: {what}"), sum);
        [
            zero_or_one("landing caught", caught - 2 * MOST_SIGNS * landing.out),
            zero_or_one(
                "landing safe",
                MOST_SIGNS * landing.out + landing.shaped - signs,
            ),
        ]
    }

    /// The last block of escapes: extensions of strings in atari, good and bad.
    pub(crate) fn read_escapes(&self, circuit: &mut Circuit, landing: &Landing) -> [Plane; 2] {
        let lane = self.index;
        let [caught, safe] = self.verdicts(circuit, landing);
        let beside = around(landing.hunted);
        let head = step(circuit, lane, "mine: extends".to_owned(), beside);
        // Doubled less one, they are exactly zero where they should be, whatever the rounding.
        [
            circuit.lasting(lane, "escape ok", 2 * (safe + head.clone() - 1) - 1),
            circuit.lasting(lane, "escape bad", 2 * (caught + head - 1) - 1),
        ]
    }

    /// Caught and safe landings as planes, for the ataris that lead to them.
    pub(crate) fn judge_landings(&self, circuit: &mut Circuit, landing: &Landing) -> [Plane; 2] {
        let lane = self.index;
        let [caught, safe] = self.verdicts(circuit, landing);
        [
            circuit.lasting(lane, "theirs: caught", caught),
            circuit.lasting(lane, "theirs: safe", safe),
        ]
    }

    /// The last block of chases: ataris on strings with two liberties, good and bad. Where the landing is caught
    /// and there is a chaser to take all the same, nothing is said.
    pub(crate) fn read_chases(
        &self,
        circuit: &mut Circuit,
        landing: &Landing,
        [caught, safe]: [Plane; 2],
    ) -> [Plane; 2] {
        let lane = self.index;
        let untouchable = self.untouchable.expect("chases have it");
        let self_atari = self.self_atari.expect("chases have it");
        let hunted = landing.hunted;
        let mut works = Sum::default();
        let mut fails = Sum::default();
        // `hit` is zero where there is such an atari, and less where there is none.
        let mut verdict = |name: String, hit: Sum, is_caught: Sum, is_safe: Sum, at: Offset| {
            let mut zero_or_one = |what: &str, sum: Sum| {
                let sum = NEVER * hit.clone() + sum;
                step(circuit, lane, format!("theirs: atari {name} {what}"), sum).at(at)
            };
            works =
                works.clone() + zero_or_one("works", is_caught.clone() - NEVER * is_safe.clone());
            fails = fails.clone() + zero_or_one("fails", is_safe - NEVER * is_caught);
        };
        // Both liberties at one stone: the atari at one side, the landing at another.
        for side in SIDES {
            let others = SIDES.into_iter().filter(|&other| other != side);
            let landings = |plane: Plane| total(others.clone().map(|other| plane.at(other)));
            let hit = 6 * hunted + 2 * self.empty().at(side) + around(self.empty()) - 10;
            let objection = 1 - untouchable + self_atari.at(side);
            verdict(
                side_name(side),
                hit,
                landings(caught),
                landings(safe) + objection,
                -side,
            );
        }
        // The liberties beside each other, each at a stone of its own: the landing's shape is not what it seems.
        for side in SIDES {
            for stone in [side.turned(), -side.turned()] {
                let hit = hunted.at(stone)
                    + hunted.at(stone + side)
                    + self.empty()
                    + self.empty().at(side)
                    - 4;
                let objection = self.runner.at(stone) - untouchable.at(stone) + self_atari;
                verdict(
                    format!("{} beside {}", side_name(side), side_name(stone)),
                    hit,
                    landing.dead.at(side),
                    landing.out.at(side) + objection,
                    HERE,
                );
            }
        }
        [
            circuit.lasting(lane, "chase ok", works),
            circuit.lasting(lane, "chase bad", fails),
        ]
    }
}

/// One if the sum is one or more, else zero. The factor leaves a third of one on both sides to the rounding of fast
/// convolutions.
fn step(circuit: &mut Circuit, lane: usize, name: String, sum: Sum) -> Sum {
    let some = circuit.inner(lane, name.clone(), 3 * sum.clone() - 1);
    let beyond = circuit.inner(lane, format!("{name}, beyond one"), 3 * sum - 2);
    some - beyond
}

/// Three if the point and its neighbours in the north and east are empty and the other two are not.
fn corner(empty: &Sum, frame: Frame) -> Sum {
    empty.clone() + empty.clone().at(frame.north) + empty.clone().at(frame.east)
        - empty.clone().at(frame.west())
        - empty.clone().at(frame.south())
}

fn known_safe(scan: &Scan) -> Sum {
    scan.out + scan.safe
}
