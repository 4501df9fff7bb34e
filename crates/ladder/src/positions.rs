//! Positions to test a ladder reader on, made from seeds.

use go::{Board, BoardSize, Color, First, LadderReader, LadderVerdict, Point};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::frame::{Frame, HERE, Offset, SIDES};

/// Fewest and most moves of a random game; the spread covers boards from open to nearly full.
const RANDOM_MOVES: std::ops::Range<usize> = 30..180;
/// How often a random game looks for a legal point before it skips a move.
const TRIES: usize = 50;

/// What is asked on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Does extending save the string?
    Escape,
    /// Does this atari capture the string?
    Chase,
}

/// One question about one board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// What is asked.
    pub kind: Kind,
    /// A stone of the string that runs.
    pub prey: Point,
    /// The move in question, by the side to move.
    pub point: Point,
    /// Who would play it.
    pub to_move: Color,
}

/// The start of a planted ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// One stone, in the open.
    Stone,
    /// One stone, perhaps on the edge: hunters that would be off the board are left out.
    StoneAnywhere,
    /// Three stones in a bend, the only shape the original network knows.
    Bend,
}

/// How to make boards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// The start of a ladder anywhere on the board, and up to so many stray stones.
    Planted {
        /// Which question is planted.
        kind: Kind,
        /// Most stray stones.
        strays: usize,
        /// What the runner looks like.
        start: Start,
    },
    /// Random moves, both sides in turn.
    RandomPlay,
    /// A planted ladder that has been running for a while.
    Running,
}

impl Start {
    /// The friends of the head and the hunters around, seen from the head.
    fn stones(self, kind: Kind, frame: Frame) -> (Vec<Offset>, Vec<Offset>) {
        let Frame { north, east } = frame;
        let (south, west) = (frame.south(), frame.west());
        match (self, kind) {
            (Start::Stone | Start::StoneAnywhere, Kind::Escape) => {
                (vec![], vec![west, south, east, frame.northwest()])
            }
            (Start::Stone | Start::StoneAnywhere, Kind::Chase) => {
                (vec![], vec![west, south, frame.northwest()])
            }
            (Start::Bend, Kind::Escape) => (
                vec![west, west + south],
                vec![
                    frame.northwest(),
                    east,
                    south,
                    west + west,
                    west + west + south,
                    west + south + south,
                ],
            ),
            (Start::Bend, Kind::Chase) => (
                vec![west, west + south],
                vec![
                    south,
                    north + west,
                    west + west,
                    south + south + west,
                    west + west + south,
                ],
            ),
        }
    }
}

/// Boards of one recipe, endless, the same for the same seed.
pub struct Boards {
    recipe: Recipe,
    size: BoardSize,
    rng: Xoshiro256PlusPlus,
    reader: LadderReader,
}

impl Boards {
    /// Boards of `size` by `recipe`.
    pub fn new(recipe: Recipe, size: BoardSize, seed: u64) -> Boards {
        Boards {
            recipe,
            size,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            reader: LadderReader::default(),
        }
    }

    fn planted(&mut self, kind: Kind, strays: usize, start: Start) -> Option<Board> {
        let size = self.size;
        let prey_color = Color::BOTH[self.rng.random_range(0..2)];
        let frames: Vec<Frame> = Frame::all().collect();
        let frame = frames[self.rng.random_range(0..frames.len())];
        let head = Point::new(self.below(size.get()), self.below(size.get()));
        let (friends, hunters) = start.stones(kind, frame);
        // In the frame, the runner goes north; for a chase, the atari is in the east.
        let liberties = match kind {
            Kind::Escape => vec![frame.north],
            Kind::Chase => vec![frame.north, frame.east],
        };
        let mut board = Board::new(size);
        let _ = board.play(head, prey_color);
        for step in friends {
            let _ = board.play(shifted(size, head, step)?, prey_color);
        }
        for step in hunters {
            match shifted(size, head, step) {
                Some(point) => drop(board.play(point, prey_color.opponent())),
                None if start == Start::StoneAnywhere => {}
                None => return None,
            }
        }
        let kept: Option<Vec<Point>> = liberties
            .iter()
            .map(|&step| shifted(size, head, step))
            .collect();
        let kept = kept?;
        for _ in 0..self.below(strays + 1) {
            let point = Point::new(self.below(size.get()), self.below(size.get()));
            let color = Color::BOTH[self.rng.random_range(0..2)];
            let captures = |board: &Board| {
                let mut others = board.adjacent_blocks(point, color.opponent());
                others.any(|block| board.liberty_count(block) == 1)
            };
            if !kept.contains(&point)
                && board.is_empty(point)
                && !board.is_suicide(point, color)
                && !captures(&board)
            {
                let _ = board.play(point, color);
            }
        }
        board.clear_ko();
        Some(board)
    }

    fn random_play(&mut self) -> Board {
        let mut board = Board::new(self.size);
        let mut color = Color::Black;
        for _ in 0..self.rng.random_range(RANDOM_MOVES) {
            for _ in 0..TRIES {
                let point = Point::new(self.below(self.size.get()), self.below(self.size.get()));
                if board.is_legal(point, color) {
                    let _ = board.play(point, color);
                    break;
                }
            }
            color = color.opponent();
        }
        board.clear_ko();
        board
    }

    fn running(&mut self) -> Option<Board> {
        const STRAYS: usize = 9;
        let mut board = self.planted(Kind::Escape, STRAYS, Start::Stone)?;
        let question = questions(&board)
            .into_iter()
            .find(|question| question.kind == Kind::Escape)?;
        let line = self
            .reader
            .read(&board, question.prey, First::Defender)
            .line;
        // Whole turns, so that it is the runner's move again.
        let turns = self.below(line.len() / 2 + 1);
        for &(color, point) in &line[..2 * turns] {
            let _ = board.play(point, color);
        }
        board.clear_ko();
        Some(board)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.rng.random_range(0..bound)
    }
}

