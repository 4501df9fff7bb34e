//! Depth-first proof-number search with sound repetition.
//!
//! A node is a position, a side to move and the ko state. The attacker proves a node by capturing
//! the target. Play without end is the defender's, with one exception: if the attacker is the ko
//! master and the defender never gets to pass, he is fighting a ko he cannot win.
//!
//! A result that leans on a repetition stands on its own once the search has returned through the
//! last position it leans on (the winner just goes round again), and only then enters the table.
//! So the table holds what is true on every path, and nothing else (the graph history interaction
//! problem, Kishimoto and Mueller 2004).
//!
//! In a wide zone most moves have nothing to do with the target. A node there first tries the moves
//! near it; once they all lose, the relevance zone of that loss says which others could matter, and
//! only those are tried (relevance-zone search, Shih, Wu, Wei and Wu 2022).

use crate::problem::Side;
use crate::problem::Threats;
use crate::search::bits::Bits;
use crate::search::field::{Field, index};
use crate::search::judge::{Judge, Judgement};
use crate::search::path::{Above, Depths, MAX_DEPTH, Path};
use crate::search::position::{NO_CELL, Played, Position};
use crate::search::table::{INFINITE, Table};
use crate::solver::{Clock, Guide, Limits};

/// Nodes between two looks at the clock.
const NODES_PER_LOOK: u64 = 256;

/// With more moves than this a node starts with those near the target. With fewer, finding out
/// which of the others matter costs more than reading them.
const ALL_AT_ONCE: u32 = 16;

/// In a wide zone a result that took this many nodes is kept as a pattern.
const LEAST_WORK_OF_PATTERN: u32 = 4;

/// Why a search stopped early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// A limit was reached, or the caller asked.
    Limit,
}

/// The outcome of a search that was not stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Captured,
    Safe,
}

impl Answer {
    /// What a side plays for.
    pub fn wanted_by(side: Side) -> Answer {
        match side {
            Side::Attacker => Answer::Captured,
            Side::Defender => Answer::Safe,
        }
    }
}

/// What one line of legal play leads to.
pub(crate) struct SearchMove<B> {
    pub position: Position<B>,
    /// The cell played, or [`NO_CELL`] for a pass.
    pub cell: u16,
}

/// Proof and disproof numbers, and what a result leans on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub pn: u32,
    pub dn: u32,
    pub leans: Depths,
}

impl Numbers {
    fn new(pn: u32, dn: u32) -> Numbers {
        let leans = Depths::EMPTY;
        Numbers { pn, dn, leans }
    }

    fn leaning(answer: Answer, leans: Depths) -> Numbers {
        let (pn, dn) = match answer {
            Answer::Captured => (0, INFINITE),
            Answer::Safe => (INFINITE, 0),
        };
        Numbers { pn, dn, leans }
    }

    #[inline]
    fn answer(&self) -> Option<Answer> {
        answer_of(self.pn, self.dn)
    }

    #[inline]
    pub fn is_solved(&self) -> bool {
        self.pn == 0 || self.dn == 0
    }

    /// How far the node looks from the win of a side, and of the other side.
    #[inline]
    pub fn seen_by(&self, side: Side) -> (u32, u32) {
        match side {
            Side::Attacker => (self.pn, self.dn),
            Side::Defender => (self.dn, self.pn),
        }
    }
}

fn answer_of(pn: u32, dn: u32) -> Option<Answer> {
    match (pn, dn) {
        (0, _) => Some(Answer::Captured),
        (_, 0) => Some(Answer::Safe),
        _ => None,
    }
}

#[derive(Clone, Copy)]
pub(super) struct Child<B> {
    pub position: Position<B>,
    pub key: u128,
    pub numbers: Numbers,
    /// What the result rests on, once solved.
    pub zone: B,
    pub cell: u16,
    pub captured: bool,
    /// Whether `numbers` is more than a placeholder.
    pub seen: bool,
    /// Whether `numbers` is a first estimate that a guide may refine.
    is_estimate: bool,
}

