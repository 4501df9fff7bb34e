//! Limits are exact, stops are heeded, memory is bounded.

mod toys;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use search::{
    EarlyStop, Evaluate, EvaluateError, Evaluation, Poll, Progress, Rollout, Search, SearchRng,
    Settings, StopMode, StopReason, Task, Uniform,
};
use toys::{Endless, Hashed, Nim, TicTacToe};

fn parallel(threads: usize, batch: usize) -> Settings {
    Settings {
        threads,
        batch,
        ..Settings::default()
    }
}

#[test]
fn visits_and_playouts_are_never_overshot() {
    for (threads, batch) in [(1, 1), (1, 8), (2, 1), (4, 16)] {
        let settings = parallel(threads, batch);
        for limit in [1, 2, 7, 60, 333] {
            let search = Search::new(1);
            let root = Endless::new(30);
            let report = search
                .run(&root, &Hashed, &settings, &Task::visits(limit))
                .unwrap();
            assert_eq!(report.reason, StopReason::Limit);
            assert_eq!((report.visits, report.playouts), (limit, limit - 1));
            let report = search
                .run(&root, &Hashed, &settings, &Task::playouts(limit))
                .unwrap();
            assert_eq!(report.playouts, limit);
            assert_eq!(report.visits, 2 * limit);
            assert_eq!(report.visits_reused, limit);
        }
    }
}

#[test]
fn both_limits_together_keep_the_smaller() {
    let root = Endless::new(30);
    let both = |visits, playouts| Task {
        playouts: Some(playouts),
        ..Task::visits(visits)
    };
    let settings = Settings::default();
    let report = Search::new(1)
        .run(&root, &Hashed, &settings, &both(50, 20))
        .unwrap();
    assert_eq!((report.visits, report.playouts), (21, 20));
    let report = Search::new(1)
        .run(&root, &Hashed, &settings, &both(10, 20))
        .unwrap();
    assert_eq!((report.visits, report.playouts), (10, 9));
}

#[test]
fn child_visits_add_up_to_the_roots() {
    for settings in [parallel(1, 1), parallel(3, 7)] {
        let search = Search::new(2);
        search
            .run(
                &TicTacToe::after(&[]),
                &Rollout,
                &settings,
                &Task::visits(5000),
            )
            .unwrap();
        let snapshot = search.snapshot();
        let children: u64 = snapshot.moves.iter().map(|m| u64::from(m.visits)).sum();
        assert_eq!(children, 4999);
    }
}

#[test]
fn a_solved_tree_still_ends_at_the_limit() {
    let search = Search::new(1);
    let root = Nim::new(&[1]);
    let report = search
        .run(&root, &Uniform, &parallel(2, 4), &Task::visits(500))
        .unwrap();
    assert_eq!(report.visits, 500);
    assert_eq!(search.snapshot().value, 499.5 / 500.0);
}

#[test]
fn a_finished_game_has_nothing_to_search() {
    let won = TicTacToe::after(&[0, 3, 1, 4, 2]);
    let search = Search::new(1);
    let report = search
        .run(&won, &Uniform, &Settings::default(), &Task::visits(10))
        .unwrap();
    assert_eq!(report.reason, StopReason::NoMoves);
    assert_eq!((report.playouts, search.snapshot().best()), (0, None));
    assert_eq!(search.snapshot().evaluation, 1.0);
}

#[test]
fn a_set_flag_still_leaves_a_move_to_play() {
    let stop = AtomicBool::new(true);
    let search = Search::new(1);
    let task = Task::default().stopped_by(&stop);
    let report = search
        .run(&Endless::new(5), &Hashed, &parallel(2, 4), &task)
        .unwrap();
    assert_eq!((report.reason, report.playouts), (StopReason::Flag, 0));
    assert_eq!((report.visits, search.snapshot().moves.len()), (1, 5));
}

/// Sets a flag in the middle of the evaluation with this number.
struct Trip<'a> {
    at: u64,
    count: AtomicU64,
    flag: &'a AtomicBool,
}