impl Iterator for Boards {
    type Item = Board;

    fn next(&mut self) -> Option<Board> {
        loop {
            let board = match self.recipe {
                Recipe::Planted {
                    kind,
                    strays,
                    start,
                } => self.planted(kind, strays, start),
                Recipe::RandomPlay => Some(self.random_play()),
                Recipe::Running => self.running(),
            };
            if board.is_some() {
                return board;
            }
        }
    }
}

/// Boards from the main line of a game record, one every so many moves. What cannot be replayed ends the record.
pub fn from_record(tree: &go::sgf::Tree, every: usize) -> Vec<Board> {
    let line = tree.main_line();
    let nodes = line.iter().skip(every).step_by(every.max(1));
    nodes
        .map_while(|&node| tree.game_at(node).ok())
        .map(|game| {
            let mut board = game.board().clone();
            board.clear_ko();
            board
        })
        .collect()
}

/// Every ladder the exact reader can be asked about: the extension of each string in atari, and both ataris on each
/// string with two liberties, as far as they are legal.
pub fn questions(board: &Board) -> Vec<Question> {
    let mut found = Vec::new();
    for (prey, first) in LadderReader::questions(board) {
        let runner = board.stone(prey).expect("a ladder is about stones");
        let (kind, to_move) = match first {
            First::Defender => (Kind::Escape, runner),
            First::Attacker => (Kind::Chase, runner.opponent()),
        };
        let liberties = board.liberties(prey);
        let legal = liberties.filter(|&point| board.is_legal(point, to_move));
        found.extend(legal.map(|point| Question {
            kind,
            prey,
            point,
            to_move,
        }));
    }
    found
}

/// The same, those of one side first, and of these the ladders that the next move does not decide: what a reader of
/// the position would ask about first.
pub fn questions_for(board: &Board, to_move: Color) -> Vec<Question> {
    let mut found = questions(board);
    found.sort_by_key(|question| (question.to_move != to_move, !runs_on(board, question)));
    found
}

/// Where the runner goes: to its liberty, or to the one that the atari leaves it.
pub fn landing(board: &Board, question: &Question) -> Point {
    let mut liberties = board.liberties(question.prey);
    let landing = match question.kind {
        Kind::Escape => liberties.next(),
        Kind::Chase => liberties.find(|&liberty| liberty != question.point),
    };
    landing.unwrap_or(question.point)
}

/// The ladders that the landing may turn into, each with the point at which it starts: none if the next move decides or
/// a liberty lies elsewhere.
pub fn ladders_from(board: &Board, question: &Question) -> Vec<(Frame, Point)> {
    let size = board.size();
    let start = landing(board, question);
    let empty = |step: Offset| {
        shifted(size, start, step)
            .is_some_and(|point| board.is_empty(point) && point != question.point)
    };
    let open: Vec<Offset> = SIDES.into_iter().filter(|&side| empty(side)).collect();
    let [one, other] = open[..] else {
        return Vec::new();
    };
    if one == -other {
        let driven = Frame::all().filter(|frame| frame.north == one || frame.north == other);
        let arrivals = driven.filter(|frame| !empty(frame.north + frame.west()));
        return arrivals
            .filter_map(|frame| Some((frame, shifted(size, start, frame.north)?)))
            .collect();
    }
    let frames = [(one, other), (other, one)].map(|(north, east)| Frame { north, east });
    let frames = frames.into_iter();
    frames
        .filter(|frame| !empty(frame.southeast()))
        .map(|frame| (frame, start))
        .collect()
}

/// Whether the ladder goes on after the move in question and the best answer: the runner then has two liberties, or
/// there is a chaser to take. Otherwise the next move decides, and no reading is needed.
pub fn runs_on(board: &Board, question: &Question) -> bool {
    let mut board = board.clone();
    if board.check(question.point, question.to_move).is_err() {
        return false;
    }
    let _ = board.play(question.point, question.to_move);
    if question.kind == Kind::Escape {
        return board.liberty_count(question.point) == 2;
    }
    let runner = question.to_move.opponent();
    let can_take = board.stones(question.prey).any(|stone| {
        let mut chasers = board.adjacent_blocks(stone, question.to_move);
        chasers.any(|chaser| board.liberty_count(chaser) == 1)
    });
    let last = board.liberties(question.prey).next();
    can_take
        || last.is_some_and(|last| {
            !board.is_suicide(last, runner) && {
                let _ = board.play(last, runner);
                board.liberty_count(last) == 2
            }
        })
}

/// The exact answer: does the extension escape, does the atari capture?
pub fn truth(reader: &mut LadderReader, board: &Board, question: &Question) -> bool {
    let mut board = board.clone();
    if board.check(question.point, question.to_move).is_err() {
        return false;
    }
    let _ = board.play(question.point, question.to_move);
    match question.kind {
        Kind::Escape => {
            reader.verdict(&mut board, question.point, First::Attacker) == LadderVerdict::Escapes
        }
        Kind::Chase => {
            reader.verdict(&mut board, question.prey, First::Defender) == LadderVerdict::Captured
        }
    }
}

/// The point `step` away, if it is on the board.
pub fn shifted(size: BoardSize, point: Point, step: Offset) -> Option<Point> {
    if step == HERE {
        return Some(point);
    }
    let x = point.x().checked_add_signed(step.x.into())?;
    let y = point.y().checked_add_signed(step.y.into())?;
    (x < size.get() && y < size.get()).then(|| Point::new(x, y))
}
