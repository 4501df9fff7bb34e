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

use std::time::Instant;

use crate::problem::Side;
use crate::problem::Threats;
use crate::search::bits::Bits;
use crate::search::field::{Field, index};
use crate::search::judge::{Judge, Judgement};
use crate::search::path::{Above, Depths, MAX_DEPTH, Path};
use crate::search::position::{NO_CELL, Played, Position};
use crate::search::table::{INFINITE, Table};
use crate::solver::{Guide, Limits};

/// Nodes between two looks at the clock.
const NODES_PER_LOOK: u64 = 256;

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
pub(crate) struct Step<B> {
    pub position: Position<B>,
    /// The cell played, or [`NO_CELL`] for a pass.
    pub cell: u16,
}

/// Proof and disproof numbers, and what a result leans on.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    pn: u32,
    dn: u32,
    leans: Depths,
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
    fn is_solved(&self) -> bool {
        self.pn == 0 || self.dn == 0
    }

    /// How far the node looks from the win of a side, and of the other side.
    #[inline]
    fn seen_by(&self, side: Side) -> (u32, u32) {
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
struct Child<B> {
    position: Position<B>,
    key: u128,
    numbers: Numbers,
    /// What the result rests on, once solved.
    zone: B,
    cell: u16,
    captured: bool,
    /// Whether `numbers` is more than a placeholder.
    seen: bool,
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
    table: &'a mut Table<B>,
    limits: &'a Limits,
    started: Instant,
    path: Path,
    children: Vec<Child<B>>,
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
            table,
            limits,
            started: Instant::now(),
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
        let root = Above { key, passes: 0 };
        let found = self.expand(position, side, root, (INFINITE, INFINITE), false)?;
        found.numbers.answer().ok_or(Stop::Limit)
    }

    /// What the table says of a position.
    pub fn known(&self, position: &Position<B>, side: Side) -> Option<Answer> {
        let entry = self.table.get(self.field.key(position, side))?;
        answer_of(entry.pn, entry.dn)
    }

    /// What the table or a look at the position says of it.
    pub fn plain(&self, position: &Position<B>, side: Side) -> Option<Answer> {
        self.known(position, side).or_else(|| {
            let Judgement { pn, dn, .. } = self.judge.judge(position, side, true);
            answer_of(pn, dn)
        })
    }

    /// Every legal move of a side and the pass, without any pruning.
    pub fn legal_steps(&self, position: &Position<B>, side: Side) -> Vec<Step<B>> {
        let field = self.field;
        let mut steps = vec![Step {
            position: field.pass(position),
            cell: NO_CELL,
        }];
        for cell in (field.zone & field.empty(position)).iter() {
            if let Some(played) = field.play(position, side, cell) {
                steps.push(Step {
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
        self.path.push(above);
        let base = self.children.len();
        self.push_children(position, side);
        for at in base..self.children.len() {
            self.probe(at, side.opponent(), above, repeatable);
        }
        for at in base..self.children.len() {
            self.spread(base, at, side);
        }
        let mut numbers;
        loop {
            let choice;
            (numbers, choice) = self.combine(base, side);
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
            }
        }
        Ok(Found { numbers, zone })
    }

    fn look_at_limits(&self) -> Result<(), Stop> {
        if self.nodes > self.limits.nodes {
            return Err(Stop::Limit);
        }
        if self.nodes.is_multiple_of(NODES_PER_LOOK) {
            let late = self
                .limits
                .time
                .is_some_and(|time| self.started.elapsed() > time);
            if late || self.limits.is_interrupted() {
                return Err(Stop::Limit);
            }
        }
        Ok(())
    }

    fn push_children(&mut self, position: &Position<B>, side: Side) {
        let field = self.field;
        let passes = match side {
            Side::Defender => field.last_liberty(position).is_none(),
            // A pass gains the attacker nothing but the end of a ban: the defender would pass
            // too, and nothing has changed.
            Side::Attacker => position.ban != NO_CELL,
        };
        if passes {
            self.push_child(field.pass(position), side, NO_CELL, false);
        }
        for cell in field.candidates(position, side).iter() {
            if let Some(Played { position, captured }) = field.play(position, side, cell) {
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
        });
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
            (Numbers::new(pn, dn), zone)
        };
        let child = &mut self.children[at];
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

    /// Answers the moves that a solved child shows to be irrelevant: if the mover loses by a move
    /// outside the zone of his loss, he loses by every quiet move outside it.
    fn spread(&mut self, base: usize, at: usize, mover: Side) {
        let teacher = &self.children[at];
        let lost = teacher.numbers.seen_by(mover).1 == 0;
        if !lost
            || teacher.captured
            || !teacher.numbers.leans.is_empty()
            || !outside(teacher.cell, teacher.zone)
        {
            return;
        }
        let (numbers, zone) = (teacher.numbers, teacher.zone);
        for child in &mut self.children[base..] {
            if !child.numbers.is_solved() && !child.captured && outside(child.cell, zone) {
                child.numbers = numbers;
                child.zone = zone;
                child.seen = true;
                self.table.put(child.key, numbers.pn, numbers.dn, zone, 1);
            }
        }
    }

    /// The relevance zone of a solved node from its children's.
    fn zone_of(
        &self,
        position: &Position<B>,
        side: Side,
        answer: Answer,
        leans: Depths,
        base: usize,
    ) -> B {
        let field = self.field;
        if !leans.is_empty() || field.targets.len() > 1 {
            return field.everything();
        }
        let children = &self.children[base..];
        if answer == Answer::wanted_by(side) {
            let won = |child: &&Child<B>| {
                child.numbers.leans.is_empty() && child.numbers.seen_by(side).0 == 0
            };
            let zone_by = |child: &Child<B>| {
                child.zone | field.support_of_winner(position, side, child.cell, child.zone)
            };
            return children
                .iter()
                .filter(won)
                .map(zone_by)
                .min_by_key(|zone| zone.count())
                .unwrap_or(field.everything());
        }
        let quiet = children
            .iter()
            .filter(|child| !child.captured && outside(child.cell, child.zone))
            .min_by_key(|child| child.zone.count());
        let mut zone = quiet.map_or(B::NONE, |child| child.zone);
        for child in children {
            let irrelevant =
                !child.captured && quiet.is_some_and(|quiet| outside(child.cell, quiet.zone));
            if !irrelevant {
                zone |= child.zone;
            }
        }
        match answer {
            Answer::Captured => {
                if let Some(liberty) = field.last_liberty(position) {
                    zone |= field.close_atari(position, liberty);
                }
            }
            Answer::Safe => {
                for &target in &field.targets {
                    zone |= B::cell(target);
                }
            }
        }
        field.close_for_loser(position, side, zone)
    }
}

/// A child as a node of the path.
fn below<B>(above: Above, child: &Child<B>) -> Above {
    Above {
        key: child.key,
        passes: above.passes + u16::from(child.is_pass()),
    }
}

/// Whether a move is a pass or outside a set.
fn outside<B: Bits>(cell: u16, set: B) -> bool {
    cell == NO_CELL || !set.has(cell as usize)
}

/// The threshold a child gets beside a rival: a little above it, so that the search does not
/// swing between two equal lines (the 1 + epsilon rule of Pawlewicz and Lew 2007).
fn generous(rival: u32) -> u32 {
    rival.saturating_add(rival / 4 + 1).min(INFINITE)
}
