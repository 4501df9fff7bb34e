//! The search by utility: what is backed up beside the value, and what it plays for.

mod toys;

use search::{
    Evaluate, EvaluateError, Evaluation, Evaluations, Game, Means, MeansOf, Outlook, Rule, Search,
    SearchRng, Settings, Side, Task, Turn, Utility, UtilityOf, UtilityPuct,
};
use toys::{Endless, Hashed};

fn settings() -> Settings {
    Settings {
        rule: Rule::Utility(UtilityPuct::default()),
        virtual_loss: 1,
        ..Settings::default()
    }
}

/// Two moves each, four plies; the numbers said are the score. Black adds, White subtracts.
#[derive(Clone, Debug)]
struct Points {
    said: Vec<i32>,
}

const PLIES: usize = 4;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Score(f64);

impl Outlook for Score {
    type Means = Score;
    type Utility = ByScore;

    fn means(&self) -> Score {
        *self
    }
}

impl Means for Score {
    fn add(&mut self, other: &Score, weight: f64) {
        self.0 += weight * other.0;
    }

    fn scaled(&self, factor: f64) -> Score {
        Score(self.0 * factor)
    }
}

/// Half for winning, half for points; the centre is what the root promises.
#[derive(Clone, Debug, Default, PartialEq)]
struct ByScore {
    centre: f64,
}

impl Utility<Score> for ByScore {
    fn of(&self, value: f64, means: &Score) -> f64 {
        0.5 * (2.0 * value - 1.0) + 0.5 * ((means.0 - self.centre) / 20.0).clamp(-1.0, 1.0)
    }

    fn weight(&self, _outlook: &Score) -> f64 {
        1.0
    }

    fn weight_of_end(&self) -> f64 {
        8.0
    }

    fn radius(&self) -> f64 {
        1.0
    }
}

impl Game for Points {
    type Move = i32;
    type Outlook = Score;

    fn turn(&self) -> Turn {
        if self.said.len() == PLIES {
            // Black has won long ago: only the score differs.
            return Turn::Over(1.0);
        }
        Turn::Player(if self.said.len().is_multiple_of(2) {
            Side::First
        } else {
            Side::Second
        })
    }

    fn moves(&self, moves: &mut Vec<i32>) {
        moves.extend([1, 2, 3]);
    }

    fn play(&mut self, mv: i32) {
        self.said.push(mv);
    }

    fn final_outlook(&self) -> Score {
        Score(self.score())
    }

    fn path_from(&self, earlier: &Points) -> Option<Vec<i32>> {
        self.said
            .strip_prefix(&earlier.said[..])
            .map(<[i32]>::to_vec)
    }
}

impl Points {
    fn score(&self) -> f64 {
        let signed = self
            .said
            .iter()
            .enumerate()
            .map(|(ply, &points)| match ply % 2 {
                0 => points,
                _ => -points,
            });
        f64::from(signed.sum::<i32>())
    }
}

/// Knows the score so far, and that Black wins.
struct Counting;

impl Evaluate<Points> for Counting {
    fn evaluate(
        &self,
        leaves: &[Points],
        _rng: &mut SearchRng,
        evaluations: &mut Evaluations<Points>,
    ) -> Result<(), EvaluateError> {
        for leaf in leaves {
            let mut moves = Vec::new();
            leaf.moves(&mut moves);
            evaluations.push(Evaluation {
                value: Some(1.0),
                priors: moves.into_iter().map(|mv| (mv, 1.0)).collect(),
                outlook: Score(leaf.score()),
            });
        }
        Ok(())
    }

    fn utility(&self, _root: &Points, means: &MeansOf<Points>) -> UtilityOf<Points> {
        ByScore { centre: means.0 }
    }
}

#[test]
fn points_decide_where_winning_does_not() {
    let search = Search::new(1);
    let start = Points { said: vec![] };
    search
        .run(&start, &Counting, &settings(), &Task::visits(600))
        .unwrap();
    let snapshot = search.snapshot();
    assert_eq!(snapshot.best(), Some(3));
    let best = &snapshot.moves[0];
    // Black says three twice and White too: the end is even, and the search has seen it.
    assert_eq!(&best.pv[..2], [3, 3]);
    let weighed = best.weighed.unwrap();
    assert!(weighed.means.0.abs() < 1.0, "{weighed:?}");
    assert!(weighed.weight > f64::from(best.visits), "ends weigh eight");
}

