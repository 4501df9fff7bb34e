//! Depth-first proof-number search with sound repetition.
//!
//! A node is a position, a side to move and the ko state. The attacker proves a node by capturing
//! the target. Play without end is the defender's, with one exception: if the attacker is the ko
//! master and the defender never gets to pass, he is fighting a ko he cannot win.
//!
//! A result may lean on a repetition: "this leads back to a position above". It then carries the
//! depths it leans on. When the search returns through the last of them the result stands on its
//! own (the winner just goes round again) and enters the table. Until then it is kept apart, with
//! the positions it needs above it, and used again only below all of them. So the table holds what
//! is true on every path, and nothing else (the graph history interaction problem, Kishimoto and
//! Mueller 2004).

use std::collections::HashMap;
use std::time::Instant;

use crate::bits::Bits;
use crate::field::{Field, NO_CELL, Played, Position, index};
use crate::ko::Threats;
use crate::problem::{Goal, Side};
use crate::solver::{Guide, Limits};
use crate::table::{INFINITE, Table};

/// No line of play gets longer: the search gives up instead.
const MAX_DEPTH: usize = 255;

/// Nodes between two looks at the clock.
const NODES_PER_LOOK: u64 = 256;

/// Leaning disproofs kept at a time.
const MAX_LEANING: usize = 1 << 16;

/// Liberties beyond this many make no difference to the estimate.
const MANY_LIBERTIES: u32 = 6;

/// What a guide's full confidence adds to a first number.
const GUIDE_WEIGHT: f32 = 8.0;

/// A set of depths of the current path.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Depths([u128; 2]);

impl Depths {
    const EMPTY: Depths = Depths([0; 2]);

    fn only(depth: usize) -> Depths {
        let mut set = Depths::EMPTY;
        set.0[depth / 128] |= 1 << (depth % 128);
        set
    }

    fn is_empty(self) -> bool {
        self == Depths::EMPTY
    }

    fn with(self, other: Depths) -> Depths {
        Depths([self.0[0] | other.0[0], self.0[1] | other.0[1]])
    }

    fn without(self, depth: usize) -> Depths {
        let gone = Depths::only(depth);
        Depths([self.0[0] & !gone.0[0], self.0[1] & !gone.0[1]])
    }

    fn len(self) -> u32 {
        self.0[0].count_ones() + self.0[1].count_ones()
    }

    fn iter(self) -> impl Iterator<Item = usize> {
        self.0[0]
            .iter()
            .chain(self.0[1].iter().map(|depth| depth + 128))
    }
}

/// Proof and disproof numbers, and what a disproof leans on.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    pn: u32,
    dn: u32,
    leans: Depths,
}

impl Numbers {
    const PROVED: Numbers = Numbers {
        pn: 0,
        dn: INFINITE,
        leans: Depths::EMPTY,
    };
    const DISPROVED: Numbers = Numbers {
        pn: INFINITE,
        dn: 0,
        leans: Depths::EMPTY,
    };

    fn is_solved(&self) -> bool {
        self.pn == 0 || self.dn == 0
    }

    fn leaning(answer: Answer, leans: Depths) -> Numbers {
        let solved = match answer {
            Answer::Captured => Numbers::PROVED,
            Answer::Safe => Numbers::DISPROVED,
        };
        Numbers { leans, ..solved }
    }
}

/// A node of the current path.
#[derive(Clone, Copy)]
struct Above {
    key: u128,
    /// Passes of the defender on the way to it.
    passes: u16,
}

/// A result that holds below certain positions: each with whether the defender passed between
/// that position and this one.
struct Leaning {
    answer: Answer,
    needs: Vec<(u128, bool)>,
}

#[derive(Clone, Copy)]
struct Child<B> {
    position: Position<B>,
    key: u128,
    cell: u16,
    captured: bool,
    /// Whether `numbers` is more than a placeholder.
    seen: bool,
    numbers: Numbers,
    /// What the result rests on, once solved.
    zone: B,
}

impl<B> Child<B> {
    fn is_pass(&self) -> u16 {
        u16::from(self.cell == NO_CELL)
    }
}

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

/// What one line of legal play leads to.
pub(crate) struct Step<B> {
    pub position: Position<B>,
    /// The cell played, or [`NO_CELL`] for a pass.
    pub cell: u16,
}

