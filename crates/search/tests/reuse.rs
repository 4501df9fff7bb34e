//! Statistics survive moves and undos; restrictions and noise do not.

mod toys;

use search::{Dirichlet, Game, Restrict, Search, Settings, Side, StopReason, Task};
use toys::{Endless, Hashed, Nim, TicTacToe};

fn played(root: &Endless, moves: &[u16]) -> Endless {
    let mut state = root.clone();
    moves.iter().for_each(|&mv| state.play(mv));
    state
}

#[test]
fn a_move_keeps_its_subtree_and_an_undo_finds_the_tree_again() {
    let settings = Settings::default();
    let search = Search::new(1);
    let root = Endless::new(20);
    search
        .run(&root, &Hashed, &settings, &Task::visits(500))
        .unwrap();
    let before = search.snapshot();
    let best = &before.moves[0];

    let next = played(&root, &[best.mv]);
    let report = search
        .run(&next, &Hashed, &settings, &Task::playouts(100))
        .unwrap();
    assert_eq!(report.visits_reused, u64::from(best.visits));
    assert_eq!(report.visits, u64::from(best.visits) + 100);

    // Undo: the old root is there, its other moves untouched.
    assert_eq!(search.set_root(&root), 500);
    let after = search.snapshot();
    for entry in &before.moves[1..] {
        let now = after.get(entry.mv).expect("the same move");
        assert_eq!((now.visits, now.winrate), (entry.visits, entry.winrate));
    }
    assert_eq!(after.get(best.mv).expect("it").visits, best.visits + 100);
}

#[test]
fn two_undos_a_sibling_and_a_redo_are_all_found() {
    let settings = Settings::default();
    let search = Search::new(1);
    let root = Endless::new(8);
    search
        .run(&root, &Hashed, &settings, &Task::visits(400))
        .unwrap();
    let line = search.snapshot().moves[0].pv.clone();
    let sibling = search.snapshot().moves[1].clone();
    let deep = played(&root, &line[..2]);
    search
        .run(&deep, &Hashed, &settings, &Task::playouts(50))
        .unwrap();
    let deep_visits = search.snapshot().visits;

    assert_eq!(search.set_root(&root), 400);
    let sibling_state = played(&root, &[sibling.mv]);
    assert_eq!(search.set_root(&sibling_state), u64::from(sibling.visits));
    assert_eq!(search.set_root(&deep), deep_visits);
}

#[test]
fn a_move_the_tree_never_tried_does_not_cost_the_past() {
    let settings = Settings::default();
    let search = Search::new(1);
    let root = Endless::new(300);
    search
        .run(&root, &Hashed, &settings, &Task::visits(50))
        .unwrap();
    let moves = search.snapshot().moves;
    let untried = moves.last().expect("a move");
    assert_eq!(untried.visits, 0);
    let next = played(&root, &[untried.mv]);
    let report = search
        .run(&next, &Hashed, &settings, &Task::visits(30))
        .unwrap();
    assert_eq!((report.visits_reused, report.visits), (0, 30));
    assert_eq!(search.set_root(&root), 50);
    assert_eq!(search.set_root(&next), 30);
}

#[test]
fn another_game_starts_afresh_and_clear_forgets() {
    let settings = Settings::default();
    let search = Search::new(1);
    let root = played(&Endless::new(8), &[3]);
    search
        .run(&root, &Hashed, &settings, &Task::visits(50))
        .unwrap();
    assert_eq!(search.set_root(&played(&Endless::new(8), &[4])), 0);
    assert_eq!(search.set_root(&root), 50);
    search.forget_past();
    assert_eq!(search.set_root(&root), 50);
    search.clear();
    assert_eq!(search.set_root(&root), 0);
}

/// Allows only one move at the root, and avoids one for some plies.
struct Rules {
    allow_at_root: Option<u16>,
    avoid: u16,
    plies: usize,
}

impl Restrict<u16> for Rules {
    fn plies(&self) -> usize {
        self.plies
    }

    fn allows(&self, ply: usize, _side: Side, mv: u16) -> bool {
        match self.allow_at_root {
            Some(only) if ply == 0 => mv == only,
            _ => mv != self.avoid,
        }
    }
}

#[test]
fn a_restriction_holds_on_a_reused_tree_and_ends_with_its_run() {
    let settings = Settings::default();
    let search = Search::new(1);
    let root = Endless::new(20);
    search
        .run(&root, &Hashed, &settings, &Task::visits(400))
        .unwrap();
    let free = search.snapshot();
    let last = free.moves.last().expect("a move").mv;
    let only_last = Rules {
        allow_at_root: Some(last),
        avoid: u16::MAX,
        plies: 1,
    };
    let task = Task::visits(50).restricted_by(&only_last);
    let report = search.run(&root, &Hashed, &settings, &task).unwrap();
    let restricted = search.snapshot();
    assert_eq!(restricted.best(), Some(last));
    assert_eq!(restricted.moves.len(), 1);
    assert_eq!(restricted.moves[0].prior, 1.0);
    // Visits of forbidden moves do not count towards the limit.
    assert_eq!(report.visits, 50);
    assert_eq!(restricted.moves[0].visits, 49);

    search
        .run(&root, &Hashed, &settings, &Task::playouts(1))
        .unwrap();
    assert_eq!(search.snapshot().moves.len(), 20);
}

