//! Positions as planes of numbers.
//!
//! Planes are laid out row by row from the top, `y, x, plane`, as the original's files are. The
//! original's sets are kept exactly; ours adds what its authors had planned.

use std::fmt;
use std::str::FromStr;

use go::{Board, Color, First, GetaReader, LadderReader, LadderVerdict, Point, PointSet};
use thiserror::Error;

use crate::network::eyes::{
    can_be_eye, can_be_eye_simply, euler_number, eyes_in, is_sure_eye, nakade_centre, regions,
};
use crate::problem::zone::wall_stones;
use crate::problem::{Problem, Side};

/// Which planes to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FeatureSet {
    /// The first five: outside, ally, enemy, in atari, has a neighbour of its colour.
    Original5,
    /// Thirteen, with a ring around the board.
    Original13,
    /// Fourteen, with an all-zero and an all-one plane.
    Original14,
    /// Fourteen, with two planes for who starts.
    Original14First,
    /// Ours.
    Tengen,
}

/// The names of our planes, in order.
pub const TENGEN_PLANES: [&str; 58] = [
    "on the board",
    "attacker starts",
    "defender starts",
    "ally",
    "enemy",
    "target",
    "sure eye",
    "1 liberty",
    "2 liberties",
    "3 liberties",
    "4 liberties or more",
    "1 stone",
    "2 stones",
    "3 stones",
    "4 stones or more",
    "can be an eye of the ally",
    "can be an eye of the enemy",
    "no enemy beside the point",
    "no ally beside the point",
    "captured in a ladder",
    "captured in a ladder even if its owner starts",
    "captured in a net",
    "net move",
    "nakade centre",
    "safe ally",
    "safe enemy",
    "region of 1",
    "region of 2",
    "region of 3",
    "region of 4",
    "region of 5",
    "region of 6",
    "region of 7 or more",
    "empty points of the region",
    "enemy stones in the region",
    "region vital to the target",
    "an eye if the defender starts",
    "two eyes if the defender starts",
    "an eye if the attacker starts",
    "two eyes if the attacker starts",
    "Euler number of the ally",
    "Euler number of the enemy",
    "ally plays: 1 liberty",
    "ally plays: 2 liberties",
    "ally plays: 3 liberties",
    "ally plays: 4 liberties or more",
    "enemy plays: 1 liberty",
    "enemy plays: 2 liberties",
    "enemy plays: 3 liberties",
    "enemy plays: 4 liberties or more",
    "self-atari of the ally",
    "self-atari of the enemy",
    "stones the ally captures",
    "stones the enemy captures",
    "distance to the target",
    "zone",
    "second liberty of the target",
    "ko",
];

/// Counts are kept as small whole numbers up to this, and divided by it for a network.
pub const LARGEST_COUNT: i64 = 8;

/// A feature set that is none of the names.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown planes {0:?}: expected 5, 13, 14, 14-first or tengen")]
pub struct UnknownFeatureSet(String);

impl FromStr for FeatureSet {
    type Err = UnknownFeatureSet;

    fn from_str(name: &str) -> Result<FeatureSet, UnknownFeatureSet> {
        match name {
            "5" => Ok(FeatureSet::Original5),
            "13" => Ok(FeatureSet::Original13),
            "14" => Ok(FeatureSet::Original14),
            "14-first" => Ok(FeatureSet::Original14First),
            "tengen" => Ok(FeatureSet::Tengen),
            _ => Err(UnknownFeatureSet(name.to_owned())),
        }
    }
}

impl fmt::Display for FeatureSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FeatureSet::Original5 => "5",
            FeatureSet::Original13 => "13",
            FeatureSet::Original14 => "14",
            FeatureSet::Original14First => "14-first",
            FeatureSet::Tengen => "tengen",
        })
    }
}

impl FeatureSet {
    /// The number of planes.
    pub fn planes(self) -> usize {
        match self {
            FeatureSet::Original5 => 5,
            FeatureSet::Original13 => 13,
            FeatureSet::Original14 | FeatureSet::Original14First => 14,
            FeatureSet::Tengen => TENGEN_PLANES.len(),
        }
    }

    /// Whether the planes can show a position in which `first` starts. Where none says who does, it is always the
    /// attacker, as the original had it.
    pub fn can_show(self, first: Side) -> bool {
        let shows_first = matches!(self, FeatureSet::Original14First | FeatureSet::Tengen);
        shows_first || first == Side::Attacker
    }

