//! Ladders, read exactly: can a block be captured by atari after atari?
//!
//! The attacker plays only on liberties of the prey, which must then have one liberty left; the
//! defender extends there or captures a neighbouring block that is in atari itself. Three
//! liberties on the attacker's turn are an escape. Throw-ins, snapbacks, double ataris and the
//! capture of chasers need no rule of their own: they are such moves.
//!
//! Kos are decided as if the defender had a threat for each and the attacker none: the
//! defender may retake a ko at once, the attacker may not. A chase that comes back to a
//! position it has been in goes to the attacker: that is a double ko, in which the defender
//! needs another threat each time round. The same rule decides a triple ko and any longer
//! cycle: whoever has to find the extra threats, here the defender, loses the chase.

mod defences;

use defences::Defences;

use crate::{Board, Color, Point, PointSet, Undo};

/// Enough for any ladder met in play; more than this means a maze of captures.
pub const DEFAULT_NODES: usize = 25_000;

/// The prey is out when it has this many liberties on the attacker's turn.
const LIBERTIES_TO_ESCAPE: usize = 3;

/// A block with more liberties than this stays out of atari when it loses one.
const FEW_LIBERTIES: usize = 2;

/// How a ladder ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LadderVerdict {
    /// The prey is captured.
    Captured,
    /// The prey gets away.
    Escapes,
    /// The node budget was used up before the answer was known.
    Unknown,
}

/// Who moves first in a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum First {
    /// The side that wants to capture.
    Attacker,
    /// The side that owns the prey.
    Defender,
}

/// All there is to say about a ladder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    pub verdict: LadderVerdict,
    /// The first moves that reach that end for the side that gains by it: the attacker's
    /// capturing moves, or the defender's saving ones. Empty when the other side moves first.
    pub working_moves: Vec<Point>,
    /// The line of play: the winning side plays a working move, the other resists longest.
    pub line: Vec<(Color, Point)>,
    /// How many moves were tried.
    pub nodes: usize,
}

/// Reads ladders. It keeps its memory from reading to reading.
pub struct LadderReader {
    budget: usize,
    nodes: usize,
    exhausted: bool,
    prey: Point,
    attacker: Color,
    defender: Color,
    /// Hashes of the positions on the way to the current one, in turns.
    path: Vec<u64>,
    /// A stone of each attacker's block beside the prey that came into atari on the way.
    endangered: Vec<Point>,
    /// With a line wanted: the best line from each depth on.
    lines: Option<Vec<Vec<Point>>>,
    /// With a shadow wanted: every point the reading depends on so far.
    shadow: Option<PointSet>,
}

impl Default for LadderReader {
    fn default() -> LadderReader {
        LadderReader::new(DEFAULT_NODES)
    }
}

impl LadderReader {
    /// A reader that tries at most `nodes` moves for one answer.
    pub fn new(nodes: usize) -> LadderReader {
        LadderReader {
            budget: nodes,
            nodes: 0,
            exhausted: false,
            prey: Point::new(0, 0),
            attacker: Color::Black,
            defender: Color::White,
            path: Vec::new(),
            endangered: Vec::new(),
            lines: None,
            shadow: None,
        }
    }

    /// How the ladder on the block at `prey` ends. The board is used to try moves on and is
    /// returned as it was.
    ///
    /// With the attacker to move, a ko on the board binds him. With the defender to move, the
    /// prey escapes unless it is in atari.
    ///
    /// # Panics
    /// If there is no stone at `prey`.
    pub fn verdict(&mut self, board: &mut Board, prey: Point, first: First) -> LadderVerdict {
        self.start(board, prey);
        let captured = match first {
            First::Attacker => self.attack(board, None),
            First::Defender => self.defend(board, None),
        };
        self.conclude(captured)
    }

    /// The moves with which the attacker, moving first, captures the block at `prey`. The
    /// second value is false when the budget ran out on a move, which then is not listed.
    pub fn capturing_moves(&mut self, board: &mut Board, prey: Point) -> (Vec<Point>, bool) {
        self.start(board, prey);
        let liberties: Vec<Point> = board.liberties(prey).collect();
        let mut complete = true;
        let mut working = Vec::new();
        if liberties.len() >= LIBERTIES_TO_ESCAPE {
            return (working, complete);
        }
        for &liberty in &liberties {
            self.restart(board);
            if board.check(liberty, self.attacker).is_ok() {
                let captured = liberties.len() == 1 || self.try_attack(board, liberty, None);
                complete &= !self.exhausted;
                if captured && !self.exhausted {
                    working.push(liberty);
                }
            }
        }
        (working, complete)
    }

