//! Nodes a second, time to solve a set, features a second, bytes a position.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tsumego::{
    FeatureSet, Generated, Ko, LabelledPosition, Limits, Recipe, Side, Solver, example, features,
    generate, tfrecord::write_record,
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

fn solve(problem: &Generated) -> u64 {
    let problem = &problem.problem;
    let ask = |first| {
        let mut solver = Solver::new(problem, Limits::default());
        solver.solve(problem, first, Ko::ATTACKER).nodes
    };
    ask(Side::Attacker) + ask(Side::Defender)
}

fn bench(criterion: &mut Criterion) {
    let set = problems();
    let nodes: u64 = set.iter().map(solve).sum();
    let mut group = criterion.benchmark_group("solver");
    group.sample_size(10);
    group.throughput(Throughput::Elements(nodes));
    group.bench_function("nodes, 40 generated problems, both sides", |bencher| {
        bencher.iter(|| set.iter().map(solve).sum::<u64>())
    });
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