#[test]
fn a_new_centre_is_applied_to_the_tree_that_was_kept() {
    let search = Search::new(1);
    let start = Points { said: vec![] };
    let task = Task::visits(200);
    search.run(&start, &Counting, &settings(), &task).unwrap();
    let later = Points { said: vec![3] };
    // No playouts: what is seen now is the kept tree, measured by its own new centre.
    search
        .run(&later, &Counting, &settings(), &Task::playouts(0))
        .unwrap();
    let root = search.snapshot().weighed.unwrap();
    let expected = 0.5;
    assert!((root.utility - expected).abs() < 0.05, "{root:?}");
}

#[test]
fn shares_of_the_tree_add_up_to_one() {
    let search = Search::new(1);
    let start = Points { said: vec![] };
    let task = Task::visits(300);
    search.run(&start, &Counting, &settings(), &task).unwrap();
    for below in [None, Some(1), Some(3)] {
        let shares = search.shares(below);
        let total: f64 = shares.iter().map(|entry| entry.1).sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
    }
}

#[test]
fn visits_limits_stay_exact_with_threads_and_batches() {
    for (threads, batch) in [(1, 1), (1, 8), (3, 4)] {
        let settings = Settings {
            threads,
            batch,
            ..settings()
        };
        let search = Search::new(1);
        let report = search
            .run(&Endless::new(30), &Hashed, &settings, &Task::visits(777))
            .unwrap();
        assert_eq!((report.visits, report.playouts), (777, 776));
        let visits: u32 = search
            .snapshot()
            .moves
            .iter()
            .map(|entry| entry.visits)
            .sum();
        assert_eq!(visits, 776);
    }
}

#[test]
fn both_kinds_of_root_moves_are_tried() {
    // A width of 40 with a hashed prior: the likeliest move is tried first, this one hardly ever.
    let search = Search::new(1);
    let root = Endless::new(40);
    let task = Task::visits(1);
    search.run(&root, &Hashed, &settings(), &task).unwrap();
    let moves = search.snapshot().moves;
    let last = moves.iter().min_by(|a, b| a.prior.total_cmp(&b.prior));
    let unlikely = last.unwrap().mv;
    let is_unlikely = move |mv: u16| mv == unlikely;
    let task = Task {
        both_kinds: Some(&is_unlikely),
        ..Task::visits(4)
    };
    search.run(&root, &Hashed, &settings(), &task).unwrap();
    assert_eq!(search.snapshot().get(unlikely).unwrap().visits, 1);
}

#[test]
fn changing_the_rule_starts_afresh() {
    let search = Search::new(1);
    let root = Endless::new(5);
    search
        .run(&root, &Hashed, &settings(), &Task::visits(50))
        .unwrap();
    let report = search
        .run(&root, &Hashed, &Settings::default(), &Task::visits(60))
        .unwrap();
    assert_eq!((report.visits_reused, report.visits), (0, 60));
    assert!(search.snapshot().weighed.is_none());
}

/// Fails at its tenth batch.
struct Failing(std::sync::atomic::AtomicU64);

impl Evaluate<Endless> for Failing {
    fn evaluate(
        &self,
        leaves: &[Endless],
        rng: &mut SearchRng,
        evaluations: &mut Evaluations<Endless>,
    ) -> Result<(), EvaluateError> {
        if self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 10 {
            return Err(EvaluateError::new("the device is gone"));
        }
        Hashed.evaluate(leaves, rng, evaluations)
    }
}

#[test]
fn a_failure_of_the_evaluator_reaches_the_caller_and_the_tree_stays_usable() {
    for threads in [1, 3] {
        let settings = Settings {
            threads,
            batch: 2,
            ..Settings::default()
        };
        let search = Search::new(1);
        let failing = Failing(0.into());
        let root = Endless::new(9);
        let result = search.run(&root, &failing, &settings, &Task::visits(500));
        assert_eq!(result.unwrap_err().to_string(), "the device is gone");
        let report = search
            .run(&root, &Hashed, &settings, &Task::visits(500))
            .unwrap();
        assert_eq!(report.visits, 500);
    }
}
