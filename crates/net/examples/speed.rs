//! Evaluations a second of a stock shape, a file or the safety network, for several batch sizes:
//! `cargo run --release -p net --example speed -- 5x64 1 1,4,16`; then seconds and `bf16` if wanted.

use std::path::Path;
use std::time::{Duration, Instant};

use net::{
    Arithmetic, Plan, PlanOptions,
    bench::{BenchOptions, measure, safety_network},
    leela::{LeelaNetwork, LeelaShape, LeelaVersion},
};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let threads = arguments[2].parse().unwrap();
    let seconds: f64 = arguments
        .get(4)
        .map_or(2.0, |seconds| seconds.parse().unwrap());
    let start = Instant::now();
    let network = match arguments[1].split_once('x') {
        _ if Path::new(&arguments[1]).is_file() => net::load(arguments[1].as_ref()).unwrap(),
        Some((blocks, filters)) => {
            let shape = LeelaShape::stock(19, blocks.parse().unwrap(), filters.parse().unwrap());
            LeelaNetwork::random(LeelaVersion::V1, shape, 1).to_network()
        }
        None => safety_network(1),
    };
    println!(
        "{}: ready in {:.2} s",
        arguments[1],
        start.elapsed().as_secs_f64()
    );
    for batch in arguments[3].split(',') {
        let batch = batch.parse().unwrap();
        let options = PlanOptions {
            positions_at_once: Some(batch),
            precision: match arguments.get(5).map(String::as_str) {
                Some("bf16") => Arithmetic::Bf16,
                _ => Arithmetic::Full,
            },
            ..PlanOptions::default()
        };
        let plan = Plan::with_options(&network, options).unwrap();
        let (direct, planned) = plan.convolution_flops();
        let duration = Duration::from_secs_f64(seconds);
        let options = BenchOptions {
            threads,
            batch,
            duration,
            ..BenchOptions::default()
        };
        let result = measure(&plan, options).unwrap();
        let speed = result.per_cpu_second().unwrap_or(result.per_second());
        println!(
            "{} threads {threads} batch {batch}: {speed:.1} per core and second ({:.1} in all), {:.1} GFLOP/s, direct {:.1}",
            arguments[1],
            result.per_second(),
            speed * planned / 1e9,
            speed * direct / 1e9,
        );
    }
}
