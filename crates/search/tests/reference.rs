//! With one thread and batches of one the search is the classic sequential
//! one. A second, naive implementation written straight from the formulas
//! must agree with it visit for visit and bit for bit.

mod toys;

use proptest::prelude::*;
use rand::SeedableRng;
use search::{
    Evaluate, Fpu, FpuBase, Game, Puct, Rule, Search, SearchRng, Settings, Side, Task, Turn,
};
use toys::{Endless, Hashed};

struct Plain {
    mv: u16,
    prior: f64,
    visits: u32,
    sum_for_first: f64,
    evaluation: f64,
    children: Option<Vec<Plain>>,
}

impl Plain {
    fn new(mv: u16, prior: f64) -> Self {
        Plain {
            mv,
            prior,
            visits: 0,
            sum_for_first: 0.0,
            evaluation: 0.0,
            children: None,
        }
    }

    fn expand(&mut self, state: &Endless) -> f64 {
        let mut evaluations = Vec::new();
        let mut unused = SearchRng::seed_from_u64(0);
        Hashed
            .evaluate(std::slice::from_ref(state), &mut unused, &mut evaluations)
            .unwrap();
        let evaluation = evaluations.pop().unwrap();
        let total: f32 = evaluation.priors.iter().map(|entry| entry.1).sum();
        let mut children: Vec<Plain> = evaluation
            .priors
            .iter()
            .map(|&(mv, prior)| Plain::new(mv, f64::from(prior / total)))
            .collect();
        children.sort_by(|a, b| b.prior.total_cmp(&a.prior));
        self.children = Some(children);
        self.evaluation = evaluation.value.unwrap();
        self.evaluation
    }

    fn simulate(&mut self, mut state: Endless, puct: &Puct, is_root: bool) -> f64 {
        let chosen = self.select(&state, puct, is_root);
        let value = match (chosen, &mut self.children) {
            (Some(index), Some(children)) => {
                state.play(children[index].mv);
                children[index].simulate(state, puct, false)
            }
            _ => self.expand(&state),
        };
        self.visits += 1;
        self.sum_for_first += value;
        value
    }

    fn select(&self, state: &Endless, puct: &Puct, is_root: bool) -> Option<usize> {
        let Turn::Player(side) = state.turn() else {
            unreachable!()
        };
        let children = self.children.as_ref()?;
        let n: u32 = children.iter().map(|child| child.visits).sum();
        let n = f64::from(n);
        let visited = children.iter().filter(|child| child.visits > 0);
        let prior_visited: f64 = visited.map(|child| child.prior).sum();
        let r = if is_root {
            puct.fpu.root_reduction
        } else {
            puct.fpu.reduction
        };
        let base = match puct.fpu.base {
            FpuBase::ParentMean => self.sum_for_first / f64::from(self.visits),
            FpuBase::ParentEvaluation => self.evaluation,
            FpuBase::Constant(_) => unreachable!(),
        };
        let for_side = |value: f64| match side {
            Side::First => value,
            Side::Second => 1.0 - value,
        };
        let fpu = for_side(base) - r * prior_visited.sqrt();
        let numerator = (n * (puct.log_puct * n + puct.log_const).ln()).sqrt();
        let score = |child: &Plain| {
            let q = match child.visits {
                0 => fpu,
                visits => for_side(child.sum_for_first / f64::from(visits)),
            };
            q + puct.cpuct * child.prior * (numerator / (1.0 + f64::from(child.visits)))
        };
        let mut best = 0;
        for index in 1..children.len() {
            if score(&children[index]) > score(&children[best]) {
                best = index;
            }
        }
        Some(best)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn one_thread_is_the_classic_sequential_search(
        width in 2u16..80,
        opening in proptest::collection::vec(0u16..80, 0..4),
        visits in 2u64..1500,
        cpuct in 0.1f64..3.0,
        reduction in 0.0f64..0.5,
        root_reduction in 0.0f64..0.5,
        own_evaluation: bool,
    ) {
        let base = if own_evaluation { FpuBase::ParentEvaluation } else { FpuBase::ParentMean };
        let fpu = Fpu { base, reduction, root_reduction };
        let puct = Puct { cpuct, fpu, ..Puct::default() };
        let root = Endless { width, played: opening };

        let mut plain = Plain::new(0, 1.0);
        for _ in 0..visits {
            plain.simulate(root.clone(), &puct, true);
        }

        let search = Search::new(0);
        let settings = Settings { rule: Rule::Puct(puct), ..Settings::default() };
        search.run(&root, &Hashed, &settings, &Task::visits(visits)).unwrap();
        let snapshot = search.snapshot();

        prop_assert_eq!(snapshot.visits, u64::from(plain.visits));
        for child in plain.children.unwrap() {
            let found = snapshot.get(child.mv).unwrap();
            prop_assert_eq!(found.visits, child.visits);
            if let (Some(winrate), Turn::Player(side)) = (found.winrate, root.turn()) {
                let mean = child.sum_for_first / f64::from(child.visits);
                prop_assert_eq!(winrate, side.view(mean));
            }
        }
    }
}