impl<B> Child<B> {
    fn is_pass(&self) -> bool {
        self.cell == NO_CELL
    }
}

/// What a visit to a node found.
struct Found<B> {
    numbers: Numbers,
    zone: B,
}

/// Where to go on.
struct Choice {
    best: usize,
    second: u32,
}

pub(crate) struct Search<'a, B> {
    pub field: &'a Field<B>,
    pub judge: Judge<'a, B>,
    pub nodes: u64,
    /// Nodes with more moves than this begin with the near ones.
    pub all_at_once: u32,
    /// Results that took this many nodes are kept as patterns.
    pub least_work_of_pattern: u32,
    /// Whether the zone is wide, so that patterns are worth their while.
    is_wide: bool,
    /// A count of nodes to stop at, beside the limit of the caller.
    stop_at: u64,
    pub(super) table: &'a mut Table<B>,
    limits: &'a Limits,
    clock: Clock,
    path: Path,
    pub(super) children: Vec<Child<B>>,
}

impl<'a, B: Bits> Search<'a, B> {
    pub fn new(
        field: &'a Field<B>,
        table: &'a mut Table<B>,
        limits: &'a Limits,
        guide: Option<&'a dyn Guide>,
    ) -> Self {
        Search {
            field,
            judge: Judge {
                field,
                guide,
                knows_hopeless: true,
            },
            nodes: 0,
            all_at_once: ALL_AT_ONCE,
            least_work_of_pattern: LEAST_WORK_OF_PATTERN,
            is_wide: false,
            stop_at: u64::MAX,
            table,
            limits,
            clock: Clock::start(),
            path: Path::default(),
            children: Vec::new(),
        }
    }

    /// Searches until the position is decided or a limit is reached.
    pub fn solve(&mut self, position: &Position<B>, side: Side) -> Result<Answer, Stop> {
        if self.field.is_captured(position) {
            return Ok(Answer::Captured);
        }
        if let Some(known) = self.known(position, side) {
            return Ok(known);
        }
        let key = self.field.key(position, side);
        let Judgement { pn, dn, zone } = self.judge.judge(position, side, true);
        if let Some(answer) = answer_of(pn, dn) {
            self.table.put(key, pn, dn, zone, 0);
            return Ok(answer);
        }
        let master = position.threats[index(Side::Attacker)] == Threats::ENDLESS;
        self.path.reset(master);
        self.children.clear();
        self.is_wide = (self.field.zone & self.field.empty(position)).count() > self.all_at_once;
        let root = Above { key, passes: 0 };
        let found = self.expand(position, side, root, (INFINITE, INFINITE), false)?;
        found.numbers.answer().ok_or(Stop::Limit)
    }

    /// What the table says of a position.
    pub fn known(&self, position: &Position<B>, side: Side) -> Option<Answer> {
        let entry = self.table.get(self.field.key(position, side))?;
        answer_of(entry.pn, entry.dn)
    }

    /// Solves with a limit of nodes of its own; `None` if it was reached.
    pub fn solve_within(
        &mut self,
        position: &Position<B>,
        side: Side,
        nodes: u64,
    ) -> Option<Answer> {
        self.stop_at = self.nodes.saturating_add(nodes);
        let found = self.solve(position, side).ok();
        self.stop_at = u64::MAX;
        found
    }

    /// Nodes spent below a position, as far as the table remembers.
    pub fn work(&self, position: &Position<B>, side: Side) -> u32 {
        let entry = self.table.get(self.field.key(position, side));
        entry.map_or(0, |entry| entry.work())
    }

    /// The relevance zone of a solved position; everything if the table does not hold it.
    pub fn zone_of_root(&self, position: &Position<B>, side: Side) -> B {
        match self.table.get(self.field.key(position, side)) {
            Some(entry) if answer_of(entry.pn, entry.dn).is_some() => entry.zone,
            _ => B::NONE,
        }
    }

    /// What the table or a look at the position says of it.
    pub fn plain(&self, position: &Position<B>, side: Side) -> Option<Answer> {
        self.known(position, side).or_else(|| {
            let Judgement { pn, dn, .. } = self.judge.judge(position, side, true);
            answer_of(pn, dn)
        })
    }

