//! What encoding costs on 19x19: for a Leela Zero network, and for a KataGo network along a line of play, where ladders
//! of earlier boards are known, and at a position met for the first time. With `TENGEN_KATAGO_NETS` set, also one
//! evaluation of its 15-block network, and the share of it that encoding takes.

use std::{
    env,
    hint::black_box,
    path::{Path, PathBuf},
    time::Instant,
};

use go::{BoardSize, Game, Komi, Rules, Symmetry};
use go_player::{Assumptions, LoadedNetwork, Position};
use net::{
    katago::{KataNetwork, RandomKind},
    leela::{LeelaNetwork, LeelaShape, LeelaVersion},
};
use rand::{RngExt, SeedableRng};
use search::{Game as _, SearchRng};

const MOVES: usize = 240;
const ROUNDS: usize = 5;
const SMALL_NETWORK: &str = "g170e-b15c192-s1672170752-d466197061.bin.gz";

fn main() {
    let positions = random_game();
    let leela = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(19, 1, 4), 1);
    let leela = LoadedNetwork::from_leela(&leela, Path::new("random")).expect("it fits");
    let kata = || {
        let random = KataNetwork::random(RandomKind::Plain, 1, 8, 1);
        LoadedNetwork::from_katago(&random, Path::new("random")).expect("it fits")
    };
    // The best of some rounds had the machine to itself.
    let mut best = [f64::MAX; 3];
    for _ in 0..ROUNDS {
        let line = kata();
        best[0] = best[0].min(microseconds(&positions, |_| leela.clone()));
        best[1] = best[1].min(microseconds(&positions, |_| line.clone()));
        let strangers: Vec<Position> = positions.iter().step_by(8).cloned().collect();
        let fresh: Vec<LoadedNetwork> = strangers.iter().map(|_| kata()).collect();
        best[2] = best[2].min(microseconds(&strangers, |index| fresh[index].clone()));
    }
    println!("Leela Zero           {:8.1} us a position", best[0]);
    println!("KataGo, line of play {:8.1} us a position", best[1]);
    println!("KataGo, new position {:8.1} us a position", best[2]);
    let Some(folder) = env::var_os("TENGEN_KATAGO_NETS").map(PathBuf::from) else {
        println!("skipped: no data (TENGEN_KATAGO_NETS names the folder of networks)");
        return;
    };
    let network = LoadedNetwork::load(&folder.join(SMALL_NETWORK)).expect("a network");
    let judge = network.judge(0);
    let start = Instant::now();
    let opinion = judge.opinion(&positions[MOVES / 2], Symmetry::IDENTITY);
    let evaluation = start.elapsed().as_secs_f64() * 1e6;
    black_box(opinion.is_ok());
    let share = 100.0 * best[1] / evaluation;
    println!("one evaluation of b15c192 {evaluation:.0} us: encoding is {share:.2} % of it");
}

/// Every position of a game of random moves.
fn random_game() -> Vec<Position> {
    let mut game = Game::new(BoardSize::NINETEEN, Komi::default());
    game.set_rules(Rules::TROMP_TAYLOR);
    let mut rng = SearchRng::seed_from_u64(1);
    let mut position = Position::new(&game, Assumptions::default());
    let mut positions = Vec::new();
    while positions.len() < MOVES {
        let mut moves = Vec::new();
        position.moves(&mut moves);
        position.play(moves[rng.random_range(0..moves.len())]);
        positions.push(position.clone());
    }
    positions
}

fn microseconds(positions: &[Position], network: impl Fn(usize) -> LoadedNetwork) -> f64 {
    let mut spent = 0.0;
    for (index, position) in positions.iter().enumerate() {
        let network = network(index);
        let mut row = vec![0.0; network.evaluator.shape().input_len()];
        let start = Instant::now();
        network
            .encoder
            .write(position, Symmetry::IDENTITY, &mut row);
        spent += start.elapsed().as_secs_f64();
        black_box(row);
    }
    spent * 1e6 / positions.len() as f64
}