impl Evaluate<Endless> for Trip<'_> {
    fn evaluate(
        &self,
        leaves: &[Endless],
        rng: &mut SearchRng,
        evaluations: &mut Vec<Evaluation<u16>>,
    ) -> Result<(), EvaluateError> {
        if self.count.fetch_add(1, Ordering::Relaxed) + 1 == self.at {
            self.flag.store(true, Ordering::Relaxed);
        }
        Hashed.evaluate(leaves, rng, evaluations)
    }
}

#[test]
fn the_flag_stops_a_search_without_limits() {
    let flag = AtomicBool::new(false);
    let evaluator = Trip {
        at: 100,
        count: AtomicU64::new(0),
        flag: &flag,
    };
    let search = Search::new(1);
    let root = Endless::new(20);
    let task = Task::default().stopped_by(&flag);
    let report = search
        .run(&root, &evaluator, &Settings::default(), &task)
        .unwrap();
    assert_eq!((report.reason, report.playouts), (StopReason::Flag, 99));

    // Nothing stays claimed: the search goes on where it stopped.
    let report = search
        .run(&root, &Hashed, &parallel(2, 8), &Task::visits(300))
        .unwrap();
    assert_eq!((report.visits, report.visits_reused), (300, 100));
}

#[test]
fn the_watcher_sees_progress_and_can_stop() {
    let seen = AtomicU64::new(0);
    let control = |progress: &Progress| {
        assert_eq!(progress.visits, progress.playouts + 1);
        assert!((0.0..=1.0).contains(&progress.value));
        let before = seen.swap(progress.playouts, Ordering::Relaxed);
        assert_eq!(progress.playouts, before + 1);
        if progress.playouts >= 37 {
            return Poll::Stop;
        }
        Poll::Continue {
            playouts_left: u64::MAX,
        }
    };
    let search = Search::new(1);
    let task = Task::default().watched_by(&control);
    let report = search
        .run(&Endless::new(20), &Hashed, &Settings::default(), &task)
        .unwrap();
    assert_eq!((report.reason, report.playouts), (StopReason::Control, 37));
}

#[test]
fn memory_is_bounded_and_the_search_says_so() {
    for settings in [parallel(1, 1), parallel(3, 8)] {
        let settings = Settings {
            memory_bytes: 300_000,
            ..settings
        };
        let search = Search::new(1);
        let root = Endless::new(100);
        let report = search
            .run(&root, &Hashed, &settings, &Task::default())
            .unwrap();
        assert_eq!(report.reason, StopReason::Memory);
        assert!(report.memory_bytes <= 300_000, "{}", report.memory_bytes);
        assert!(report.memory_bytes > 250_000, "{}", report.memory_bytes);
        assert!(report.playouts > 100);

        // The next move frees what it does not need, and the search goes on.
        let best = search.snapshot().best().expect("a move");
        let mut next = root.clone();
        search::Game::play(&mut next, best);
        let report = search
            .run(&next, &Hashed, &settings, &Task::playouts(20))
            .unwrap();
        assert_eq!((report.reason, report.playouts), (StopReason::Limit, 20));
        assert!(report.visits_reused > 1);
        assert!(report.memory_bytes <= 300_000);
    }
}

/// Vouches for nothing but the start.
struct Doubtful;

impl Evaluate<Endless> for Doubtful {
    fn evaluate(
        &self,
        leaves: &[Endless],
        rng: &mut SearchRng,
        evaluations: &mut Vec<Evaluation<u16>>,
    ) -> Result<(), EvaluateError> {
        Hashed.evaluate(leaves, rng, evaluations)?;
        for (leaf, evaluation) in leaves.iter().zip(evaluations) {
            evaluation.value = evaluation.value.filter(|_| leaf.played.is_empty());
        }
        Ok(())
    }
}

#[test]
fn a_search_that_can_count_nothing_still_ends_when_memory_does() {
    let settings = Settings {
        memory_bytes: 100_000,
        ..Settings::default()
    };
    let search = Search::new(1);
    let report = search
        .run(&Endless::new(50), &Doubtful, &settings, &Task::visits(9))
        .unwrap();
    assert_eq!((report.reason, report.playouts), (StopReason::Memory, 0));
}

