//! A property test that looks inside: whatever is asked of a search, its
//! books balance afterwards.

use proptest::prelude::*;

use crate::game::Game;
use crate::node::{Arena, Child, Kind, NodeId};
use crate::settings::{
    ChanceLeaf, ChanceRule, Dirichlet, Gumbel, Puct, Rule, Settings, Sigma, UtilityPuct,
    WithoutValue,
};
use crate::task::{EarlyStop, Restrict, Task};
use crate::tree::Tree;
use crate::{Evaluate, EvaluateError, Evaluation, Rollout, Search, SearchRng, Side};

#[path = "../tests/toys/mod.rs"]
mod toys;

use toys::{Endless, Hashed, Nim, PushYourLuck};

/// Looks at every node below the roots in memory.
fn audit<G: Game>(tree: &Tree<G>, own_visit: Option<u32>) {
    let roots: Vec<NodeId> = tree.anchors().iter().map(|anchor| anchor.1).collect();
    assert_eq!(tree.waiting, 0);
    for root in roots {
        audit_below(&tree.arena, root, own_visit);
    }
}

fn audit_below<M, O: crate::Outlook>(arena: &Arena<M, O>, id: NodeId, own_visit: Option<u32>) {
    let node = &arena[id];
    assert_eq!(node.in_flight, 0, "a simulation was left behind");
    assert_ne!(node.kind, Kind::Expanding, "a leaf stayed claimed");
    assert!((0.0..=1.0).contains(&node.mean()));
    if let Some(books) = &node.books {
        let average = &books.average;
        assert!((0.0..=1.0).contains(&average.value));
        assert!(average.utility.abs() <= 1.0 + 1e-9, "{average:?}");
        assert!(average.weight >= 0.0 && average.weight.is_finite());
    }
    let mut below = 0;
    let mut last_prior = f32::INFINITY;
    let mut any_invalid = false;
    for (index, edge) in node.edges.iter().enumerate() {
        if matches!(node.kind, Kind::Player(_)) {
            assert!(edge.prior <= last_prior, "edges are sorted by prior");
            last_prior = edge.prior;
        }
        match edge.child() {
            Child::Untried => {}
            Child::Invalid => any_invalid = true,
            Child::Node(child) => {
                assert!(index < node.tried as usize);
                below += arena[child].visits;
                audit_below(arena, child, own_visit);
            }
        }
    }
    // A node all of whose moves are forbidden is judged again by itself.
    if let (Some(own), Kind::Player(_), false) = (own_visit, node.kind, any_invalid) {
        let expected = if node.visits == 0 { 0 } else { below + own };
        assert_eq!(node.visits, expected, "visits add up");
    }
}

/// Vouches for a position or not by its length.
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
            if leaf.played.len() % 3 == 2 {
                evaluation.value = None;
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Avoid {
    mv: u16,
    plies: usize,
}

impl Restrict<u16> for Avoid {
    fn plies(&self) -> usize {
        self.plies
    }

    fn allows(&self, _ply: usize, _side: Side, mv: u16) -> bool {
        mv != self.mv
    }
}

fn settings() -> impl Strategy<Value = Settings> {
    let rule = prop_oneof![
        Just(Rule::Puct(Puct::default())),
        Just(Rule::Ucb1 { exploration: 2.0 }),
        Just(Rule::Improved(Sigma::default())),
        Just(Rule::Utility(UtilityPuct::default())),
    ];
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let sizes = (1usize..5, 1usize..9, 0u32..4, 60_000usize..600_000);
    (rule, switches, sizes).prop_map(|(rule, switches, sizes)| {
        let (gumbel, noise, sample, evaluate) = switches;
        let (threads, batch, virtual_loss, memory_bytes) = sizes;
        Settings {
            rule,
            gumbel: gumbel.then(Gumbel::default),
            noise: noise.then(Dirichlet::default),
            chance: if sample {
                ChanceRule::Sample
            } else {
                ChanceRule::Proportional
            },
            chance_leaf: if evaluate {
                ChanceLeaf::Evaluate
            } else {
                ChanceLeaf::PassThrough
            },
            without_value: if noise {
                WithoutValue::Deepen
            } else {
                WithoutValue::Discard
            },
            threads,
            batch,
            virtual_loss,
            memory_bytes,
            ..Settings::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_books_balance_after_any_walk(
        all_settings in proptest::collection::vec(settings(), 4),
        steps in proptest::collection::vec((0u64..400, any::<bool>(), any::<bool>(), 0usize..3), 1..8),
    ) {
        let search = Search::new(1);
        let mut state = Endless::new(12);
        for (index, (playouts, undo, doubtful, plies)) in steps.into_iter().enumerate() {
            let settings = &all_settings[index % all_settings.len()];
            let avoid = Avoid { mv: 3, plies };
            let early_stop = EarlyStop { prune: undo, stop: doubtful };
            let task = Task::playouts(playouts).restricted_by(&avoid).stopping_early(early_stop);
            let report = if doubtful {
                search.run(&state, &Doubtful, settings, &task).unwrap()
            } else {
                search.run(&state, &Hashed, settings, &task).unwrap()
            };
            prop_assert!(report.playouts <= playouts);
            audit(&search.tree(), None);
            if undo {
                state.played.pop();
            } else if let Some(best) = search.snapshot().best() {
                prop_assert!(plies == 0 || best != 3);
                state.play(best);
            }
        }
    }

    #[test]
    fn visits_add_up_in_every_node(settings in settings(), playouts in 1u64..1500) {
        let search = Search::new(2);
        search.run(&Endless::new(9), &Hashed, &settings, &Task::playouts(playouts)).unwrap();
        audit(&search.tree(), Some(1));

        let search = Search::new(2);
        let mut nim = Nim::new(&[3, 2, 2]);
        nim.forbidden = vec![vec![1, 1, 2], vec![0, 2, 0], vec![3, 0, 0]];
        search.run(&nim, &Rollout, &settings, &Task::playouts(playouts)).unwrap();
        audit(&search.tree(), Some(1));

        let search = Search::new(2);
        search.run(&PushYourLuck::at(1), &Rollout, &settings, &Task::playouts(playouts)).unwrap();
        audit(&search.tree(), Some(1));
    }
}