    /// Points of border around the board.
    pub fn ring(self) -> usize {
        match self {
            FeatureSet::Original5 | FeatureSet::Original13 => 1,
            _ => 0,
        }
    }

    /// The set with this many planes, as a network's input tells it.
    pub fn with_planes(planes: usize) -> Option<FeatureSet> {
        match planes {
            5 => Some(FeatureSet::Original5),
            13 => Some(FeatureSet::Original13),
            14 => Some(FeatureSet::Original14First),
            _ => (planes == TENGEN_PLANES.len()).then_some(FeatureSet::Tengen),
        }
    }

    /// Whether a plane counts something, rather than being 0 or 1.
    pub fn is_count(self, plane: usize) -> bool {
        self == FeatureSet::Tengen
            && matches!(
                TENGEN_PLANES[plane],
                "empty points of the region"
                    | "enemy stones in the region"
                    | "Euler number of the ally"
                    | "Euler number of the enemy"
                    | "stones the ally captures"
                    | "stones the enemy captures"
                    | "distance to the target"
            )
    }
}

/// The planes of one position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planes {
    /// Which planes.
    pub set: FeatureSet,
    /// Rows and columns.
    pub side: usize,
    /// Values in the order y from the top, x, plane.
    pub values: Vec<i64>,
    /// Every stone of the target, as x and y from the top left, ring not counted; the marked one
    /// first.
    pub target: Vec<(usize, usize)>,
}

impl Planes {
    /// The value of a plane at a point of the board.
    pub fn at(&self, point: Point, plane: usize) -> i64 {
        self.values[self.index(point, plane)]
    }

    fn index(&self, point: Point, plane: usize) -> usize {
        let ring = self.set.ring();
        let row = self.side - 1 - ring - point.y();
        let column = point.x() + ring;
        (row * self.side + column) * self.set.planes() + plane
    }

    /// The `window` x `window` part around a target stone, plane by plane as networks take it,
    /// zero where it reaches over the planes' edge. Turned by one of eight symmetries: bit 2
    /// transposes, the low bits are quarter turns after that.
    pub fn window(&self, centre: (usize, usize), window: usize, symmetry: usize) -> Vec<f32> {
        let planes = self.set.planes();
        let ring = self.set.ring();
        let reach = (window / 2) as isize;
        let mut values = vec![0.0; planes * window * window];
        for row in 0..window {
            for column in 0..window {
                let (from_column, from_row) = turn(column, row, window, symmetry);
                let x = (centre.0 + ring) as isize + from_column as isize - reach;
                let y = (centre.1 + ring) as isize + from_row as isize - reach;
                let inside = 0..self.side as isize;
                if !inside.contains(&x) || !inside.contains(&y) {
                    continue;
                }
                let at = (y as usize * self.side + x as usize) * planes;
                for plane in 0..planes {
                    let value = self.values[at + plane] as f32;
                    let scale = if self.set.is_count(plane) {
                        LARGEST_COUNT as f32
                    } else {
                        1.0
                    };
                    values[(plane * window + row) * window + column] = value / scale;
                }
            }
        }
        values
    }
}

/// Where the value at (column, row) of a turned window comes from.
fn turn(column: usize, row: usize, window: usize, symmetry: usize) -> (usize, usize) {
    let last = window - 1;
    let (mut x, mut y) = (column, row);
    for _ in 0..symmetry % 4 {
        (x, y) = (y, last - x);
    }
    if symmetry & 4 != 0 { (y, x) } else { (x, y) }
}

/// The planes of a position with `first` to move.
pub fn features(problem: &Problem, first: Side, set: FeatureSet) -> Planes {
    let board = problem.board();
    let side = board.size().get() + 2 * set.ring();
    let top = board.size().get() - 1;
    let mut planes = Planes {
        set,
        side,
        values: vec![0; side * side * set.planes()],
        target: problem
            .target_stones()
            .into_iter()
            .map(|p| (p.x(), top - p.y()))
            .collect(),
    };
    // The marked stone comes first: windows on the original's planes are centred on it.
    let marked = problem.target()[0];
    let marked = (marked.x(), top - marked.y());
    planes
        .target
        .sort_unstable_by_key(|&(x, y)| ((x, y) != marked, y, x));
    if set.ring() == 1 {
        for y in 0..side {
            for x in 0..side {
                let on_ring = x == 0 || y == 0 || x + 1 == side || y + 1 == side;
                planes.values[(y * side + x) * set.planes()] = i64::from(on_ring);
            }
        }
    }
    let mut draw = Draw {
        problem,
        planes: &mut planes,
    };
    match set {
        FeatureSet::Original5 => draw.original_5(),
        FeatureSet::Original13 => draw.stones(1),
        FeatureSet::Original14 => {
            draw.fill(1, 1);
            draw.stones(2);
        }
        FeatureSet::Original14First => {
            draw.fill(usize::from(first == Side::Defender), 1);
            draw.stones(2);
        }
        FeatureSet::Tengen => draw.tengen(first),
    }
    planes
}