#[test]
fn a_lowered_limit_is_kept_at_once() {
    let search = Search::new(1);
    let root = Endless::new(50);
    let roomy = search
        .run(&root, &Hashed, &Settings::default(), &Task::visits(2000))
        .unwrap();
    assert!(roomy.memory_bytes > 200_000);
    let settings = Settings {
        memory_bytes: 200_000,
        ..Settings::default()
    };
    let report = search
        .run(&root, &Hashed, &settings, &Task::visits(100))
        .unwrap();
    assert_eq!((report.visits_reused, report.visits), (0, 100));
    assert!(report.memory_bytes <= 200_000);
}

#[test]
fn short_memory_leaves_unlikely_moves_out_but_never_at_the_root() {
    let settings = Settings {
        memory_bytes: 300_000,
        ..Settings::default()
    };
    let search = Search::new(1);
    let mut state = Endless::new(100);
    for _ in 0..6 {
        search
            .run(&state, &Hashed, &settings, &Task::playouts(400))
            .unwrap();
        let snapshot = search.snapshot();
        assert_eq!(snapshot.moves.len(), 100);
        search::Game::play(&mut state, snapshot.best().expect("a move"));
    }
}

#[test]
fn hopeless_moves_are_pruned_and_a_decided_search_stops() {
    // Crosses win at once: nobody can catch up with the winning move.
    let root = TicTacToe::after(&[0, 3, 1, 4]);
    let report_with = |early_stop| {
        let search = Search::new(1);
        let task = Task::visits(2000).stopping_early(early_stop);
        let report = search
            .run(&root, &Rollout, &Settings::default(), &task)
            .unwrap();
        (report, search.snapshot())
    };
    let (full, _) = report_with(EarlyStop::default());
    assert_eq!((full.reason, full.visits), (StopReason::Limit, 2000));

    let (stopped, snapshot) = report_with(EarlyStop {
        prune: false,
        stop: true,
    });
    assert_eq!(stopped.reason, StopReason::Decided);
    assert_eq!(snapshot.best(), Some(2));
    // The leader cannot be caught any more, and was not long before.
    let first = u64::from(snapshot.moves[0].visits);
    let second = u64::from(snapshot.moves[1].visits);
    let left = 2000 - stopped.visits;
    assert!(first > second + left);
    assert!(first <= second + left + 2 * 8);

    let (pruned, snapshot) = report_with(EarlyStop {
        prune: true,
        stop: false,
    });
    assert_eq!((pruned.reason, pruned.visits), (StopReason::Limit, 2000));
    // Once the rest is out of contention, all playouts go to one move.
    assert!(u64::from(snapshot.moves[0].visits) >= first + left - 8);
}

#[test]
fn the_watchers_estimate_decides_too() {
    let control = |_: &Progress| Poll::Continue { playouts_left: 5 };
    let root = TicTacToe::after(&[0, 3, 1, 4]);
    let task = Task::visits(100_000)
        .watched_by(&control)
        .stopping_early(StopMode::Fast.resolve(false, false));
    let search = Search::new(1);
    let report = search
        .run(&root, &Rollout, &Settings::default(), &task)
        .unwrap();
    assert_eq!(report.reason, StopReason::Decided);
    assert!(report.visits < 200, "{}", report.visits);
}

#[test]
fn stop_modes_mean_what_leela_zero_means_by_them() {
    let resolve = |mode: StopMode, noise, saves| {
        let policy = mode.resolve(noise, saves);
        (policy.prune, policy.stop)
    };
    assert_eq!(resolve(StopMode::Auto, false, true), (true, true));
    assert_eq!(resolve(StopMode::Auto, true, true), (false, true));
    assert_eq!(resolve(StopMode::On, true, false), (true, false));
    assert_eq!(resolve(StopMode::NoPruning, false, true), (false, true));
    assert_eq!(resolve(StopMode::Fast, false, false), (true, true));
    assert_eq!(resolve(StopMode::Off, false, true), (false, false));
}
