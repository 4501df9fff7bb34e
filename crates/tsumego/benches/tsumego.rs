//! Nodes a second, time to solve a set, features a second, bytes a position.

use std::hint::black_box;
use std::path::PathBuf;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tsumego::{
    FeatureSet, Generated, Ko, LabelledPosition, Limits, Problem, Recipe, Side, Solver, example,
    features, generate, read_problem, tfrecord::write_record,
};

const PROBLEMS: usize = 40;

fn problems() -> Vec<Generated> {
    let recipe = Recipe {
        fewest_nodes: 200,
        ..Recipe::default()
    };
    (0..)
        .filter_map(|number| generate(&recipe, number))
        .take(PROBLEMS)
        .collect()
}

/// The problems of the folder `tsumego/problems` of the data, if it is there.
fn curated_set() -> Vec<Problem> {
    let root = std::env::var_os("TENGEN_DATA")
        .map_or_else(|| PathBuf::from("../../../shared/data"), PathBuf::from);
    let mut problems = Vec::new();
    let mut open = vec![root.join("tsumego/problems")];
    while let Some(path) = open.pop() {
        match std::fs::read_dir(&path) {
            Ok(entries) => open.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => {
                let bytes = std::fs::read(&path).unwrap_or_default();
                problems.extend(read_problem(&bytes).map(|record| record.problem));
            }
        }
    }
    problems
}

fn ask_both(problem: &Problem) -> u64 {
    let ask = |first| {
        let mut solver = Solver::new(problem, Limits::default());
        solver.solve(problem, first, Ko::ATTACKER).nodes
    };
    ask(Side::Attacker) + ask(Side::Defender)
}

fn bench(criterion: &mut Criterion) {
    let set = problems();
    let nodes: u64 = set
        .iter()
        .map(|generated| ask_both(&generated.problem))
        .sum();
    let mut group = criterion.benchmark_group("solver");
    group.sample_size(10);
    group.throughput(Throughput::Elements(nodes));
    group.bench_function("nodes, 40 generated problems, both sides", |bencher| {
        bencher.iter(|| {
            set.iter()
                .map(|generated| ask_both(&generated.problem))
                .sum::<u64>()
        })
    });
    let curated = curated_set();
    if curated.is_empty() {
        println!("skipped: no data (set TENGEN_DATA to bench the curated set)");
    } else {
        let nodes: u64 = curated.iter().map(ask_both).sum();
        group.throughput(Throughput::Elements(nodes));
        let name = format!("nodes, {} curated problems, both sides", curated.len());
        group.bench_function(name, |bencher| {
            bencher.iter(|| curated.iter().map(ask_both).sum::<u64>())
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("features");
    group.throughput(Throughput::Elements(set.len() as u64));
    for planes in [FeatureSet::Original13, FeatureSet::Tengen] {
        group.bench_function(format!("positions, {planes} planes"), |bencher| {
            bencher.iter(|| {
                for generated in &set {
                    black_box(features(&generated.problem, Side::Attacker, planes));
                }
            })
        });
    }
    group.finish();
    for planes in [
        FeatureSet::Original13,
        FeatureSet::Original14First,
        FeatureSet::Tengen,
    ] {
        let mut bytes = Vec::new();
        for generated in &set {
            let position = LabelledPosition {
                problem: generated.problem.clone(),
                first: Side::Attacker,
                is_safe: generated.is_safe,
                size: generated.problem.size(Side::Attacker),
                moves: Vec::new(),
                source: String::new(),
            };
            write_record(&mut bytes, &example(&position, planes)).expect("memory does not fail");
        }
        println!(
            "{planes} planes: {} bytes a position",
            bytes.len() / set.len()
        );
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
