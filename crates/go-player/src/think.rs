//! Thinking: from the current position to a move, an analysis, or a warmer tree.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use go::{BoardSize, Color, Move, Symmetry};
use search::{
    Control, Evaluate, EvaluateError, Poll, Progress, Restrict, SearchReport, Side, StopMode, Task,
};

use crate::{
    by_score::Twins,
    clock::{Centiseconds, expected_moves},
    dynamic_komi::{Purpose, TurnKomi},
    guard::Guarded,
    options::Options,
    outlook::ScoreMeans,
    planes::BitPlanes,
    player::Player,
    position::Position,
    prepare::Preparation,
    record::RecordedMove,
    restriction::Restrictions,
    view::View,
};

/// How often a running search is looked at.
const TICK: Duration = Duration::from_millis(10);
/// A rate of playouts is trusted after this time and number.
const TRUSTED_AFTER: Duration = Duration::from_secs(1);
const TRUSTED_PLAYOUTS: u64 = 100;

/// A searched root, with what a network that knows scores says of it.
pub type Snapshot<M = Move> = search::Snapshot<M, ScoreMeans>;
/// A move of a searched root.
pub type RootMove<M = Move> = search::RootMove<M, ScoreMeans>;

/// What a player does in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Makes a move.
    Move(Move),
    /// Gives up.
    Resign,
}

/// The outcome of thinking about a position.
#[derive(Clone, Debug)]
pub struct Thought {
    /// Who thought.
    pub color: Color,
    /// How many moves had been played.
    pub move_number: usize,
    pub size: BoardSize,
    /// The root, best move first.
    pub snapshot: Snapshot,
    /// What the search did.
    pub report: SearchReport,
    /// What came of it.
    pub decision: Decision,
}

/// How to think about a move.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Moves to avoid, or to choose from.
    pub restrictions: Restrictions,
    /// Whether to pass only when nothing else is left, the passes so far forgotten.
    pub cleanup: bool,
    /// Whether to only say the move: the game, the clock and the record stay as they are.
    pub only_say: bool,
}

/// Watches a search from outside, every few milliseconds, on the thread that asked for it.
pub trait Observer {
    /// The search is about to start; it may take this long.
    fn begin(&mut self, _time: Centiseconds) {}

    /// Komi follows the game: this was done about it before the search, or in its course.
    fn prepared(&mut self, _preparation: &Preparation) {}

    /// A leader has looked at its moves again, at the komi that is played for.
    fn guarded(&mut self, _guarded: &Guarded) {}

    /// The search is running.
    fn tick(&mut self, _view: &View<'_>) {}
}

/// Watches nothing.
impl Observer for () {}

impl Player {
    /// Thinks for `color`, whose turn it becomes, and makes the move.
    pub fn generate(
        &mut self,
        color: Color,
        request: &Request,
        observer: &mut dyn Observer,
    ) -> Result<Arc<Thought>, EvaluateError> {
        let thought = self.generate_unless(color, request, &|| false, observer)?;
        Ok(thought.expect("nothing interrupts it"))
    }

