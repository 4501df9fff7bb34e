//! Batches, threads, untrusted leaves, and reading while searching.

mod toys;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};

use search::{
    ChanceLeaf, Evaluate, EvaluateError, Evaluation, Poll, Progress, Restrict, Rollout, Search,
    SearchRng, Settings, Side, StopReason, Task, WithoutValue,
};
use toys::{Endless, Hashed, PushYourLuck, TicTacToe};

/// Remembers the batches it was given.
#[derive(Default)]
struct Recording(Mutex<Vec<Vec<Endless>>>);

impl Evaluate<Endless> for Recording {
    fn evaluate(
        &self,
        leaves: &[Endless],
        rng: &mut SearchRng,
        evaluations: &mut Vec<Evaluation<u16>>,
    ) -> Result<(), EvaluateError> {
        self.0.lock().unwrap().push(leaves.to_vec());
        Hashed.evaluate(leaves, rng, evaluations)
    }
}

#[test]
fn virtual_loss_spreads_a_batch_over_different_leaves() {
    let recording = Recording::default();
    let settings = Settings {
        batch: 16,
        ..Settings::default()
    };
    let search = Search::new(1);
    let report = search
        .run(
            &Endless::new(40),
            &recording,
            &settings,
            &Task::visits(1000),
        )
        .unwrap();
    let batches = recording.0.into_inner().unwrap();
    for batch in &batches {
        for (index, leaf) in batch.iter().enumerate() {
            assert!(!batch[..index].contains(leaf), "{leaf:?} twice in a batch");
        }
    }
    // No leaf is evaluated twice in the whole search.
    assert_eq!(report.evaluations, 1000);
    // Nearly all batches are full, the root's own is not.
    assert!(
        report.batches <= 999 / 16 + 10,
        "{} batches",
        report.batches
    );
    // In-flight siblings push a batch past the first few moves at once.
    let first_moves: Vec<u16> = batches[2].iter().map(|leaf| leaf.played[0]).collect();
    assert!(first_moves.iter().any(|mv| *mv != first_moves[0]));
}

/// Two workers must meet inside the evaluator again and again.
struct Meeting(Barrier);

impl Evaluate<Endless> for Meeting {
    fn evaluate(
        &self,
        leaves: &[Endless],
        rng: &mut SearchRng,
        evaluations: &mut Vec<Evaluation<u16>>,
    ) -> Result<(), EvaluateError> {
        if !leaves[0].played.is_empty() {
            self.0.wait();
        }
        Hashed.evaluate(leaves, rng, evaluations)
    }
}

#[test]
fn two_evaluations_run_at_the_same_time() {
    // Would hang if any lock were held during an evaluation. The root has
    // moves enough for both from the start.
    let settings = Settings {
        threads: 2,
        ..Settings::default()
    };
    let meeting = Meeting(Barrier::new(2));
    let search = Search::new(1);
    let report = search
        .run(&Endless::new(20), &meeting, &settings, &Task::playouts(400))
        .unwrap();
    assert_eq!(report.playouts, 400);
}

#[test]
fn many_threads_agree_on_the_books() {
    let settings = Settings {
        threads: 16,
        batch: 3,
        chance_leaf: ChanceLeaf::PassThrough,
        memory_bytes: 4_000_000,
        ..Settings::default()
    };
    for round in 0..6u64 {
        let search = Search::new(round);
        let root = TicTacToe::after(&[]);
        let report = search
            .run(&root, &Rollout, &settings, &Task::visits(6000))
            .unwrap();
        assert_eq!(report.visits, 6000);
        let snapshot = search.snapshot();
        let children: u64 = snapshot.moves.iter().map(|m| u64::from(m.visits)).sum();
        assert_eq!(children, 5999);

        let search = Search::new(round);
        let root = PushYourLuck::at(2);
        let report = search
            .run(&root, &Rollout, &settings, &Task::playouts(6000))
            .unwrap();
        assert_eq!(report.playouts, 6000);

        let search = Search::new(round);
        let root = Endless::new(3);
        for _ in 0..4 {
            let report = search
                .run(&root, &Hashed, &settings, &Task::playouts(1000))
                .unwrap();
            assert_eq!(report.playouts, 1000);
        }
        assert_eq!(search.snapshot().visits, 4001);
    }
}

#[test]
fn a_narrow_tree_does_not_starve_threads() {
    // One move everywhere: at any time only one leaf can be evaluated.
    let settings = Settings {
        threads: 4,
        batch: 4,
        ..Settings::default()
    };
    let search = Search::new(1);
    let report = search
        .run(&Endless::new(1), &Hashed, &settings, &Task::visits(300))
        .unwrap();
    assert_eq!((report.visits, report.evaluations), (300, 300));
    assert_eq!(report.depth_max, 299);
    assert_eq!(report.average_depth(), 150.0);
    let shape = search.shape();
    assert_eq!((shape.nodes, shape.non_leaf_nodes), (300, 299));
    assert_eq!(
        (shape.average_depth(), shape.average_children()),
        (149.5, 1.0)
    );
}