    /// The moves with which the defender, moving first, gets the block at `prey` out of atari
    /// and away. Empty too when it is not in atari. The second value as above.
    pub fn saving_moves(&mut self, board: &mut Board, prey: Point) -> (Vec<Point>, bool) {
        self.start(board, prey);
        let mut complete = true;
        let mut working = Vec::new();
        if board.liberty_count(prey) > 1 {
            return (working, complete);
        }
        self.note_all_endangered(board);
        let last_liberty = board.liberties(prey).next();
        for defence in self.defences(board, last_liberty) {
            self.restart(board);
            self.note_all_endangered(board);
            if board.is_suicide(defence, self.defender) {
                continue;
            }
            let captured = self.try_defence(board, defence, false);
            complete &= !self.exhausted;
            if !captured && !self.exhausted {
                working.push(defence);
            }
        }
        (working, complete)
    }

    /// The verdict with the working moves and the whole line of play.
    pub fn read(&mut self, board: &Board, prey: Point, first: First) -> Reading {
        let mut board = board.clone();
        self.lines = Some(Vec::new());
        let verdict = self.verdict(&mut board, prey, first);
        let lines = self.lines.take().unwrap_or_default();
        let nodes = self.nodes;
        let (working_moves, _) = match (verdict, first) {
            (LadderVerdict::Captured, First::Attacker) => self.capturing_moves(&mut board, prey),
            (LadderVerdict::Escapes, First::Defender) => self.saving_moves(&mut board, prey),
            _ => (Vec::new(), true),
        };
        let starter = match first {
            First::Attacker => self.attacker,
            First::Defender => self.defender,
        };
        let turns = [starter, starter.opponent()].into_iter().cycle();
        let line = match verdict {
            LadderVerdict::Unknown => Vec::new(),
            _ => turns
                .zip(lines.into_iter().next().unwrap_or_default())
                .collect(),
        };
        Reading {
            verdict,
            working_moves,
            line,
            nodes,
        }
    }

    /// Every block a ladder can be about, each once: those in atari, which the defender would
    /// run with first, and those with two liberties, which the attacker would chase.
    pub fn questions(board: &Board) -> Vec<(Point, First)> {
        let mut questions = Vec::new();
        for point in board.size().points() {
            if board.stone(point).is_none() || board.block(point) != point {
                continue;
            }
            match board.liberty_count(point) {
                1 => questions.push((point, First::Defender)),
                2 => questions.push((point, First::Attacker)),
                _ => {}
            }
        }
        questions
    }

    /// Like [`LadderReader::verdict`], with the shadow of a capture: if the defender adds a
    /// stone outside it before the ladder starts, the same ladder still captures.
    ///
    /// An added stone can change a ladder in four ways, and the shadow holds the points of each:
    /// it occupies a point that the ladder plays on; it gives the prey, or a friend that the prey
    /// runs into, a liberty more; it brings a chaser with two liberties into atari, so that the
    /// defender can take it; or it takes a block that is in atari already.
    pub(crate) fn verdict_with_shadow(
        &mut self,
        board: &mut Board,
        prey: Point,
        first: First,
    ) -> (LadderVerdict, PointSet) {
        self.shadow = Some(PointSet::EMPTY);
        let verdict = self.verdict(board, prey, first);
        let mut shadow = self.shadow.take().unwrap_or_default();
        for stone in board.stone_set(self.attacker).iter() {
            if board.liberty_count(stone) == 1 {
                shadow.extend(board.liberties(stone));
            }
        }
        (verdict, shadow)
    }