    /// The same, unless it is `interrupted`: then no move is made, and the game stays as it is.
    pub fn generate_unless(
        &mut self,
        color: Color,
        request: &Request,
        interrupted: &(dyn Fn() -> bool + Sync),
        observer: &mut dyn Observer,
    ) -> Result<Option<Arc<Thought>>, EvaluateError> {
        let start = Instant::now();
        let turn_before = self.game.to_move();
        self.game.set_to_move(color);
        let clock = self.clocks[color.index()];
        let saves_time = self.options.stop_mode != StopMode::Off;
        let moves = expected_moves(self.game.size().area(), self.game.move_number(), saves_time);
        let time = clock.time_for_move(moves, self.options.lag);
        observer.begin(time);
        let time_can_be_saved = clock.can_save_time() && self.options.playouts.is_none();
        let time = Duration::from_millis(10 * time.max(0) as u64);
        let orders = Orders {
            purpose: Purpose::Move,
            request,
            time: Some(self.time_before_guard(time)),
            early_stop: self
                .options
                .stop_mode
                .resolve(self.options.noise, time_can_be_saved),
            interrupted,
        };
        let (position, mut report) = match self.run(&orders, observer) {
            Ok(found) => found,
            Err(error) => {
                self.game.set_to_move(turn_before);
                return Err(error);
            }
        };
        if interrupted() {
            self.game.set_to_move(turn_before);
            return Ok(None);
        }
        self.tree_bytes = report.memory_bytes;
        let snapshot = self.search.snapshot();
        let guarded = self.look_again(&snapshot, request, start, time)?;
        if let Some(guarded) = &guarded {
            observer.guarded(guarded);
            report.evaluations += guarded.evaluations;
        }
        let decision = self.decide(&position, &snapshot, request, guarded.as_ref());
        let thought = Arc::new(Thought {
            color,
            move_number: self.game.move_number(),
            size: self.game.size(),
            snapshot,
            report,
            decision,
        });
        if request.only_say {
            self.game.set_to_move(turn_before);
            return Ok(Some(thought));
        }
        self.record(&position, &thought.snapshot);
        self.clocks[color.index()].spend(centiseconds(start.elapsed()));
        match decision {
            Decision::Resign => self.resigned = Some(color),
            // A candidate is legal, and passing always is.
            Decision::Move(mv) => drop(self.game.play_as(color, mv)),
        }
        self.last_thought = Some(thought.clone());
        Ok(Some(thought))
    }

    /// Searches the current position until `interrupted`, or a limit on playouts or visits is met.
    pub fn analyze(
        &mut self,
        restrictions: &Restrictions,
        interrupted: &(dyn Fn() -> bool + Sync),
        observer: &mut dyn Observer,
    ) -> Result<(Snapshot, SearchReport), EvaluateError> {
        let request = Request {
            restrictions: restrictions.clone(),
            ..Request::default()
        };
        self.search_on(Purpose::Analysis, &request, interrupted, observer)
    }

    /// Thinks on while the opponent does, until `interrupted`. Komi stays as it is.
    pub fn ponder(
        &mut self,
        interrupted: &(dyn Fn() -> bool + Sync),
        observer: &mut dyn Observer,
    ) -> Result<(Snapshot, SearchReport), EvaluateError> {
        self.search_on(
            Purpose::Pondering,
            &Request::default(),
            interrupted,
            observer,
        )
    }

    fn search_on(
        &mut self,
        purpose: Purpose,
        request: &Request,
        interrupted: &(dyn Fn() -> bool + Sync),
        observer: &mut dyn Observer,
    ) -> Result<(Snapshot, SearchReport), EvaluateError> {
        let orders = Orders {
            purpose,
            request,
            time: None,
            early_stop: StopMode::Off.resolve(false, false),
            interrupted,
        };
        let (_, report) = self.run(&orders, observer)?;
        self.tree_bytes = report.memory_bytes;
        Ok((self.search.snapshot(), report))
    }

    /// Whether it thinks while the opponent does.
    pub fn ponders(&self) -> bool {
        self.options.ponder && self.resigned.is_none() && !self.game.is_over()
    }

    pub(crate) fn position_for(&self, orders: &Orders<'_>) -> Position {
        let position = self.position_at(self.controller.komi, orders.request);
        // A Leela Zero network always sees the last boards; its tree serves analysis and play alike.
        let may_hide = self.judge.encoder().as_leela().is_none();
        if may_hide && orders.purpose == Purpose::Analysis && !self.options.analysis_shows_history {
            return position.hiding_history();
        }
        position
    }

    /// The current position, the network told a komi of our choice.
    pub(crate) fn position_at(&self, net_komi: TurnKomi, request: &Request) -> Position {
        let mut position = self.position().told(net_komi);
        let (color, move_number) = (self.game.to_move(), self.game.move_number());
        if request.restrictions.names_pass(color, move_number) {
            position = position.considering_pass();
        }
        if request.cleanup {
            position = position.without_passes();
        }
        position
    }

