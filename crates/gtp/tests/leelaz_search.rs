//! Visit for visit the search of Leela Zero 0.17.
//!
//! Leela Zero looks at each position through a random symmetry, so two searches never agree exactly.
//! A network that is the same through all eight symmetries takes that chance away: then, with one
//! thread, both programs must give every move the same visits. One more thing has to be put back for
//! that: Leela Zero remembers a network's opinion by the board alone, and takes it for the same board
//! with another history. Skipped where leelaz is missing.

mod support;

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    sync::{Arc, Mutex},
};

use go::{BoardSize, Color, Game, Komi, Move, Point, Symmetry};
use go_player::{
    Assumptions, Judge, LoadedNetwork, Opinion, Outlook, Position, candidates,
    dynamic_komi::{Trust, TurnKomi},
};
use net::leela::{ConvRows, LeelaNetwork, TextStyle};
use rand::{RngExt, SeedableRng};
use search::{
    Evaluate, EvaluateError, Evaluation, Evaluations, Fpu, FpuBase, Puct, Rule, Search, SearchRng,
    Settings, Task,
};
use support::{Program, leelaz, start_leelaz};

const SIZE: BoardSize = BoardSize::NINETEEN;
const KERNEL: usize = 3;
const POLICY_SCALE: f32 = 60.0;
const VALUE_SCALE: f32 = 3.0;

/// The mean of a network over all symmetries of the board.
fn symmetrized(mut network: LeelaNetwork) -> LeelaNetwork {
    symmetrize_kernels(&mut network.input);
    for conv in network.blocks.iter_mut().flatten() {
        symmetrize_kernels(conv);
    }
    let area = SIZE.area();
    let planes = network.policy_conv.bias.len();
    let row = planes * area;
    let policy = &mut network.policy_dense;
    let turn = |symmetry: Symmetry, index: usize| match index {
        pass if pass == area => pass,
        cell => symmetry.index(SIZE, cell),
    };
    policy.weights = mean(policy.weights.len(), |symmetry, index| {
        let (output, input) = (index / row, index % row);
        let (plane, cell) = (input / area, input % area);
        let from = turn(symmetry, output) * row + plane * area + symmetry.index(SIZE, cell);
        policy.weights[from]
    });
    policy.bias = mean(policy.bias.len(), |symmetry, index| {
        policy.bias[turn(symmetry, index)]
    });
    let hidden = &mut network.value_hidden;
    hidden.weights = mean(hidden.weights.len(), |symmetry, index| {
        let (output, cell) = (index / area, index % area);
        hidden.weights[output * area + symmetry.index(SIZE, cell)]
    });
    network
}

fn symmetrize_kernels(conv: &mut ConvRows) {
    let kernel = BoardSize::new(KERNEL).unwrap();
    conv.weights = mean(conv.weights.len(), |symmetry, index| {
        let (first, tap) = (index / kernel.area() * kernel.area(), index % kernel.area());
        conv.weights[first + symmetry.index(kernel, tap)]
    });
}

fn mean(len: usize, at: impl Fn(Symmetry, usize) -> f32) -> Vec<f32> {
    let share = 1.0 / Symmetry::COUNT as f32;
    (0..len)
        .map(|index| {
            Symmetry::ALL
                .iter()
                .map(|&symmetry| at(symmetry, index))
                .sum::<f32>()
                * share
        })
        .collect()
}

/// Averaging makes opinions flat; this makes them worth searching again.
fn sharpened(mut network: LeelaNetwork) -> LeelaNetwork {
    for weight in &mut network.policy_dense.weights {
        *weight *= POLICY_SCALE;
    }
    for weight in &mut network.value_hidden.weights {
        *weight *= VALUE_SCALE;
    }
    network
}

fn random_position(seed: u64, moves: usize) -> Game {
    let mut rng = rand::rngs::SmallRng::seed_from_u64(seed);
    let mut game = Game::new(SIZE, Komi::default());
    while game.move_number() < moves {
        let points: Vec<Point> = game.legal_points(game.to_move()).collect();
        let point = points[rng.random_range(0..points.len())];
        game.play(Move::Play(point)).unwrap();
    }
    game
}