    /// Every legal move of a side and the pass, without any pruning.
    pub fn legal_steps(&self, position: &Position<B>, side: Side) -> Vec<SearchMove<B>> {
        let field = self.field;
        let mut steps = vec![SearchMove {
            position: field.pass(position),
            cell: NO_CELL,
        }];
        for cell in (field.zone & field.empty(position)).iter() {
            if let Some(played) = field.play(position, side, cell) {
                steps.push(SearchMove {
                    position: played.position,
                    cell: cell as u16,
                });
            }
        }
        steps
    }

    /// The heart of df-pn: works below a node until a threshold is passed.
    fn expand(
        &mut self,
        position: &Position<B>,
        side: Side,
        above: Above,
        limits: (u32, u32),
        repeatable: bool,
    ) -> Result<Found<B>, Stop> {
        let (pn_limit, dn_limit) = limits;
        self.nodes += 1;
        let nodes_before = self.nodes;
        self.look_at_limits()?;
        let depth = self.path.depth();
        if depth >= MAX_DEPTH {
            return Err(Stop::Limit);
        }
        if let Some(found) = self.known_by_pattern(position, side, above.key) {
            return Ok(found);
        }
        self.path.push(above);
        let base = self.children.len();
        let mut untried = self.push_children(position, side);
        self.probe_all(base, base, side, above, repeatable);
        let mut numbers;
        loop {
            let choice;
            (numbers, choice) = self.combine(base, side);
            let is_lost = numbers.seen_by(side).1 == 0;
            if is_lost && untried.any() {
                let relevant = self.relevant(position, side, numbers.leans, base) & untried;
                if relevant.any() {
                    let first_new = self.children.len();
                    self.push_moves(position, side, relevant);
                    untried = untried.without(relevant);
                    self.probe_all(base, first_new, side, above, repeatable);
                    continue;
                }
            }
            if numbers.is_solved() || numbers.pn >= pn_limit || numbers.dn >= dn_limit {
                break;
            }
            // Another line may have met this child since; the rest can wait until they are chosen.
            let before = self.children[choice.best].numbers;
            self.probe(choice.best, side.opponent(), above, repeatable);
            let child = self.children[choice.best];
            if (child.numbers.pn, child.numbers.dn) != (before.pn, before.dn) {
                continue;
            }
            let child_limits = match side {
                Side::Attacker => (
                    pn_limit.min(generous(choice.second)),
                    (dn_limit - numbers.dn)
                        .saturating_add(child.numbers.dn)
                        .min(INFINITE),
                ),
                Side::Defender => (
                    (pn_limit - numbers.pn)
                        .saturating_add(child.numbers.pn)
                        .min(INFINITE),
                    dn_limit.min(generous(choice.second)),
                ),
            };
            let result = self.expand(
                &child.position,
                side.opponent(),
                below(above, &child),
                child_limits,
                repeatable || child.captured,
            )?;
            let child = &mut self.children[choice.best];
            child.numbers = result.numbers;
            child.zone = result.zone;
            child.seen = true;
            self.spread(base, choice.best, side);
        }
        let zone = match numbers.answer() {
            Some(answer) => self.zone_of(position, side, answer, numbers.leans, base),
            None => B::NONE,
        };
        self.children.truncate(base);
        self.path.pop();
        numbers.leans = numbers.leans.without(depth);
        match numbers.answer() {
            Some(answer) if !numbers.leans.is_empty() => {
                self.path.remember(above, answer, numbers.leans);
            }
            _ => {
                let work = (self.nodes - nodes_before + 1).min(u64::from(u32::MAX)) as u32;
                self.table
                    .put(above.key, numbers.pn, numbers.dn, zone, work);
                if let Some(answer) = numbers.answer()
                    && self.is_wide
                    && work >= self.least_work_of_pattern
                    && zone != self.field.everything()
                {
                    let patterns = &mut self.table.patterns;
                    patterns.keep(self.field, position, side, answer, zone);
                }
            }
        }
        Ok(Found { numbers, zone })
    }