#[test]
fn snapshots_are_consistent_while_the_search_runs() {
    let settings = Settings {
        threads: 2,
        batch: 2,
        ..Settings::default()
    };
    let search = Search::new(1);
    let stop = AtomicBool::new(false);
    let root = Endless::new(30);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let task = Task::default().stopped_by(&stop);
            search.run(&root, &Hashed, &settings, &task).unwrap();
        });
        let mut visits = 0;
        while visits < 3000 {
            let snapshot = search.snapshot();
            assert!(snapshot.visits >= visits, "visits never fall");
            visits = snapshot.visits;
            if visits > 0 {
                let children: u64 = snapshot.moves.iter().map(|m| u64::from(m.visits)).sum();
                assert_eq!(children + 1, visits);
            }
            for (order, entry) in snapshot.moves.iter().enumerate() {
                assert_eq!((entry.order, entry.pv[0]), (order, entry.mv));
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// Vouches for no position in which `Side::First` is to move.
struct HalfBlind;

impl Evaluate<Endless> for HalfBlind {
    fn evaluate(
        &self,
        leaves: &[Endless],
        rng: &mut SearchRng,
        evaluations: &mut Vec<Evaluation<u16>>,
    ) -> Result<(), EvaluateError> {
        Hashed.evaluate(leaves, rng, evaluations)?;
        for (leaf, evaluation) in leaves.iter().zip(evaluations) {
            if leaf.played.len() % 2 == 0 {
                evaluation.value = None;
            }
        }
        Ok(())
    }
}

#[test]
fn an_untrusted_leaf_borrows_from_its_child() {
    let root = Endless {
        width: 5,
        played: vec![0],
    };
    for batch in [1, 6] {
        let settings = Settings {
            without_value: WithoutValue::Deepen,
            batch,
            ..Settings::default()
        };
        let search = Search::new(1);
        let report = search
            .run(&root, &HalfBlind, &settings, &Task::visits(3))
            .unwrap();
        // The first simulation counts twice: for the child and its child.
        assert_eq!((report.visits, report.playouts), (3, 2));
        let first = search.snapshot().moves[0].clone();
        assert_eq!((first.visits, first.pv.len()), (2, 2));
        for visits in [50, 51, 400] {
            let report = search
                .run(&root, &HalfBlind, &settings, &Task::visits(visits))
                .unwrap();
            assert!(report.visits <= visits && report.visits + 1 >= visits);
        }
    }
}

#[test]
fn an_untrusted_leaf_may_be_discarded_instead() {
    let root = Endless {
        width: 5,
        played: vec![0],
    };
    let settings = Settings {
        without_value: WithoutValue::Discard,
        ..Settings::default()
    };
    let search = Search::new(1);
    let report = search
        .run(&root, &HalfBlind, &settings, &Task::visits(200))
        .unwrap();
    assert_eq!((report.visits, report.playouts), (200, 199));
    assert!(report.discarded >= 5);
}

/// Panics at the tenth call.
struct Fragile(AtomicUsize);

impl Evaluate<Endless> for Fragile {
    fn evaluate(
        &self,
        leaves: &[Endless],
        rng: &mut SearchRng,
        evaluations: &mut Vec<Evaluation<u16>>,
    ) -> Result<(), EvaluateError> {
        assert!(
            self.0.fetch_add(1, Ordering::Relaxed) != 10,
            "broken on purpose"
        );
        Hashed.evaluate(leaves, rng, evaluations)
    }
}

#[test]
fn a_panicking_evaluator_neither_hangs_nor_poisons_the_search() {
    let settings = Settings {
        threads: 3,
        batch: 2,
        ..Settings::default()
    };
    let search = Search::new(1);
    let root = Endless::new(10);
    let run = std::panic::AssertUnwindSafe(|| {
        let fragile = Fragile(AtomicUsize::new(0));
        search
            .run(&root, &fragile, &settings, &Task::visits(1000))
            .unwrap()
    });
    assert!(std::panic::catch_unwind(run).is_err());
    let report = search
        .run(&root, &Hashed, &settings, &Task::visits(1000))
        .unwrap();
    assert_eq!((report.reason, report.visits), (StopReason::Limit, 1000));
}

/// Forbids every move beyond the first ply.
struct OnePly;

impl Restrict<u16> for OnePly {
    fn plies(&self) -> usize {
        usize::MAX
    }

    fn allows(&self, ply: usize, _side: Side, _mv: u16) -> bool {
        ply == 0
    }
}

#[test]
fn positions_without_an_allowed_move_keep_their_own_value() {
    let search = Search::new(1);
    let restrict = OnePly;
    let control = |_: &Progress| Poll::Continue { playouts_left: 1 };
    let task = Task::visits(200)
        .restricted_by(&restrict)
        .watched_by(&control);
    let report = search
        .run(&Endless::new(4), &Hashed, &Settings::default(), &task)
        .unwrap();
    assert_eq!(report.visits, 200);
    assert!(report.evaluations <= 1 + 4);
    assert_eq!(report.depth_max, 1);
}
