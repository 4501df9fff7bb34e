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
    Control, EvaluateError, Poll, Progress, Restrict, Search, SearchReport, Side, Snapshot,
    StopMode, Task, draw_by_visits,
};

use crate::{
    choice::{self, PassOutlook, PassStyle, Preference},
    clock::{Centiseconds, expected_moves},
    dynamic_komi::{
        Purpose, TurnKomi,
        watch::{Budget, Watch},
    },
    guard::Guarded,
    planes::BitPlanes,
    player::Player,
    position::Position,
    prepare::Preparation,
    record::Step,
    restriction::Restrictions,
};

/// How often a running search is looked at.
const TICK: Duration = Duration::from_millis(10);
/// A rate of playouts is trusted after this time and number.
const TRUSTED_AFTER: Duration = Duration::from_secs(1);
const TRUSTED_PLAYOUTS: u64 = 100;

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
    /// The board's size.
    pub size: BoardSize,
    /// The root, best move first.
    pub snapshot: Snapshot<Move>,
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

/// A running search.
pub struct View<'a> {
    search: &'a Search<Position>,
    /// The time since it started.
    pub elapsed: Duration,
}

impl View<'_> {
    /// The root as it stands.
    pub fn snapshot(&self) -> Snapshot<Move> {
        self.search.snapshot()
    }
}

