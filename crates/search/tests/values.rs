//! Every rule finds the known values of small games.

mod toys;

use search::{
    ChanceLeaf, ChanceRule, Game, Gumbel, Rollout, Rule, Search, Settings, Sigma, Task, Turn,
    Uniform, UtilityPuct,
};
use toys::{Nim, PushYourLuck, TicTacToe, exact, legal};

fn puct() -> Settings {
    Settings::default()
}

fn ucb1() -> Settings {
    Settings {
        rule: Rule::Ucb1 { exploration: 2.0 },
        ..Settings::default()
    }
}

/// Values of single rollouts are all or nothing; the paper's scale is for
/// the finer ones of a network and would bury a move after one bad rollout.
const ROLLOUT_SIGMA: Sigma = Sigma {
    c_visit: 50.0,
    c_scale: 0.1,
};

fn improved() -> Settings {
    Settings {
        rule: Rule::Improved(ROLLOUT_SIGMA),
        gumbel: Some(Gumbel {
            considered: 16,
            sigma: ROLLOUT_SIGMA,
        }),
        ..Settings::default()
    }
}

fn utility() -> Settings {
    Settings {
        rule: Rule::Utility(UtilityPuct::default()),
        ..Settings::default()
    }
}

/// Does the search choose a move that loses nothing?
fn finds_best<G: Game>(state: &G, settings: &Settings, visits: u64) -> bool {
    let search = Search::new(1);
    search
        .run(state, &Rollout, settings, &Task::visits(visits))
        .unwrap();
    let best = search.snapshot().best().expect("a move");
    let Turn::Player(side) = state.turn() else {
        panic!("a player must be to move");
    };
    let mut after = state.clone();
    after.play(best);
    (side.view(exact(&after)) - side.view(exact(state))).abs() < 1e-6
}

#[test]
fn every_rule_plays_nim_perfectly() {
    for settings in [puct(), ucb1(), improved(), utility()] {
        for heaps in [&[1, 2][..], &[3, 1], &[2, 3], &[1, 2, 2], &[3, 2, 2]] {
            assert!(
                finds_best(&Nim::new(heaps), &settings, 3000),
                "{heaps:?} with {:?}",
                settings.rule
            );
        }
    }
}

#[test]
fn every_rule_sees_threats_at_tic_tac_toe() {
    // A win in one, a forced block, the only reply to a corner.
    for settings in [puct(), ucb1(), improved(), utility()] {
        for played in [&[0, 3, 1, 4][..], &[0, 4, 1], &[0], &[4, 0, 8]] {
            assert!(
                finds_best(&TicTacToe::after(played), &settings, 4000),
                "{played:?} with {:?}",
                settings.rule
            );
        }
    }
}

#[test]
fn tic_tac_toe_converges_to_a_draw() {
    let search = Search::new(5);
    let start = TicTacToe::after(&[]);
    search
        .run(&start, &Uniform, &puct(), &Task::visits(40_000))
        .unwrap();
    let value = search.snapshot().value;
    assert!((value - 0.5).abs() < 0.03, "{value}");
}

#[test]
fn chance_nodes_converge_to_exact_expectimax() {
    for chance in [ChanceRule::Sample, ChanceRule::Proportional] {
        for chance_leaf in [ChanceLeaf::Evaluate, ChanceLeaf::PassThrough] {
            for base in [puct(), ucb1(), improved(), utility()] {
                let settings = Settings {
                    chance,
                    chance_leaf,
                    ..base
                };
                for sum in [3, 6, 8, 10] {
                    let state = PushYourLuck::at(sum);
                    let search = Search::new(9);
                    search
                        .run(&state, &Rollout, &settings, &Task::visits(20_000))
                        .unwrap();
                    let snapshot = search.snapshot();
                    for mv in legal(&state) {
                        let mut after = state.clone();
                        after.play(mv);
                        let Some(found) = snapshot.get(mv).and_then(|entry| entry.winrate) else {
                            continue;
                        };
                        let best = snapshot.best() == Some(mv);
                        let error = (found - exact(&after)).abs();
                        // UCB1 never stops exploring and the improved policy
                        // is soft, which their means show.
                        let tolerance = match settings.rule {
                            Rule::Puct(_) => 0.03,
                            Rule::Ucb1 { .. } => 0.06,
                            Rule::Improved(_) => 0.10,
                            Rule::Utility(_) => 0.06,
                        };
                        assert!(
                            !best || error < tolerance,
                            "{sum} {mv} {error} {settings:?}"
                        );
                    }
                    let mut after = state.clone();
                    after.play(snapshot.best().expect("a move"));
                    assert!(exact(&after) > exact(&state) - 0.02, "{sum} {settings:?}");
                }
            }
        }
    }
}

#[test]
fn equal_odds_are_visited_round_robin() {
    // The root is a chance node with odds 3:1:1:1.
    let mut state = PushYourLuck::at(2);
    state.play(PushYourLuck::ROLL);
    let search = Search::new(3);
    search
        .run(&state, &Rollout, &puct(), &Task::playouts(600))
        .unwrap();
    let snapshot = search.snapshot();
    let visits = |outcome| snapshot.get(outcome).expect("an outcome").visits;
    assert!(visits(1).abs_diff(300) <= 1, "{snapshot:?}");
    for outcome in [2, 4, 6] {
        assert!(visits(outcome).abs_diff(100) <= 1);
    }
}

#[test]
fn gumbel_visits_follow_sequential_halving() {
    let settings = Settings {
        gumbel: Some(Gumbel {
            considered: 4,
            sigma: ROLLOUT_SIGMA,
        }),
        ..improved()
    };
    let search = Search::new(8);
    let start = TicTacToe::after(&[]);
    search
        .run(&start, &Rollout, &settings, &Task::playouts(32))
        .unwrap();
    let snapshot = search.snapshot();
    let mut visits: Vec<u32> = snapshot.moves.iter().map(|entry| entry.visits).collect();
    visits.sort_unstable();
    // Two rounds: 4 moves with 4 visits, then 2 moves with 8 more.
    assert_eq!(visits, [0, 0, 0, 0, 0, 4, 4, 12, 12]);
    let choice = snapshot.gumbel_choice.expect("a choice");
    assert_eq!(snapshot.get(choice).expect("listed").visits, 12);
}

#[test]
fn gumbel_improves_on_its_prior_with_few_simulations() {
    // Crosses can win at once by one of five moves; 8 simulations must raise
    // that move well above its prior on average.
    let state = TicTacToe::after(&[0, 3, 1, 4]);
    let settings = Settings {
        gumbel: Some(Gumbel::default()),
        ..improved()
    };
    let mut total = 0.0;
    for seed in 0..20 {
        let search = Search::new(seed);
        search
            .run(&state, &Rollout, &settings, &Task::playouts(8))
            .unwrap();
        let policy = search.improved_policy(&Sigma::default());
        assert!((policy.iter().map(|entry| entry.1).sum::<f64>() - 1.0).abs() < 1e-9);
        let win = policy.iter().find(|entry| entry.0 == 2);
        total += win.expect("a legal move").1;
    }
    assert!(total / 20.0 > 0.4, "{}", total / 20.0);
}