    /// How many moves the last answer took.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    fn start(&mut self, board: &Board, prey: Point) {
        let Some(defender) = board.stone(prey) else {
            panic!("there is no stone at {prey} to read a ladder for");
        };
        self.prey = prey;
        self.defender = defender;
        self.attacker = defender.opponent();
        self.restart(board);
    }

    fn restart(&mut self, board: &Board) {
        self.nodes = 0;
        self.exhausted = false;
        self.path.clear();
        self.path.push(board.hash());
        self.endangered.clear();
        if let Some(lines) = &mut self.lines {
            lines.clear();
            lines.push(Vec::new());
        }
    }

    fn conclude(&self, captured: bool) -> LadderVerdict {
        match captured {
            _ if self.exhausted => LadderVerdict::Unknown,
            true => LadderVerdict::Captured,
            false => LadderVerdict::Escapes,
        }
    }

    /// Attacker to move: is the prey captured? `extension` is the move the defender just ran
    /// out with.
    fn attack(&mut self, board: &mut Board, extension: Option<Point>) -> bool {
        self.begin_line();
        match board.liberty_count(self.prey) {
            1 => self.take(board),
            2 => self.attack_two_liberties(board, extension),
            _ => false,
        }
    }

    /// The prey is in atari; only a ko can keep the attacker from taking it.
    fn take(&mut self, board: &Board) -> bool {
        let is_last_liberty_wanted =
            board.ko_point().is_some() || self.lines.is_some() || self.shadow.is_some();
        if !is_last_liberty_wanted {
            return true;
        }
        let Some(last) = board.liberties(self.prey).next() else {
            return true;
        };
        if board.ko_point() == Some(last) {
            return false;
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.insert(last);
        }
        self.note_line(&[last], true);
        true
    }

    fn attack_two_liberties(&mut self, board: &mut Board, extension: Option<Point>) -> bool {
        let Some([a, b]) = self.two_liberties(board, extension) else {
            return false;
        };
        let room_at_a = room_after_extending(board, a, b);
        let room_at_b = room_after_extending(board, b, a);
        // First the liberty on which the prey would gain most.
        let order = if room_at_b > room_at_a {
            [(b, a, room_at_a), (a, b, room_at_b)]
        } else {
            [(a, b, room_at_b), (b, a, room_at_a)]
        };
        for (attack, other, room) in order {
            if room >= LIBERTIES_TO_ESCAPE {
                self.note_line(&[attack, other], false);
                if let Some(shadow) = &mut self.shadow {
                    shadow.extend([attack, other]);
                }
                continue;
            }
            if board.check(attack, self.attacker).is_ok()
                && self.try_attack(board, attack, Some(other))
            {
                return true;
            }
        }
        false
    }

    /// The prey's two liberties. After a plain extension from atari both lie beside it.
    fn two_liberties(&self, board: &Board, extension: Option<Point>) -> Option<[Point; 2]> {
        if let Some(extension) = extension {
            let mut beside = extension
                .neighbors()
                .into_iter()
                .filter(|&n| board.is_empty(n));
            if let (Some(a), Some(b), None) = (beside.next(), beside.next(), beside.next()) {
                return Some([a, b]);
            }
        }
        let mut liberties = board.liberties(self.prey);
        Some([liberties.next()?, liberties.next()?])
    }

    /// Plays an attack. `last_liberty` is the liberty it leaves, if known.
    fn try_attack(
        &mut self,
        board: &mut Board,
        attack: Point,
        last_liberty: Option<Point>,
    ) -> bool {
        let undo = board.play(attack, self.attacker);
        let captured = match self.enter(board, attack, &undo) {
            Some(decided) => decided,
            None => self.defend(board, last_liberty.map(|last| (attack, last))),
        };
        self.leave(board, undo);
        self.note_child(attack, captured);
        captured
    }

    /// Defender to move: is the prey captured all the same? `attack` is the move just played
    /// and the liberty it left.
    fn defend(&mut self, board: &mut Board, attack: Option<(Point, Point)>) -> bool {
        self.begin_line();
        if board.liberty_count(self.prey) > 1 {
            return false;
        }
        let endangered_before = self.endangered.len();
        match attack {
            // Nothing is noted yet at the root and after its first move.
            Some((attack, _)) if self.path.len() > 2 => self.note_if_endangered(board, attack),
            _ => self.note_all_endangered(board),
        }
        let last_liberty = match attack {
            Some((_, last_liberty)) => Some(last_liberty),
            None => board.liberties(self.prey).next(),
        };
        let defences = self.defences(board, last_liberty);
        let captured = defences.into_iter().all(|defence| {
            if board.is_suicide(defence, self.defender) {
                self.cast_shadow_of_suicide(board, defence);
                return true;
            }
            let is_extension = Some(defence) == last_liberty;
            self.try_defence(board, defence, is_extension) && !self.exhausted
        });
        self.endangered.truncate(endangered_before);
        captured
    }

    fn try_defence(&mut self, board: &mut Board, defence: Point, is_extension: bool) -> bool {
        let stones_before = board.stone_count(self.prey);
        let undo = board.play(defence, self.defender);
        let is_plain_extension = is_extension
            && undo.captured_stones() == 0
            && board.stone_count(self.prey) == stones_before + 1;
        let endangered_before = self.endangered.len();
        let captured = match self.enter(board, defence, &undo) {
            Some(decided) => decided,
            None => {
                if is_plain_extension {
                    // It took a liberty from the blocks around it.
                    for head in board.adjacent_blocks(defence, self.attacker) {
                        self.note_if_endangered(board, head);
                    }
                } else {
                    // New neighbours, or new liberties: look all around.
                    self.note_all_endangered(board);
                }
                self.attack(board, is_plain_extension.then_some(defence))
            }
        };
        self.endangered.truncate(endangered_before);
        self.leave(board, undo);
        self.note_child(defence, !captured);
        captured
    }

    #[inline]
    fn note_if_endangered(&mut self, board: &Board, stone: Point) {
        if board.liberty_count(stone) == 1 && !self.endangered.contains(&stone) {
            self.endangered.push(stone);
        }
    }

    /// Notes every block of the attacker in atari beside the prey.
    fn note_all_endangered(&mut self, board: &Board) {
        for stone in board.stones(self.prey) {
            for neighbor in stone.neighbors() {
                if board.is_stone(neighbor, self.attacker) {
                    self.note_if_endangered(board, board.block(neighbor));
                }
            }
        }
    }

    /// Captures of chasers first: they often end the chase at once. Then the last liberty.
    fn defences(&self, board: &Board, last_liberty: Option<Point>) -> Defences {
        let mut defences = Defences::default();
        for &stone in &self.endangered {
            if board.is_stone(stone, self.attacker) && board.liberty_count(stone) == 1 {
                defences.add(board.liberties(stone).next());
            }
        }
        defences.add(last_liberty);
        defences
    }

    /// Counts the move just played. A known result ends the search here.
    #[inline]
    fn enter(&mut self, board: &Board, point: Point, undo: &Undo) -> Option<bool> {
        self.nodes += 1;
        if self.shadow.is_some() {
            self.cast_shadow(board, point);
        }
        let hash = board.hash();
        // Only captures lead back; the same side was to move two, four, ... positions ago.
        let is_repetition = undo.captured_stones() > 0
            && self
                .path
                .iter()
                .rev()
                .skip(1)
                .step_by(2)
                .any(|&earlier| earlier == hash);
        self.path.push(hash);
        if self.nodes > self.budget {
            self.exhausted = true;
            return Some(false);
        }
        if is_repetition {
            self.begin_line();
            return Some(true);
        }
        None
    }

    /// Adds what the position after a move at `played` depends on to the shadow.
    fn cast_shadow(&mut self, board: &Board, played: Point) {
        let Some(shadow) = &mut self.shadow else {
            return;
        };
        shadow.insert(played);
        shadow.extend(board.liberties(self.prey));
        let prey = board.stones(self.prey);
        let beside = prey.chain([played]).flat_map(|stone| stone.neighbors());
        for stone in beside.chain([played]) {
            let is_chaser = board.is_stone(stone, self.attacker);
            if (is_chaser || stone == played) && board.liberty_count(stone) <= FEW_LIBERTIES {
                shadow.extend(board.liberties(stone));
            }
        }
    }

    /// A move that would be suicide becomes a capture if a chaser beside it loses its other
    /// liberty.
    fn cast_shadow_of_suicide(&mut self, board: &Board, suicide: Point) {
        let Some(shadow) = &mut self.shadow else {
            return;
        };
        for head in board.adjacent_blocks(suicide, self.attacker) {
            if board.liberty_count(head) <= FEW_LIBERTIES {
                shadow.extend(board.liberties(head));
            }
        }
    }

    #[inline]
    fn leave(&mut self, board: &mut Board, undo: Undo) {
        self.path.pop();
        board.undo(undo);
    }

    /// The depth of a node is the number of moves on its path.
    fn begin_line(&mut self) {
        let depth = self.path.len() - 1;
        if let Some(lines) = &mut self.lines {
            if lines.len() <= depth + 1 {
                lines.resize(depth + 2, Vec::new());
            }
            lines[depth].clear();
        }
    }

    /// Keeps a line from here if it decides for the side to move, or resists longer.
    fn note_line(&mut self, line: &[Point], wins: bool) {
        let depth = self.path.len() - 1;
        if let Some(lines) = &mut self.lines
            && (wins || line.len() > lines[depth].len())
        {
            lines[depth] = line.to_vec();
        }
    }

    fn note_child(&mut self, point: Point, wins: bool) {
        let depth = self.path.len() - 1;
        if let Some(lines) = &mut self.lines {
            let mut line = vec![point];
            line.extend_from_slice(lines.get(depth + 1).map_or(&[], Vec::as_slice));
            if wins || line.len() > lines[depth].len() {
                lines[depth] = line;
            }
        }
    }
}

/// A lower bound of the prey's liberties after the attacker took `lost` and it extended to
/// `extension`: the empty neighbours there.
#[inline]
fn room_after_extending(board: &Board, extension: Point, lost: Point) -> usize {
    extension
        .neighbors()
        .into_iter()
        .filter(|&neighbor| board.is_empty(neighbor) && neighbor != lost)
        .count()
}