impl Player {
    /// Thinks for `color`, whose turn it becomes, and makes the move.
    pub fn generate(
        &mut self,
        color: Color,
        request: &Request,
        observer: &mut dyn Observer,
    ) -> Result<Arc<Thought>, EvaluateError> {
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
            interrupted: &|| false,
        };
        let (position, mut report) = match self.run(&orders, observer) {
            Ok(found) => found,
            Err(error) => {
                self.game.set_to_move(turn_before);
                return Err(error);
            }
        };
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
            return Ok(thought);
        }
        self.record(&position, &thought.snapshot);
        self.clocks[color.index()].spend(centiseconds(start.elapsed()));
        match decision {
            Decision::Resign => self.resigned = Some(color),
            // A candidate is legal, and passing always is.
            Decision::Move(mv) => drop(self.game.play_as(color, mv)),
        }
        self.last_thought = Some(thought.clone());
        Ok(thought)
    }

    /// Searches the current position until `interrupted`, or a limit on playouts or visits is met.
    pub fn analyze(
        &mut self,
        restrictions: &Restrictions,
        interrupted: &(dyn Fn() -> bool + Sync),
        observer: &mut dyn Observer,
    ) -> Result<(Snapshot<Move>, SearchReport), EvaluateError> {
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
    ) -> Result<(Snapshot<Move>, SearchReport), EvaluateError> {
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
    ) -> Result<(Snapshot<Move>, SearchReport), EvaluateError> {
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

    fn position_for(&self, request: &Request) -> Position {
        self.position_at(self.net_komi, request)
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

    /// Searches the current position, again from the start if komi had to be adjusted on the way.
    fn run(
        &mut self,
        orders: &Orders<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(Position, SearchReport), EvaluateError> {
        let start = Instant::now();
        if self.komi_settings.mode.is_none() {
            let position = self.position_for(orders.request);
            let control = Deadline::new(start, orders.time);
            let report = self.grow(
                &position,
                orders,
                &control,
                self.options.playouts,
                start,
                observer,
            )?;
            return Ok((position, report));
        }
        let mut adjustments = 0;
        let mut spent: Option<SearchReport> = None;
        loop {
            let prepared = self.prepare(orders.purpose, adjustments > 0, |player| {
                player.position_for(orders.request)
            })?;
            observer.prepared(&prepared.preparation);
            let playouts_before = spent.map_or(0, |report| report.playouts);
            let visits_left = self.options.visits;
            let visits_left = visits_left.map(|most| most.saturating_sub(prepared.visits));
            let most_playouts = self.options.playouts;
            let budget = Budget {
                playouts_before,
                playouts: least(
                    most_playouts,
                    visits_left.map(|visits| playouts_before + visits),
                ),
                time: orders.time,
                adjustments: self
                    .komi_settings
                    .adjustments_per_search
                    .saturating_sub(adjustments),
            };
            let watch = Watch::new(
                &self.komi_settings,
                self.net_komi,
                orders.purpose,
                self.judge.collector(),
                self.positions_for_adjustment(),
                budget,
            );
            let control = Watched {
                deadline: Deadline::new(start, orders.time),
                watch: &watch,
            };
            let playouts_left = most_playouts.map(|most| most.saturating_sub(playouts_before));
            let mut report = self.grow(
                &prepared.position,
                orders,
                &control,
                playouts_left,
                start,
                observer,
            )?;
            report.evaluations += prepared.evaluations;
            let report = spent.map_or(report, |before| together(&before, &report));
            self.judge.collector().set_open(false);
            if !watch.is_triggered() {
                return Ok((prepared.position, report));
            }
            spent = Some(report);
            adjustments += 1;
        }
    }

    /// One run of the search, looked at from outside.
    fn grow(
        &self,
        position: &Position,
        orders: &Orders<'_>,
        control: &dyn Control,
        playouts: Option<u64>,
        start: Instant,
        observer: &mut dyn Observer,
    ) -> Result<SearchReport, EvaluateError> {
        let restrictions = &orders.request.restrictions;
        let bound = Bound {
            restrictions,
            move_number: self.game.move_number(),
        };
        let stop = AtomicBool::new(false);
        let task = Task {
            playouts,
            visits: self.options.visits,
            stop: Some(&stop),
            control: Some(control),
            restrict: (!restrictions.is_empty()).then_some(&bound as &dyn Restrict<Move>),
            early_stop: orders.early_stop,
        };
        let settings = self.options.search_settings(self.tree_limits().search);
        let (search, judge) = (&self.search, &self.judge);
        let watching = thread::current();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let running = scope.spawn(|| {
                let report = search.run(position, judge, &settings, &task);
                done.store(true, Ordering::Release);
                watching.unpark();
                report
            });
            // A thread that is done takes a moment to finish; one that panics is never done.
            while !done.load(Ordering::Acquire) && !running.is_finished() {
                if (orders.interrupted)() {
                    stop.store(true, Ordering::Relaxed);
                }
                let view = View {
                    search,
                    elapsed: start.elapsed(),
                };
                observer.tick(&view);
                thread::park_timeout(TICK);
            }
            running
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn decide(
        &mut self,
        position: &Position,
        snapshot: &Snapshot<Move>,
        request: &Request,
        guarded: Option<&Guarded>,
    ) -> Decision {
        let color = position.to_move();
        let move_number = self.game.move_number();
        let mut preferences: Vec<Preference> = snapshot
            .moves
            .iter()
            .map(|entry| Preference {
                mv: entry.mv,
                winrate: entry.winrate,
            })
            .collect();
        if move_number < self.options.random_moves && !request.only_say {
            let drawn = draw_by_visits(
                &snapshot.moves,
                self.options.random_temperature,
                self.options.random_min_visits,
                &mut self.rng,
            );
            if drawn < preferences.len() {
                preferences[..=drawn].rotate_right(1);
            }
        }
        if let Some(guarded) = guarded {
            put_first(&mut preferences, guarded);
        }
        let style = match (request.cleanup, self.options.dumb_pass) {
            (true, _) => PassStyle::Avoid,
            (false, true) => PassStyle::Search,
            (false, false) => PassStyle::Score,
        };
        let last = self.game.last_move();
        let outlook = PassOutlook {
            lead: position.lead(color),
            opponent_passed: last.is_some_and(|(_, mv)| mv.is_pass()) && !request.cleanup,
            forbidden: !request.restrictions.allow(color, Move::Pass, move_number),
        };
        let choice = choice::choose(&preferences, position.board(), color, style, outlook);
        let gives_up = !choice.mv.is_pass()
            && request.restrictions.allow_resign(color, move_number)
            && self.options.resign.resigns(
                choice.winrate,
                color,
                self.game.handicap(),
                move_number,
                self.game.size().area(),
            );
        if gives_up {
            Decision::Resign
        } else {
            Decision::Move(choice.mv)
        }
    }

    /// Records the position before the move, unless no move was visited.
    fn record(&mut self, position: &Position, snapshot: &Snapshot<Move>) {
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
        self.steps.push(Step {
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

/// Puts the move that a second look chose before all others.
fn put_first(preferences: &mut Vec<Preference>, guarded: &Guarded) {
    let mv = guarded.choice.mv;
    match preferences.iter().position(|other| other.mv == mv) {
        Some(index) => preferences[..=index].rotate_right(1),
        None => preferences.insert(
            0,
            Preference {
                mv,
                winrate: Some(guarded.choice.safest.1),
            },
        ),
    }
}

/// What a search is for, and how far it may go.
struct Orders<'a> {
    purpose: Purpose,
    request: &'a Request,
    time: Option<Duration>,
    early_stop: search::EarlyStop,
    interrupted: &'a (dyn Fn() -> bool + Sync),
}

/// The smaller of two limits, where none is no limit.
fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

/// Two runs for one purpose: what they cost adds up, the tree is the later one's.
fn together(before: &SearchReport, after: &SearchReport) -> SearchReport {
    SearchReport {
        playouts: before.playouts + after.playouts,
        evaluations: before.evaluations + after.evaluations,
        batches: before.batches + after.batches,
        discarded: before.discarded + after.discarded,
        depth_sum: before.depth_sum + after.depth_sum,
        depth_max: before.depth_max.max(after.depth_max),
        elapsed: before.elapsed + after.elapsed,
        ..*after
    }
}

/// Restrictions as the search asks for them.
pub(crate) struct Bound<'a> {
    pub restrictions: &'a Restrictions,
    pub move_number: usize,
}

impl Restrict<Move> for Bound<'_> {
    fn plies(&self) -> usize {
        let last = self.restrictions.last_move_number();
        last.map_or(0, |last| (last + 1).saturating_sub(self.move_number))
    }

    fn allows(&self, ply: usize, side: Side, mv: Move) -> bool {
        let color = match side {
            Side::First => Color::Black,
            Side::Second => Color::White,
        };
        self.restrictions.allow(color, mv, self.move_number + ply)
    }
}

/// Stops at the end of the time, and says how many playouts there is time for.
pub(crate) struct Deadline {
    start: Instant,
    time: Option<Duration>,
}

impl Deadline {
    pub fn new(start: Instant, time: Option<Duration>) -> Deadline {
        Deadline { start, time }
    }
}

/// A deadline, and a winrate that is watched.
struct Watched<'a> {
    deadline: Deadline,
    watch: &'a Watch<'a>,
}

impl Control for Watched<'_> {
    fn poll(&self, progress: &Progress) -> Poll {
        if self.watch.look(progress, self.deadline.start.elapsed()) {
            return Poll::Stop;
        }
        self.deadline.poll(progress)
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
