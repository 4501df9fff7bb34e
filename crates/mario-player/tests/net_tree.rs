//! The network player with a network that only counts: it must be the search that plays.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mario::{Game, Rules, flood};
use mario_player::{
    Budget, CappedTree, Decision, EvaluateError, Lineup, NetJudge, NetSettings, NetTree, Player,
    View, evaluation_seed,
    network::{CLEARED, DURATION, DesignNetwork, LEAK, MOVES, WON},
    planes::AREA,
    play_game, record_game,
};
use net::{Evaluator, IoShape};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Viruses left and halves lying about make a game look long and lost; all moves look alike, legal or not.
struct Counting(IoShape);

impl Counting {
    fn new() -> Self {
        let tensors = DesignNetwork::parameter_order(1, 1)
            .into_iter()
            .map(|(name, len)| (name, vec![0.1; len]))
            .collect();
        let network = DesignNetwork {
            filters: 1,
            residual_blocks: 1,
            leakage: LEAK,
            tensors,
        };
        Self(network.to_network().unwrap().io_shape())
    }
}

impl Evaluator for Counting {
    fn shape(&self) -> &IoShape {
        &self.0
    }

    fn preferred_batch(&self) -> usize {
        1
    }

    fn evaluate(&self, planes: &[f32], outputs: &mut [f32]) -> Result<(), net::EvaluateError> {
        let rows = planes.chunks_exact(self.0.input_len());
        for (planes, output) in rows.zip(outputs.chunks_exact_mut(self.0.output_len())) {
            let viruses: f32 = planes[..3 * AREA].iter().sum();
            let halves: f32 = planes[3 * AREA..12 * AREA].iter().sum();
            output.fill(1.0 / 512.0);
            output[self.0.output(WON).unwrap().start] = 1.0 - (viruses + halves / 4.0) / 40.0;
            output[self.0.output(CLEARED).unwrap().start] = 0.0;
            output[self.0.output(DURATION).unwrap().start] = 3.0 * viruses + halves;
            assert_eq!(self.0.output(MOVES).unwrap().len(), 512);
        }
        Ok(())
    }
}

/// A device that fails at every evaluation.
struct Failing(IoShape);

impl Evaluator for Failing {
    fn shape(&self) -> &IoShape {
        &self.0
    }

    fn preferred_batch(&self) -> usize {
        1
    }

    fn evaluate(&self, _: &[f32], _: &mut [f32]) -> Result<(), net::EvaluateError> {
        Err(net::EvaluateError::Backend("the card was taken out".into()))
    }
}

fn judge() -> Arc<NetJudge<Counting>> {
    Arc::new(NetJudge::new(Counting::new()).unwrap())
}

fn tree(settings: NetSettings, playouts: u64, seed: u64) -> NetTree<Counting> {
    NetTree::new(judge(), settings, Budget::Playouts(playouts), seed)
}

const GUMBEL: NetSettings = NetSettings {
    cpuct: 1.0,
    batch: 1,
    noise: None,
    considered: 16,
};

/// All decisions of a game.
fn decisions(mut player: impl Player, level: u8) -> Vec<Decision> {
    let rules = Rules {
        most_pills: Some(30),
        ..Rules::default()
    };
    let mut game = Game::console(evaluation_seed(7), level, rules);
    let mut all = Vec::new();
    while game.ending().is_none() {
        let decision = player.decide(&View::of(&game)).unwrap().unwrap();
        let legal: Vec<_> = flood(game.board()).placements(game.pill()).collect();
        assert!(legal.contains(&decision.placement));
        for (placement, weight) in &decision.weights {
            assert!(legal.contains(placement) && *weight >= 0.0, "{placement}");
        }
        game.play(decision.placement).unwrap();
        all.push(decision);
    }
    all
}

#[test]
fn only_legal_placements_are_played_and_weighed() {
    for decision in decisions(tree(NetSettings::default(), 60, 1), 5) {
        let visits: f64 = decision.weights.iter().map(|entry| entry.1).sum();
        assert!(decision.positions <= 60 && visits > 0.0);
    }
    for decision in decisions(tree(GUMBEL, 32, 1), 12) {
        let total: f64 = decision.weights.iter().map(|entry| entry.1).sum();
        assert!((total - 1.0).abs() < 1e-6, "{total}");
    }
}