#[test]
fn a_restriction_reaches_as_many_plies_as_it_says() {
    let search = Search::new(1);
    let root = Endless::new(6);
    let settings = Settings::default();
    search
        .run(&root, &Hashed, &settings, &Task::visits(2000))
        .unwrap();
    let visits_deep = |moves: &[u16]| search.set_root(&played(&root, moves));
    let before: Vec<u64> = (0..6).map(|mv| visits_deep(&[mv, 2])).collect();
    let before_deeper = visits_deep(&[1, 0, 2]);
    let rules = Rules {
        allow_at_root: None,
        avoid: 2,
        plies: 2,
    };
    let task = Task::playouts(3000).restricted_by(&rules);
    search.run(&root, &Hashed, &settings, &task).unwrap();
    assert!(search.snapshot().get(2).is_none());
    let after: Vec<u64> = (0..6).map(|mv| visits_deep(&[mv, 2])).collect();
    assert_eq!(before, after);
    assert!(before_deeper <= visits_deep(&[1, 0, 2]));
}

#[test]
fn forbidding_everything_leaves_no_moves() {
    let nothing = Rules {
        allow_at_root: Some(999),
        avoid: 0,
        plies: 1,
    };
    let search = Search::new(1);
    let task = Task::visits(50).restricted_by(&nothing);
    let report = search
        .run(&Endless::new(5), &Hashed, &Settings::default(), &task)
        .unwrap();
    assert_eq!(report.reason, StopReason::NoMoves);
    assert_eq!(search.snapshot().best(), None);
}

#[test]
fn noise_is_fresh_each_time_and_never_accumulates() {
    let noise = Dirichlet::default();
    let noisy = Settings {
        noise: Some(noise),
        ..Settings::default()
    };
    let search = Search::new(4);
    let root = Endless::new(20);
    search
        .run(&root, &Hashed, &Settings::default(), &Task::visits(1))
        .unwrap();
    let clean = search.snapshot();
    let mut draws = Vec::new();
    for _ in 0..30 {
        search
            .run(&root, &Hashed, &noisy, &Task::playouts(1))
            .unwrap();
        let snapshot = search.snapshot();
        let total: f64 = snapshot.moves.iter().map(|entry| entry.prior).sum();
        assert!((total - 1.0).abs() < 1e-5);
        for entry in &clean.moves {
            let prior = snapshot.get(entry.mv).expect("the same move").prior;
            let kept = (1.0 - noise.epsilon) * entry.prior;
            assert!(prior > kept - 1e-6 && prior < kept + noise.epsilon + 1e-6);
        }
        draws.push(snapshot.get(0).expect("a move").prior);
    }
    draws.dedup();
    assert!(draws.len() > 20);
    search
        .run(&root, &Hashed, &Settings::default(), &Task::playouts(1))
        .unwrap();
    for entry in &clean.moves {
        let now = search.snapshot();
        assert_eq!(now.get(entry.mv).expect("the same move").prior, entry.prior);
    }
}

#[test]
fn a_forbidden_root_move_is_never_offered() {
    let mut root = Nim::new(&[3, 1]);
    root.forbidden = vec![vec![1, 1]];
    let search = Search::new(1);
    search
        .run(
            &root,
            &search::Rollout,
            &Settings::default(),
            &Task::visits(500),
        )
        .unwrap();
    let snapshot = search.snapshot();
    assert!(snapshot.get((0, 2)).is_none());
    assert_eq!(snapshot.moves.len(), 3);
    let children: u64 = snapshot.moves.iter().map(|m| u64::from(m.visits)).sum();
    assert_eq!(children, 499);
}

#[test]
fn forbidden_positions_inside_the_tree_are_found_once_and_not_counted() {
    let mut root = Nim::new(&[2, 2]);
    root.forbidden = vec![vec![1, 1], vec![0, 2]];
    for settings in [
        Settings::default(),
        Settings {
            threads: 2,
            batch: 4,
            ..Settings::default()
        },
    ] {
        let search = Search::new(1);
        let report = search
            .run(&root, &search::Rollout, &settings, &Task::visits(2000))
            .unwrap();
        assert_eq!((report.visits, report.playouts), (2000, 1999));
        assert!(report.discarded > 0);
        let children: u64 = search
            .snapshot()
            .moves
            .iter()
            .map(|m| u64::from(m.visits))
            .sum();
        assert_eq!(children, 1999);
        let again = search
            .run(&root, &search::Rollout, &settings, &Task::playouts(500))
            .unwrap();
        assert_eq!(again.discarded, 0);
        // From 1,2 and 2,1 the opponent's good replies are forbidden, so both
        // win; 2,0 lets him take the rest.
        let best = search.snapshot().best();
        assert!(best == Some((0, 1)) || best == Some((1, 1)), "{best:?}");
    }
}

#[test]
fn equal_seeds_give_equal_searches() {
    let settings = Settings {
        noise: Some(Dirichlet::default()),
        batch: 4,
        ..Settings::default()
    };
    let root = TicTacToe::after(&[4]);
    let run = |seed| {
        let search = Search::new(seed);
        for visits in [100, 300, 900] {
            search
                .run(&root, &search::Rollout, &settings, &Task::visits(visits))
                .unwrap();
        }
        search.snapshot()
    };
    assert_eq!(run(11), run(11));
    assert_ne!(run(11), run(12));
}