fn their_visits(other: &mut Program, game: &Game) -> (BTreeMap<String, u32>, String) {
    other.ask("clear_board");
    for (color, mv) in game.moves() {
        other.ask(&format!("play {color} {mv}"));
    }
    let answer = other.ask(&format!("lz-genmove_analyze {} 100000", game.to_move()));
    let mut visits = BTreeMap::new();
    let infos = answer
        .lines()
        .rfind(|line| line.starts_with("info"))
        .unwrap();
    for info in infos.split("info move ").skip(1) {
        let words: Vec<&str> = info.split_whitespace().collect();
        visits.insert(words[0].to_owned(), words[2].parse().unwrap());
    }
    let played = answer.lines().find_map(|line| line.strip_prefix("play "));
    (visits, played.unwrap().to_owned())
}

/// Opinions remembered by the board, the turn, the ko and the passes: Leela Zero's mistake.
struct ForgetsHistory {
    judge: Judge,
    opinions: Mutex<HashMap<BoardKey, Arc<Opinion>>>,
}

type BoardKey = (u64, Color, Option<Point>, usize);

impl Evaluate<Position> for ForgetsHistory {
    fn evaluate(
        &self,
        leaves: &[Position],
        _rng: &mut SearchRng,
        evaluations: &mut Evaluations<Position>,
    ) -> Result<(), EvaluateError> {
        for leaf in leaves {
            let board = leaf.board();
            let key = (
                board.hash(),
                leaf.to_move(),
                board.ko_point(),
                leaf.passes(),
            );
            let mut opinions = self.opinions.lock().unwrap();
            let opinion = opinions
                .entry(key)
                .or_insert_with(|| self.judge.opinion(leaf, Symmetry::IDENTITY).unwrap())
                .clone();
            let winrate = f64::from(opinion.winrate);
            evaluations.push(Evaluation {
                value: Some(match leaf.to_move() {
                    Color::Black => winrate,
                    Color::White => 1.0 - winrate,
                }),
                priors: candidates(leaf, &opinion),
                outlook: Outlook::default(),
            });
        }
        Ok(())
    }
}

fn our_visits(judge: &ForgetsHistory, game: &Game, visits: u64) -> (BTreeMap<String, u32>, String) {
    let assumptions = Assumptions {
        net_komi: TurnKomi::TRAINED,
        trust: Trust::BOTH,
        compensation: 7.5,
        always_considers_pass: false,
        ..Assumptions::default()
    };
    let position = Position::new(game, assumptions);
    let fpu = Fpu {
        base: FpuBase::ParentEvaluation,
        ..Fpu::default()
    };
    let settings = Settings {
        rule: Rule::Puct(Puct {
            fpu,
            ..Puct::default()
        }),
        ..Settings::default()
    };
    let search = Search::new(1);
    search
        .run(&position, judge, &settings, &Task::visits(visits))
        .unwrap();
    let snapshot = search.snapshot();
    let visited = snapshot.moves.iter().filter(|entry| entry.visits > 0);
    let visits = visited
        .map(|entry| (entry.mv.to_string(), entry.visits))
        .collect();
    (visits, snapshot.best().unwrap().to_string())
}

#[test]
fn every_move_gets_leela_zeros_visits() {
    let Some(program) = leelaz() else { return };
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("symmetric.txt");
    let network = sharpened(symmetrized(support::random_network(19)));
    let style = TextStyle {
        carriage_returns: false,
        final_newline: true,
    };
    fs::write(&weights, network.to_exact_text(style)).unwrap();
    let visits = 300;
    let limits = [
        "-v",
        &visits.to_string(),
        "-r",
        "0",
        "--timemanage",
        "off",
        "-q",
        "-s",
        "1",
    ];
    let mut other = start_leelaz(&program, &weights, &limits);
    other.ask("time_settings 0 1 0");
    let network = LoadedNetwork::load(&weights).unwrap();
    let judge = ForgetsHistory {
        judge: Judge::new(network.evaluator, 0).unwrap(),
        opinions: Mutex::default(),
    };
    for (seed, moves) in [(1, 7), (2, 30), (3, 81), (4, 140), (5, 201), (6, 260)] {
        let game = random_position(seed, moves);
        let theirs = their_visits(&mut other, &game);
        let ours = our_visits(&judge, &game, visits);
        assert_eq!(
            ours,
            theirs,
            "after {moves} moves, {:?} to move",
            game.to_move()
        );
        let deep = theirs.0.values().filter(|&&count| count > 2).count();
        println!(
            "after {moves} moves: {} moves visited, {deep} of them more than twice",
            theirs.0.len()
        );
    }
}