    /// The result of a position met for the first time, if a pattern fits it.
    fn known_by_pattern(
        &mut self,
        position: &Position<B>,
        side: Side,
        key: u128,
    ) -> Option<Found<B>> {
        if !self.is_wide || self.table.get(key).is_some() {
            return None;
        }
        let (answer, zone) = self.table.patterns.find(position, side)?;
        let numbers = Numbers::leaning(answer, Depths::EMPTY);
        self.table.put(key, numbers.pn, numbers.dn, zone, 1);
        Some(Found { numbers, zone })
    }

    fn look_at_limits(&self) -> Result<(), Stop> {
        if self.nodes > self.limits.nodes.min(self.stop_at) {
            return Err(Stop::Limit);
        }
        if self.nodes.is_multiple_of(NODES_PER_LOOK)
            && (self.clock.is_late(self.limits) || self.limits.is_interrupted())
        {
            return Err(Stop::Limit);
        }
        Ok(())
    }

    /// Lists the moves to begin with, and returns those left for later.
    fn push_children(&mut self, position: &Position<B>, side: Side) -> B {
        let field = self.field;
        let in_atari = side == Side::Defender && field.last_liberty(position).is_some();
        let passes = match side {
            Side::Defender => !in_atari,
            // A pass gains the attacker nothing but the end of a ban: the defender would pass
            // too, and nothing has changed.
            Side::Attacker => position.ban != NO_CELL,
        };
        if passes {
            self.push_child(field.pass(position), side, NO_CELL, false);
        }
        let all = field.candidates(position, side);
        let near = if in_atari || all.count() <= self.all_at_once {
            all
        } else {
            all & field.near(position)
        };
        self.push_moves(position, side, near);
        all.without(near)
    }

    fn push_moves(&mut self, position: &Position<B>, side: Side, cells: B) {
        for cell in cells.iter() {
            if let Some(Played { position, captured }) = self.field.play(position, side, cell) {
                self.push_child(position, side, cell as u16, captured);
            }
        }
    }

    fn push_child(&mut self, position: Position<B>, mover: Side, cell: u16, captured: bool) {
        let key = self.field.key(&position, mover.opponent());
        self.children.push(Child {
            position,
            key,
            numbers: Numbers::new(1, 1),
            zone: B::NONE,
            cell,
            captured,
            seen: false,
            is_estimate: false,
        });
    }

    /// Reads what is known of the children from `first_new` on.
    fn probe_all(
        &mut self,
        base: usize,
        first_new: usize,
        mover: Side,
        above: Above,
        repeatable: bool,
    ) {
        for at in first_new..self.children.len() {
            self.probe(at, mover.opponent(), above, repeatable);
        }
        if self.judge.guide.is_some() {
            self.ask_guide(first_new, mover.opponent());
        }
        for at in base..self.children.len() {
            self.spread(base, at, mover);
        }
    }

    /// Lets the guide refine the first numbers of the children nobody has read, all at once.
    fn ask_guide(&mut self, first_new: usize, side: Side) {
        let fresh: Vec<usize> = (first_new..self.children.len())
            .filter(|&at| self.children[at].is_estimate)
            .collect();
        let positions: Vec<Position<B>> =
            fresh.iter().map(|&at| self.children[at].position).collect();
        let numbers = self.judge.guided(&positions, side);
        for (&at, (pn, dn)) in fresh.iter().zip(numbers) {
            let child = &mut self.children[at];
            child.numbers.pn += pn;
            child.numbers.dn += dn;
            child.is_estimate = false;
        }
    }