#[test]
fn the_most_visited_placement_is_played() {
    for decision in decisions(tree(NetSettings::default(), 300, 1), 5) {
        let visits = |wanted| {
            let found = decision.weights.iter().find(|entry| entry.0 == wanted);
            found.unwrap().1
        };
        let most = decision.weights.iter().map(|entry| entry.1);
        let most = most.fold(0.0, f64::max);
        assert_eq!(visits(decision.placement), most);
    }
}

#[test]
fn a_seed_fixes_all_decisions() {
    let plain = |seed| decisions(tree(NetSettings::default(), 50, seed), 3);
    assert_eq!(plain(4), plain(4));
    let noisy = |seed| {
        let noise = Some(NetSettings::SELF_PLAY_NOISE);
        let settings = NetSettings {
            noise,
            ..NetSettings::default()
        };
        decisions(tree(settings, 50, seed), 3)
    };
    assert_eq!(noisy(4), noisy(4));
    assert_ne!(noisy(4), noisy(5));
    let capped = |seed| decisions(CappedTree::new(&judge(), GUMBEL, [24, 8], 0.5, seed), 3);
    assert_eq!(capped(4), capped(4));
    assert_ne!(capped(4), capped(5));
}

#[test]
fn quick_searches_teach_nothing() {
    let all = decisions(CappedTree::new(&judge(), GUMBEL, [24, 8], 0.5, 9), 8);
    let taught = all.iter().filter(|decision| !decision.weights.is_empty());
    let share = taught.count() as f64 / all.len() as f64;
    assert!((0.2..0.8).contains(&share), "{share}");
}

#[test]
fn a_network_that_fails_is_an_error_and_not_a_lost_game() {
    let failing = || Arc::new(NetJudge::new(Failing(Counting::new().0)).unwrap());
    let budget = Budget::Playouts(20);
    let players: [Box<dyn Player>; 2] = [
        Box::new(NetTree::new(failing(), NetSettings::default(), budget, 1)),
        Box::new(CappedTree::new(&failing(), GUMBEL, [24, 8], 0.5, 1)),
    ];
    let expected = "the network could not be evaluated: the card was taken out";
    let stop = AtomicBool::new(false);
    for mut player in players {
        let game = || Game::console(evaluation_seed(7), 3, Rules::default());
        let decision = player.decide(&View::of(&game()));
        assert_eq!(decision.unwrap_err().to_string(), expected);
        let result = play_game(&mut *player, evaluation_seed(7), 3, Rules::default(), &stop);
        assert_eq!(result.unwrap_err().to_string(), expected);
        let record = record_game(game(), &mut *player, None, &stop);
        assert_eq!(record.unwrap_err().to_string(), expected);
    }
}

struct Random(Xoshiro256PlusPlus);

impl Player for Random {
    fn decide(&mut self, view: &View) -> Result<Option<Decision>, EvaluateError> {
        let legal: Vec<_> = flood(&view.board).placements(view.pill).collect();
        let chosen = legal.get(self.0.random_range(0..legal.len().max(1)));
        Ok(chosen.map(|&placement| Decision {
            placement,
            weights: Vec::new(),
            positions: 0,
        }))
    }
}

/// Deals of level 2 that a player ends better than a random one, and worse.
fn against_random(mut player: impl FnMut(u64) -> Box<dyn Player>, deals: u64) -> (u64, u64) {
    let rules = Rules {
        most_pills: Some(60),
        ..Rules::default()
    };
    let stop = AtomicBool::new(false);
    let (mut wins, mut losses) = (0, 0);
    for number in 0..deals {
        let seed = evaluation_seed(number);
        let play = |player: &mut dyn Player| {
            let level = 2;
            let played = play_game(player, seed, level, rules, &stop);
            played.unwrap().unwrap().rank()
        };
        let tested = play(&mut *player(number));
        let random = play(&mut Random(Xoshiro256PlusPlus::seed_from_u64(number)));
        wins += u64::from(tested < random);
        losses += u64::from(tested > random);
    }
    (wins, losses)
}

/// Eight of eight by luck alone happens once in 256 tries.
#[test]
fn it_beats_a_random_player_on_the_same_deals() {
    let player = |seed| Box::new(tree(NetSettings::default(), 100, seed)) as Box<dyn Player>;
    assert_eq!(against_random(player, 8), (8, 0));
}

#[test]
fn so_does_the_network_that_comes_with_the_program() {
    let lineup = Lineup::network(None, NetSettings::default(), Budget::Playouts(48)).unwrap();
    assert_eq!(against_random(|seed| lineup.player(seed), 8), (8, 0));
}