pub(crate) struct Search<'a, B> {
    pub field: &'a Field<B>,
    pub table: &'a mut Table<B>,
    pub limits: &'a Limits,
    pub guide: Option<&'a dyn Guide>,
    /// Whether positions are judged without reading where that is possible.
    pub static_tests: bool,
    pub nodes: u64,
    pub deepest: usize,
    /// Whether the attacker wins an endless ko fight.
    attacker_is_ko_master: bool,
    started: Instant,
    path: Vec<Above>,
    children: Vec<Child<B>>,
    leaning: HashMap<u128, Leaning>,
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
            table,
            limits,
            guide,
            static_tests: true,
            nodes: 0,
            deepest: 0,
            attacker_is_ko_master: false,
            started: Instant::now(),
            path: Vec::new(),
            children: Vec::new(),
            leaning: HashMap::new(),
        }
    }

    /// Searches until the position is decided or a limit is reached.
    pub fn solve(&mut self, position: &Position<B>, side: Side) -> Result<Answer, Stop> {
        if self.field.is_captured(position) {
            return Ok(Answer::Captured);
        }
        self.attacker_is_ko_master = position.threats[index(Side::Attacker)] == Threats::ENDLESS;
        let key = self.field.key(position, side);
        let known = self.table.get(key).map(|e| (e.pn, e.dn));
        let numbers = match known {
            Some((0, _)) => Numbers::PROVED,
            Some((_, 0)) => Numbers::DISPROVED,
            _ => {
                let (numbers, zone) = self.evaluate(position, side, true);
                if numbers.is_solved() {
                    self.table.put(key, numbers.pn, numbers.dn, zone, 0);
                    numbers
                } else {
                    self.path.clear();
                    self.children.clear();
                    self.leaning.clear();
                    {
                        let root = Above { key, passes: 0 };
                        self.expand(position, side, root, (INFINITE, INFINITE), false)?
                            .numbers
                    }
                }
            }
        };
        match (numbers.pn, numbers.dn) {
            (0, _) => Ok(Answer::Captured),
            (_, 0) => Ok(Answer::Safe),
            _ => Err(Stop::Limit),
        }
    }

    /// What the table says of a position.
    pub fn known(&self, position: &Position<B>, side: Side) -> Option<Answer> {
        let entry = self.table.get(self.field.key(position, side))?;
        match (entry.pn, entry.dn) {
            (0, _) => Some(Answer::Captured),
            (_, 0) => Some(Answer::Safe),
            _ => None,
        }
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
        let Above { key, passes } = above;
        let (pn_limit, dn_limit) = limits;
        self.nodes += 1;
        let nodes_before = self.nodes;
        self.look_at_limits()?;
        let depth = self.path.len();
        if depth >= MAX_DEPTH {
            return Err(Stop::Limit);
        }
        self.deepest = self.deepest.max(depth);
        self.path.push(above);
        let base = self.children.len();
        self.push_children(position, side);
        for at in base..self.children.len() {
            self.probe(at, side.opponent(), repeatable);
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
            self.probe(choice.best, side.opponent(), repeatable);
            let now = self.children[choice.best].numbers;
            if (now.pn, now.dn) != (before.pn, before.dn) {
                continue;
            }
            let child = self.children[choice.best];
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
                Above {
                    key: child.key,
                    passes: passes + child.is_pass(),
                },
                child_limits,
                repeatable || child.captured,
            )?;
            self.children[choice.best].numbers = result.numbers;
            self.children[choice.best].zone = result.zone;
            self.children[choice.best].seen = true;
            self.spread(base, choice.best, side);
        }
        let zone = if numbers.is_solved() {
            self.zone_of(position, side, &numbers, base)
        } else {
            B::NONE
        };
        self.children.truncate(base);
        self.path.pop();
        numbers.leans = numbers.leans.without(depth);
        let work = (self.nodes - nodes_before + 1).min(u64::from(u32::MAX)) as u32;
        if numbers.is_solved() && !numbers.leans.is_empty() {
            self.remember_leaning(key, passes, &numbers);
        } else {
            self.table.put(key, numbers.pn, numbers.dn, zone, work);
        }
        Ok(Found { numbers, zone })
    }

    /// Answers the moves that a solved child shows to be irrelevant: if the mover loses by a move
    /// outside the zone of his loss, he loses by every quiet move outside it.
    fn spread(&mut self, base: usize, at: usize, mover: Side) {
        let teacher = self.children[at];
        let lost = match mover {
            Side::Attacker => teacher.numbers.dn == 0,
            Side::Defender => teacher.numbers.pn == 0,
        };
        if !lost
            || teacher.captured
            || !teacher.numbers.leans.is_empty()
            || !outside(teacher.cell, teacher.zone)
        {
            return;
        }
        for other in base..self.children.len() {
            let child = &mut self.children[other];
            if !child.numbers.is_solved() && !child.captured && outside(child.cell, teacher.zone) {
                child.numbers = teacher.numbers;
                child.zone = teacher.zone;
                child.seen = true;
                self.table
                    .put(child.key, child.numbers.pn, child.numbers.dn, child.zone, 1);
            }
        }
    }

    /// The relevance zone of a solved node from its children's.
    fn zone_of(&self, position: &Position<B>, side: Side, numbers: &Numbers, base: usize) -> B {
        let field = self.field;
        if !numbers.leans.is_empty() || field.targets.len() > 1 {
            return field.everything();
        }
        let winner = if numbers.pn == 0 {
            Side::Attacker
        } else {
            Side::Defender
        };
        let children = &self.children[base..];
        if side == winner {
            let won = |child: &&Child<B>| {
                child.numbers.leans.is_empty()
                    && match winner {
                        Side::Attacker => child.numbers.pn == 0,
                        Side::Defender => child.numbers.dn == 0,
                    }
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
        match winner {
            Side::Attacker => {
                if let Some(liberty) = self.last_liberty(position) {
                    zone |= field.close_atari(position, liberty);
                }
            }
            Side::Defender => {
                for target in field.standing_targets(position) {
                    zone |= B::cell(target);
                }
            }
        }
        field.close_for_loser(position, side, zone)
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

    /// Reads what is known of a child now: solved, leading back, leaning, or an estimate.
    fn probe(&mut self, at: usize, side: Side, repeatable: bool) {
        let child = self.children[at];
        if child.numbers.is_solved() {
            return;
        }
        let known = self.table.get(child.key).map(|entry| {
            let numbers = Numbers {
                pn: entry.pn,
                dn: entry.dn,
                leans: Depths::EMPTY,
            };
            (numbers, entry.zone)
        });
        let solved = known.filter(|(numbers, _)| numbers.is_solved());
        let (numbers, zone) = if let Some(solved) = solved {
            solved
        } else if let Some(leaning) = self.leads_back(&child, repeatable) {
            (leaning, self.field.everything())
        } else if let Some(known) = known {
            known
        } else if child.seen {
            // The table has dropped it; forgetting it here too could repeat work for ever.
            return;
        } else {
            let defender_moved = side == Side::Attacker && child.cell != NO_CELL;
            let (numbers, zone) = self.evaluate(&child.position, side, defender_moved);
            self.table.put(child.key, numbers.pn, numbers.dn, zone, 0);
            (numbers, zone)
        };
        self.children[at].numbers = numbers;
        self.children[at].zone = zone;
        self.children[at].seen = true;
    }

    /// The result of a child that leads back to the path, at once or by lines read before.
    fn leads_back(&self, child: &Child<B>, repeatable: bool) -> Option<Numbers> {
        // Without a capture on the path the number of stones only grows.
        if !repeatable && !child.captured {
            return None;
        }
        let passes = self.path.last().map_or(0, |node| node.passes) + child.is_pass();
        let depth_of = |key: u128| self.path.iter().position(|node| node.key == key);
        let has_pass_since = |depth: usize| passes > self.path[depth].passes;
        if let Some(depth) = depth_of(child.key) {
            let answer = self.judge_cycle(has_pass_since(depth));
            return Some(Numbers::leaning(answer, Depths::only(depth)));
        }
        let leaning = self.leaning.get(&child.key)?;
        let mut leans = Depths::EMPTY;
        for &(key, had_pass) in &leaning.needs {
            let depth = depth_of(key)?;
            // A capture needs a cycle without a pass, a disproof the pass it found above.
            let fits = match leaning.answer {
                Answer::Captured => !has_pass_since(depth),
                Answer::Safe => !had_pass || has_pass_since(depth),
            };
            if !fits {
                return None;
            }
            leans = leans.with(Depths::only(depth));
        }
        Some(Numbers::leaning(leaning.answer, leans))
    }

    /// Who wins a game that goes round for ever: the defender, unless the attacker is the ko
    /// master and never lets him pass.
    fn judge_cycle(&self, defender_passes: bool) -> Answer {
        if self.attacker_is_ko_master && !defender_passes {
            Answer::Captured
        } else {
            Answer::Safe
        }
    }

    fn remember_leaning(&mut self, key: u128, passes: u16, numbers: &Numbers) {
        if self.leaning.len() >= MAX_LEANING {
            self.leaning.clear();
        }
        let answer = if numbers.pn == 0 {
            Answer::Captured
        } else {
            Answer::Safe
        };
        let need = |depth: usize| {
            let above = self.path[depth];
            (
                above.key,
                self.attacker_is_ko_master && passes > above.passes,
            )
        };
        let needs = numbers.leans.iter().map(need).collect();
        self.leaning.insert(key, Leaning { answer, needs });
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
        let mut leans_all = Depths::EMPTY;
        let mut leans_one: Option<Depths> = None;
        for (at, child) in children.iter().enumerate() {
            let Numbers { pn, dn, leans } = child.numbers;

            let (mine, theirs) = match side {
                Side::Attacker => (pn, dn),
                Side::Defender => (dn, pn),
            };
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
            if theirs == 0 {
                leans_all = leans_all.with(leans);
            }
            if mine == 0 && leans_one.is_none_or(|best| leans.len() < best.len()) {
                leans_one = Some(leans);
            }
        }
        let (pn, dn) = match side {
            Side::Attacker => (least, total),
            Side::Defender => (total, least),
        };
        // One child is enough for the side that moves; the other side needs them all.
        let leans = if least == 0 {
            leans_one.unwrap_or_default()
        } else if total == 0 {
            leans_all
        } else {
            Depths::EMPTY
        };
        let numbers = Numbers { pn, dn, leans };
        (numbers, choice)
    }

    /// Judges a position without reading, or estimates how far it is from being decided.
    fn evaluate(&self, position: &Position<B>, side: Side, defender_moved: bool) -> (Numbers, B) {
        let field = self.field;
        if field.is_captured(position) {
            return (Numbers::PROVED, B::NONE);
        }
        if side == Side::Attacker
            && let Some(liberty) = self.last_liberty(position)
            && self.may_play(position, Side::Attacker, liberty)
        {
            return (Numbers::PROVED, field.atari_zone(position, liberty));
        }
        let walled = field.immortal(position, Side::Attacker);
        let arena = field.arena(position, walled);
        let eye_room = field.eye_room(position, walled, arena);
        if self.static_tests
            && let Some(room) = field.hopeless_room(position, arena, eye_room)
        {
            let zone = room | field.hopeless_zone(position, walled, arena);
            return (Numbers::PROVED, zone);
        }
        if defender_moved && let Some(zone) = field.life(position, walled) {
            return (Numbers::DISPROVED, zone);
        }
        let (pn, dn) = self.estimate(position, side, eye_room);
        let numbers = Numbers {
            pn,
            dn,
            leans: Depths::EMPTY,
        };
        (numbers, B::NONE)
    }

    /// First numbers of a position nobody has read: the more room for eyes and liberties the
    /// target has, the harder its capture looks. A guide, if there is one, has the last word.
    fn estimate(&self, position: &Position<B>, side: Side, eye_room: B) -> (u32, u32) {
        let field = self.field;
        let own = position.stones[index(Side::Defender)];
        let empty = field.empty(position);
        let liberties = field
            .standing_targets(position)
            .map(|cell| field.beside(field.flood(B::cell(cell), own)) & empty)
            .map(|liberties| liberties.count().min(MANY_LIBERTIES))
            .min()
            .unwrap_or(MANY_LIBERTIES);
        let pn = 1 + eye_room.count() / 2 + liberties / 4;
        let dn = 1 + (MANY_LIBERTIES - liberties) * 3 / 4;
        let Some(guide) = self.guide else {
            return (pn, dn);
        };
        let stone_at = |point| {
            let cell = B::cell(field.cell(point)?);
            if (cell & own).any() {
                Some(Side::Defender)
            } else if (cell & position.stones[index(Side::Attacker)]).any() {
                Some(Side::Attacker)
            } else {
                None
            }
        };
        let life = guide.chance_of_life(&stone_at, side).clamp(0.0, 1.0);
        let weight = |chance: f32| (GUIDE_WEIGHT * chance) as u32;
        (pn + weight(life), dn + weight(1.0 - life))
    }

    /// Whether no ban keeps a side from a cell.
    fn may_play(&self, position: &Position<B>, side: Side, cell: usize) -> bool {
        position.ban != cell as u16 || position.threats[index(side)] != Threats::NONE
    }

    /// The point that decides the fight: the only liberty of a block whose capture is the goal.
    fn last_liberty(&self, position: &Position<B>) -> Option<usize> {
        let field = self.field;
        let own = position.stones[index(Side::Defender)];
        let empty = field.empty(position);
        let mut first_block = None;
        for cell in field.standing_targets(position) {
            let block = field.flood(B::cell(cell), own);
            let liberties = field.beside(block) & empty;
            let in_atari = liberties.is_single()
                && (liberties & field.zone).any()
                && (block & field.wall[index(Side::Defender)]).none();
            match field.goal {
                Goal::Any if in_atari => return Some(liberties.first()),
                Goal::Any => {}
                Goal::All => {
                    if !in_atari || *first_block.get_or_insert(block) != block {
                        return None;
                    }
                }
            }
        }
        let block = first_block?;
        Some((field.beside(block) & empty).first())
    }

    fn push_children(&mut self, position: &Position<B>, side: Side) {
        let field = self.field;
        let mut cells = self.candidates(position, side);
        let passes = match side {
            Side::Defender => self.last_liberty(position).is_none(),
            // A pass gains the attacker nothing but the end of a ban: the defender would pass
            // too, and nothing has changed.
            Side::Attacker => position.ban != NO_CELL,
        };
        if passes {
            let passed = field.pass(position);
            self.push_child(passed, side, NO_CELL, false);
        }
        while cells.any() {
            let cell = cells.first();
            cells = cells.without(B::cell(cell));
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
            cell,
            captured,
            seen: false,
            zone: B::NONE,
            numbers: Numbers {
                pn: 1,
                dn: 1,
                leans: Depths::EMPTY,
            },
        });
    }

    /// The cells worth trying: none of the others can be better than a pass.
    fn candidates(&self, position: &Position<B>, side: Side) -> B {
        let field = self.field;
        let empty = field.empty(position);
        let walled = field.immortal(position, Side::Attacker);
        let mut cells = field.arena(position, walled) & field.zone & empty;
        if side == Side::Attacker {
            return cells;
        }
        if let Some(liberty) = self.last_liberty(position) {
            cells = self.rescues(position, liberty) & cells;
        }
        cells.without(self.own_eyes(position, cells))
    }

    /// The moves that get the target out of atari: extend, or capture a block beside it.
    fn rescues(&self, position: &Position<B>, liberty: usize) -> B {
        let field = self.field;
        let enemy = position.stones[index(Side::Attacker)];
        let own = position.stones[index(Side::Defender)];
        let empty = field.empty(position);
        let target = field.flood(field.beside(B::cell(liberty)) & own, own);
        let mut rescues = B::cell(liberty);
        let mut touched = field.beside(target) & enemy;
        while touched.any() {
            let block = field.flood(B::cell(touched.first()), enemy);
            touched = touched.without(block);
            let liberties = field.beside(block) & empty;
            if liberties.is_single() {
                rescues |= liberties;
            }
        }
        rescues
    }

    /// Empty cells whose neighbours are all stones of one block of the defender. Filling such an
    /// eye is never better than a pass: the attacker cannot play there before he can capture.
    fn own_eyes(&self, position: &Position<B>, cells: B) -> B {
        let field = self.field;
        let own = position.stones[index(Side::Defender)];
        let mut eyes = B::NONE;
        for cell in cells.iter() {
            let around = field.beside(B::cell(cell));
            if around.without(own).none()
                && around
                    .without(field.flood(B::cell(around.first()), own))
                    .none()
            {
                eyes |= B::cell(cell);
            }
        }
        eyes
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
}

/// What a visit to a node found.
struct Found<B> {
    numbers: Numbers,
    zone: B,
}

/// Whether a move is a pass or outside a set.
fn outside<B: Bits>(cell: u16, set: B) -> bool {
    cell == NO_CELL || !set.has(cell as usize)
}

struct Choice {
    best: usize,
    second: u32,
}

/// The threshold a child gets beside a rival: a little above it, so that the search does not
/// swing between two equal lines (the 1 + epsilon rule of Pawlewicz and Lew 2007).
fn generous(rival: u32) -> u32 {
    rival.saturating_add(rival / 4 + 1).min(INFINITE)
}