    /// Searches the current position.
    fn run(
        &mut self,
        orders: &Orders<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(Position, SearchReport), EvaluateError> {
        let start = Instant::now();
        if self.controller.settings.mode.is_none() {
            let position = self.position_for(orders);
            let control = Deadline::new(start, orders.time);
            let playouts = self.options.playouts;
            let leaves = self.leaves();
            let growth = Growth {
                position: &position,
                control: &control,
                playouts,
                start,
            };
            let report = self.grow(&growth, &leaves, orders, observer)?;
            return Ok((position, report));
        }
        self.run_adjusting(orders, start, observer)
    }

    /// One run of the search, looked at from outside.
    pub(crate) fn grow(
        &self,
        growth: &Growth<'_>,
        leaves: &impl Evaluate<Position>,
        orders: &Orders<'_>,
        observer: &mut dyn Observer,
    ) -> Result<SearchReport, EvaluateError> {
        let position = growth.position;
        let restrictions = &orders.request.restrictions;
        let bound = Bound {
            restrictions,
            move_number: self.game.move_number(),
            twins: self.twins(position),
        };
        let stop = AtomicBool::new(false);
        // Where a pass would end the game, both passing and playing on are looked at.
        let is_pass = |mv: Move| mv.is_pass();
        let tries_both = self.judge.knows_score() && position.passes() > 0;
        let task = Task {
            playouts: growth.playouts,
            visits: self.options.visits,
            stop: Some(&stop),
            control: Some(growth.control),
            restrict: bound.is_needed().then_some(&bound as &dyn Restrict<Move>),
            early_stop: orders.early_stop,
            both_kinds: tries_both.then_some(&is_pass),
        };
        let settings = self.search_settings(orders.purpose, self.tree_limits().search);
        let search = &self.search;
        let watching = thread::current();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let running = scope.spawn(|| {
                let report = search.run(position, leaves, &settings, &task);
                done.store(true, Ordering::Release);
                watching.unpark();
                report
            });
            // A thread that is done takes a moment to finish; one that panics is never done.
            while !done.load(Ordering::Acquire) && !running.is_finished() {
                if (orders.interrupted)() {
                    stop.store(true, Ordering::Relaxed);
                }
                observer.tick(&View {
                    elapsed: growth.start.elapsed(),
                    ..self.view()
                });
                thread::park_timeout(TICK);
            }
            running
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// How a tree is grown: by utility if the network knows scores, as Leela Zero does otherwise.
    pub(crate) fn search_settings(&self, purpose: Purpose, tree_bytes: usize) -> search::Settings {
        if !self.judge.knows_score() {
            return self.options.search_settings(tree_bytes);
        }
        let noise = match purpose {
            Purpose::Analysis => self.options.wide_root_noise,
            Purpose::Move | Purpose::Pondering => 0.0,
        };
        // A network that imitates people makes their mistakes by itself.
        let makes_mistakes = purpose == Purpose::Move && !self.judge.encoder().imitates_people();
        let level = self.options.level.filter(|_| makes_mistakes);
        let Some(level) = level else {
            return self.options.utility_settings(tree_bytes, noise);
        };
        let options = Options {
            root_policy_temperature: level.policy_temperature(),
            ..self.options.clone()
        };
        options.utility_settings(tree_bytes, noise)
    }

    /// Root moves that are searched once for several.
    fn twins(&self, position: &Position) -> Twins {
        if self.options.prunes_symmetric && self.judge.knows_score() {
            Twins::of(position)
        } else {
            Twins::default()
        }
    }

    /// Symmetries of the current position: a move that they make of another is not searched.
    pub fn pruned_symmetries(&self) -> Vec<Symmetry> {
        self.twins(&self.position()).symmetries().to_vec()
    }

    /// Records the position before the move, unless no move was visited.
    fn record(&mut self, position: &Position, snapshot: &Snapshot) {
        let size = position.size();
        let visits: u64 = snapshot.moves.iter().map(|m| u64::from(m.visits)).sum();
        let Some(best) = snapshot.moves.first().filter(|_| visits > 0) else {
            return;
        };
        let mut probabilities = vec![0.0; size.area() + 1];
        for entry in &snapshot.moves {
            let index = entry
                .mv
                .point()
                .map_or(size.area(), |point| size.index(point));
            // In f64 first: the quotient of large counts is rounded once.
            probabilities[index] = (f64::from(entry.visits) / visits as f64) as f32;
        }
        let to_move = position.to_move();
        // Without the network's own opinion there is nothing to learn from.
        let Ok(opinion) = self.judge.opinion(position, Symmetry::IDENTITY) else {
            return;
        };
        self.steps.push(RecordedMove {
            planes: BitPlanes::of(size, to_move, position.history()),
            to_move,
            probabilities,
            net_winrate: opinion.winrate,
            root_winrate: crate::position::side(to_move).view(snapshot.value) as f32,
            best_winrate: best.winrate.unwrap_or(0.0) as f32,
            best_visits: best.visits,
        });
    }
}

/// What a search is for, and how far it may go.
pub(crate) struct Orders<'a> {
    pub purpose: Purpose,
    pub request: &'a Request,
    pub time: Option<Duration>,
    pub early_stop: search::EarlyStop,
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
}

/// One run of the search.
pub(crate) struct Growth<'a> {
    pub position: &'a Position,
    pub control: &'a dyn Control,
    pub playouts: Option<u64>,
    /// When thinking began.
    pub start: Instant,
}

/// Restrictions as the search asks for them.
pub(crate) struct Bound<'a> {
    pub restrictions: &'a Restrictions,
    pub move_number: usize,
    /// Symmetric moves, of which one is searched unless some are forbidden.
    pub twins: Twins,
}