struct Draw<'a> {
    problem: &'a Problem,
    planes: &'a mut Planes,
}

impl Draw<'_> {
    fn board(&self) -> &Board {
        self.problem.board()
    }

    fn put(&mut self, plane: usize, point: Point, value: i64) {
        let at = self.planes.index(point, plane);
        self.planes.values[at] = value.clamp(-LARGEST_COUNT, LARGEST_COUNT);
    }

    fn mark(&mut self, plane: usize, points: impl IntoIterator<Item = Point>) {
        for point in points {
            self.put(plane, point, 1);
        }
    }

    fn fill(&mut self, plane: usize, value: i64) {
        for point in self.board().size().points() {
            self.put(plane, point, value);
        }
    }

    fn original_5(&mut self) {
        let problem = self.problem;
        let board = problem.board();
        self.mark(1, board.stone_set(problem.defender()).iter());
        self.mark(2, board.stone_set(problem.attacker()).iter());
        for stone in board.size().points().filter(|&p| board.stone(p).is_some()) {
            self.put(3, stone, i64::from(board.liberty_count(stone) == 1));
            self.put(4, stone, i64::from(board.stone_count(stone) > 1));
        }
    }

    /// Ally, enemy, target, sure eye, four planes of liberties, four of sizes, from plane `at`.
    fn stones(&mut self, at: usize) {
        const STEPS: usize = 4;
        let problem = self.problem;
        let board = problem.board();
        self.mark(at, board.stone_set(problem.defender()).iter());
        self.mark(at + 1, board.stone_set(problem.attacker()).iter());
        self.mark(at + 2, problem.target_stones());
        let eyes = board.size().points().filter(|&p| is_sure_eye(board, p));
        self.mark(at + 3, eyes);
        for stone in board.size().points().filter(|&p| board.stone(p).is_some()) {
            let liberties = board.liberty_count(stone).min(STEPS);
            let stones = board.stone_count(stone).min(STEPS);
            self.put(at + 3 + liberties, stone, 1);
            self.put(at + 3 + STEPS + stones, stone, 1);
        }
    }

    fn tengen(&mut self, first: Side) {
        let problem = self.problem;
        let (ally, enemy) = (problem.defender(), problem.attacker());
        self.fill(0, 1);
        self.fill(if first == Side::Attacker { 1 } else { 2 }, 1);
        self.stones(3);
        let wall = wall_stones(problem.board(), problem.target(), ally);
        let safe_enemies = wall | problem.board().unconditional_life(enemy).stones;
        let safe_allies = problem.board().unconditional_life(ally).stones;
        self.eye_points(15, ally, enemy, &safe_allies, &safe_enemies);
        self.tactics(19);
        self.mark(24, safe_allies.iter());
        self.mark(25, safe_enemies.iter());
        self.shapes(23, 26, &safe_enemies);
        for (plane, color) in [(40, ally), (41, enemy)] {
            let euler = euler_number(problem.board(), color);
            self.fill(plane, i64::from(euler));
        }
        self.plays(42, 50, [ally, enemy]);
        self.places(54);
    }

    fn eye_points(
        &mut self,
        at: usize,
        ally: Color,
        enemy: Color,
        safe_allies: &PointSet,
        safe_enemies: &PointSet,
    ) {
        let problem = self.problem;
        let board = problem.board();
        for point in board.size().points() {
            let eyes = [
                can_be_eye(board, point, ally, safe_enemies),
                can_be_eye(board, point, enemy, safe_allies),
                can_be_eye_simply(board, point, ally),
                can_be_eye_simply(board, point, enemy),
            ];
            for (plane, eye) in eyes.into_iter().enumerate() {
                self.put(at + plane, point, i64::from(eye));
            }
        }
    }

    /// Ladders, ladders with the owner first, nets and net moves.
    fn tactics(&mut self, at: usize) {
        /// Caps of one reading: enough for any on a board of this size.
        const LADDER_NODES: usize = 10_000;
        const NET_NODES: usize = 2_000;
        const NET_MOVES: usize = 3;
        const MOST_LIBERTIES: usize = 3;
        let mut board = self.board().clone();
        board.clear_ko();
        let mut ladders = LadderReader::new(LADDER_NODES);
        let mut nets = GetaReader::new(NET_MOVES, NET_NODES);
        let mut unseen = *board.stone_set(Color::Black) | *board.stone_set(Color::White);
        while let Some(stone) = unseen.first() {
            let block: Vec<Point> = board.stones(stone).collect();
            for &stone in &block {
                unseen.remove(stone);
            }
            if board.liberty_count(stone) > MOST_LIBERTIES {
                continue;
            }
            if ladders.verdict(&mut board, stone, First::Attacker) == LadderVerdict::Captured {
                self.mark(at, block.iter().copied());
                if board.liberty_count(stone) == 1
                    && ladders.verdict(&mut board, stone, First::Defender)
                        == LadderVerdict::Captured
                {
                    self.mark(at + 1, block.iter().copied());
                }
            }
            let net = nets.read(&mut board, stone);
            if net.verdict == LadderVerdict::Captured && !net.is_ladder {
                self.mark(at + 2, block);
                self.mark(at + 3, net.working_moves);
            }
        }
    }

    /// Nakade centres and what each region of the ally is worth.
    fn shapes(&mut self, centre: usize, at: usize, safe_enemies: &PointSet) {
        const SIZES: usize = 7;
        let problem = self.problem;
        let board = problem.board();
        let ally = problem.defender();
        let liberties: PointSet = problem
            .target()
            .iter()
            .flat_map(|&block| board.liberties(block))
            .collect();
        for region in regions(board, ally, safe_enemies) {
            if let Some(point) = nakade_centre(&region.points) {
                self.put(centre, point, 1);
            }
            let enemies = region.points - region.empty;
            let size = region.points.len().min(SIZES);
            let eyes_defended = eyes_in(&region.points, &enemies, true);
            let eyes_attacked = eyes_in(&region.points, &enemies, false);
            let vital = region.empty.is_subset(&liberties);
            for point in region.points.iter() {
                self.put(at + size - 1, point, 1);
                self.put(at + SIZES, point, region.empty.len() as i64);
                self.put(at + SIZES + 1, point, enemies.len() as i64);
                self.put(at + SIZES + 2, point, i64::from(vital));
                self.put(at + SIZES + 3, point, i64::from(eyes_defended >= 1));
                self.put(at + SIZES + 4, point, i64::from(eyes_defended >= 2));
                self.put(at + SIZES + 5, point, i64::from(eyes_attacked >= 1));
                self.put(at + SIZES + 6, point, i64::from(eyes_attacked >= 2));
            }
        }
    }

    /// What a stone of each colour would have and take.
    fn plays(&mut self, liberties_at: usize, effects_at: usize, colors: [Color; 2]) {
        const STEPS: usize = 4;
        let mut board = self.board().clone();
        let empty = board.empty_set();
        for (which, color) in colors.into_iter().enumerate() {
            for point in empty.iter() {
                if board.is_suicide(point, color) {
                    continue;
                }
                let undo = board.play(point, color);
                let liberties = board.liberty_count(point);
                let captured = undo.captured_stones();
                board.undo(undo);
                let step = liberties.clamp(1, STEPS) - 1;
                self.put(liberties_at + which * STEPS + step, point, 1);
                self.put(effects_at + which, point, i64::from(liberties == 1));
                self.put(effects_at + 2 + which, point, captured as i64);
            }
        }
    }

    /// Distance to the target, the zone, second liberties, the ko.
    fn places(&mut self, at: usize) {
        let problem = self.problem;
        let board = problem.board();
        let stones = problem.target_stones();
        for point in board.size().points() {
            let distance = stones
                .iter()
                .map(|stone| stone.x().abs_diff(point.x()) + stone.y().abs_diff(point.y()))
                .min();
            self.put(at, point, distance.unwrap_or(0) as i64);
        }
        self.mark(at + 1, problem.zone().iter().copied());
        let empty = board.empty_set();
        let liberties = stones.iter().copied().collect::<PointSet>().grown() & empty;
        self.mark(at + 2, ((liberties.grown() & empty) - liberties).iter());
        self.mark(at + 3, board.ko_point());
    }
}