    /// Reads what is known of a child now: solved, leading back, leaning, or an estimate.
    fn probe(&mut self, at: usize, side: Side, above: Above, repeatable: bool) {
        let child = &self.children[at];
        if child.numbers.is_solved() {
            return;
        }
        let known = self.table.get(child.key);
        let known = known.map(|entry| (Numbers::new(entry.pn, entry.dn), entry.zone));
        let solved = known.filter(|(numbers, _)| numbers.is_solved());
        // Without a capture on the path the number of stones only grows.
        let may_repeat = repeatable || child.captured;
        let mut is_estimate = false;
        let (numbers, zone) = if let Some(solved) = solved {
            solved
        } else if may_repeat
            && let Some((answer, leans)) = self.path.leads_back(below(above, child))
        {
            (Numbers::leaning(answer, leans), self.field.everything())
        } else if let Some(known) = known {
            known
        } else if child.seen {
            // The table has dropped it; forgetting it here too could repeat work for ever.
            return;
        } else {
            let defender_moved = side == Side::Attacker && !child.is_pass();
            let Judgement { pn, dn, zone } =
                self.judge.judge(&child.position, side, defender_moved);
            is_estimate = pn != 0 && dn != 0;
            (Numbers::new(pn, dn), zone)
        };
        let child = &mut self.children[at];
        child.is_estimate = is_estimate;
        child.numbers = numbers;
        child.zone = zone;
        child.seen = true;
    }

    /// Numbers of a node from its children's, and where to go on.
    fn combine(&self, base: usize, side: Side) -> (Numbers, Choice) {
        let children = &self.children[base..];
        let mut choice = Choice {
            best: base,
            second: INFINITE,
        };
        // Numbers short of infinity stay short of it: only a solved node has an infinite one.
        let mut least = INFINITE;
        let mut total: u32 = 0;
        for (at, child) in children.iter().enumerate() {
            let (mine, theirs) = child.numbers.seen_by(side);
            if mine < least {
                choice.second = least;
                choice.best = base + at;
                least = mine;
            } else {
                choice.second = choice.second.min(mine);
            }
            total = if total == INFINITE || theirs == INFINITE {
                INFINITE
            } else {
                (total + theirs).min(INFINITE - 1)
            };
        }
        let (pn, dn) = match side {
            Side::Attacker => (least, total),
            Side::Defender => (total, least),
        };
        // One child is enough for the side that moves; the other side needs them all.
        let leans = if least == 0 {
            children
                .iter()
                .filter(|child| child.numbers.seen_by(side).0 == 0)
                .map(|child| child.numbers.leans)
                .min_by_key(|leans| leans.len())
                .unwrap_or_default()
        } else if total == 0 {
            children
                .iter()
                .fold(Depths::EMPTY, |all, child| all.with(child.numbers.leans))
        } else {
            Depths::EMPTY
        };
        (Numbers { pn, dn, leans }, choice)
    }
}

/// A child as a node of the path.
fn below<B>(above: Above, child: &Child<B>) -> Above {
    Above {
        key: child.key,
        passes: above.passes + u16::from(child.is_pass()),
    }
}

/// The threshold a child gets beside a rival: a little above it, so that the search does not
/// swing between two equal lines (the 1 + epsilon rule of Pawlewicz and Lew 2007).
fn generous(rival: u32) -> u32 {
    rival.saturating_add(rival / 4 + 1).min(INFINITE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Ko, Problem};
    use go::{Board, BoardSize, Point};

    #[test]
    fn a_small_budget_ends_a_search_that_has_no_other_limit() {
        let drawing = "
            . . . . . . . . .
            . . . . . . . . .
            . . . . . . . . .
            X X X X X X X . .
            X O O O O O X . .
            O O . . . O X . .
            . . . . . O X . .
            O O . . O O X . .
            . . . . O X X . .";
        let board = Board::from_diagram(BoardSize::NINE, drawing).unwrap();
        let problem = Problem::new(board, &[Point::new(1, 4)]).unwrap();
        let field: Field<u128> = Field::new(&problem);
        let position = field.position(&problem, Side::Attacker, Ko::NOBODY);
        let limits = Limits::default();
        let mut table = Table::new(1 << 20);
        let mut search = Search::new(&field, &mut table, &limits, None);
        assert_eq!(search.solve_within(&position, Side::Attacker, 3), None);
        assert!(search.nodes <= 4, "{}", search.nodes);
        assert!(search.solve(&position, Side::Attacker).is_ok());
    }
}