impl Bound<'_> {
    /// Whether anything is forbidden at all.
    pub fn is_needed(&self) -> bool {
        !self.restrictions.is_empty() || !self.twins.is_empty()
    }
}

impl Restrict<Move> for Bound<'_> {
    fn plies(&self) -> usize {
        let last = self.restrictions.last_move_number();
        let asked = last.map_or(0, |last| (last + 1).saturating_sub(self.move_number));
        asked.max(usize::from(!self.twins.is_empty()))
    }

    fn allows(&self, ply: usize, side: Side, mv: Move) -> bool {
        let color = match side {
            Side::First => Color::Black,
            Side::Second => Color::White,
        };
        let is_searched = ply > 0 || !self.restrictions.is_empty() || self.twins.is_first(mv);
        is_searched && self.restrictions.allow(color, mv, self.move_number + ply)
    }
}

/// Stops at the end of the time, and says how many playouts there is time for.
pub(crate) struct Deadline {
    pub start: Instant,
    time: Option<Duration>,
}

impl Deadline {
    pub fn new(start: Instant, time: Option<Duration>) -> Deadline {
        Deadline { start, time }
    }
}

impl Control for Deadline {
    fn poll(&self, progress: &Progress) -> Poll {
        let elapsed = self.start.elapsed();
        let Some(time) = self.time else {
            return Poll::Continue {
                playouts_left: u64::MAX,
            };
        };
        let Some(left) = time.checked_sub(elapsed).filter(|left| !left.is_zero()) else {
            return Poll::Stop;
        };
        let is_trusted = elapsed > TRUSTED_AFTER && progress.playouts > TRUSTED_PLAYOUTS;
        let playouts_left = if is_trusted {
            let rate = progress.playouts as f64 / elapsed.as_secs_f64();
            (rate * left.as_secs_f64()).ceil() as u64
        } else {
            u64::MAX
        };
        Poll::Continue { playouts_left }
    }
}

fn centiseconds(duration: Duration) -> Centiseconds {
    (duration.as_millis() / 10) as Centiseconds
}
