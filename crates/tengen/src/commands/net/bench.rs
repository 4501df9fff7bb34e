//! `tengen net bench`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::ensure;
use net::{
    Backend, Isa, IsaError, Network,
    bench::{
        BenchOptions, Comparison, alternate, convolution_flops, instructions, measure,
        safety_network,
    },
    leela::{LeelaNetwork, LeelaShape, LeelaVersion},
    load,
};
use serde_json::json;

/// Measure evaluations a second, planes and heads included.
///
/// Every thread evaluates batches of its own, as the threads of a search do.
///
/// Example: tengen net bench --blocks 10 --filters 128 --threads 2 --batch 4
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A network file; without one, random weights of the given shape.
    file: Option<PathBuf>,
    /// Another network file: also call both in turn from one thread and compare, three times as long.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Residual blocks of random weights.
    #[arg(long, default_value_t = 5)]
    blocks: usize,
    /// Filters of random weights.
    #[arg(long, default_value_t = 64)]
    filters: usize,
    /// Board size of random weights.
    #[arg(long, default_value_t = 19)]
    size: usize,
    /// Instead, a dense network of the size that judges groups (1573 -> 256 -> residual 256 -> 1).
    #[arg(long)]
    safety: bool,
    /// Threads.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Positions of a call.
    #[arg(long, default_value_t = 4)]
    batch: usize,
    /// Seconds to measure.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// The share of input numbers that are not zero.
    #[arg(long, default_value_t = 0.15)]
    density: f64,
    /// Instruction set of the kernels: portable, avx2 or avx512, or all to compare those of this processor.
    #[arg(long, value_name = "SET")]
    instructions: Option<Instructions>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What `--instructions` names.
#[derive(Clone, Copy)]
enum Instructions {
    All,
    One(Isa),
}

impl FromStr for Instructions {
    type Err = IsaError;

    fn from_str(name: &str) -> Result<Self, IsaError> {
        Ok(match name {
            "all" => Self::All,
            name => Self::One(name.parse()?),
        })
    }
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    ensure!(
        args.threads > 0 && args.batch > 0,
        "--threads and --batch start at 1"
    );
    ensure!(
        args.seconds > 0.0 && args.seconds < 86_400.0,
        "--seconds {}: more than 0 and less than a day",
        args.seconds
    );
    ensure!(
        (0.0..=1.0).contains(&args.density),
        "--density {}: between 0 and 1",
        args.density
    );
    match args.instructions {
        Some(Instructions::One(isa)) => isa.choose()?,
        Some(Instructions::All) => return compare_instructions(&args),
        None => {}
    }
    let against = match &args.against {
        Some(file) => Some(Backend::Cpu.open(&load(file)?)?),
        None => None,
    };
    let start = Instant::now();
    let network = network(&args)?;
    let load_seconds = start.elapsed().as_secs_f64();
    let evaluator = Backend::Cpu.open(&network)?;
    let plan_seconds = start.elapsed().as_secs_f64() - load_seconds;
    let (direct, planned) = convolution_flops(&network);
    drop(network);
    let options = BenchOptions {
        threads: args.threads,
        batch: args.batch,
        duration: Duration::from_secs_f64(args.seconds),
        density: args.density,
    };
    let result = measure(&*evaluator, options)?;
    let compared = against.map(|other| {
        // As the first one has been called already: a network that is used for long gets better memory.
        measure(&*other, options)?;
        let options = BenchOptions {
            duration: 2 * options.duration,
            ..options
        };
        alternate([&*evaluator, &*other], options)
    });
    let comparison = compared.transpose()?;
    let per_second = result.per_second();
    let gflops = |flops: f64| {
        flops
            * result
                .per_cpu_second()
                .unwrap_or(per_second / args.threads as f64)
            / 1e9
    };
    if args.json {
        println!(
            "{}",
            json!({
                "threads": args.threads, "batch": args.batch, "instructions": Isa::detect().name(),
                "evaluations": result.evaluations, "seconds": result.seconds, "per_second": per_second,
                "per_cpu_second": result.per_cpu_second(),
                "load_seconds": load_seconds, "plan_seconds": plan_seconds,
                "convolution_gflops_per_core": gflops(planned), "direct_gflops_per_core": gflops(direct),
                "times_the_other": comparison.as_ref().map(Comparison::ratio),
            })
        );
    } else {
        println!("loading     {load_seconds:.2} s, packing weights {plan_seconds:.2} s");
        println!(
            "speed       {per_second:.1} evaluations a second ({} threads, batch {}, {})",
            args.threads,
            args.batch,
            Isa::detect()
        );
        if let Some(speed) = result.per_cpu_second() {
            println!("per core    {speed:.1} in a second of processor time");
        }
        println!(
            "arithmetic  {:.1} GFLOP/s a core in 3x3 convolutions, {:.1} if they were done directly",
            gflops(planned),
            gflops(direct)
        );
        if let (Some(file), Some(comparison)) = (&args.against, comparison) {
            println!(
                "against     {:.3} times the time of {} (medians of {} calls each, in turn)",
                comparison.ratio(),
                file.display(),
                comparison.calls
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Calls the network on every instruction set of this processor in turn.
fn compare_instructions(args: &Args) -> anyhow::Result<ExitCode> {
    let options = BenchOptions {
        threads: 1,
        batch: args.batch,
        duration: Duration::from_secs_f64(args.seconds),
        density: args.density,
    };
    let speeds = instructions(&network(args)?, options)?;
    if args.json {
        let sets: Vec<_> = speeds
            .iter()
            .map(|(isa, speed)| json!({ "instructions": isa.name(), "per_second": speed }))
            .collect();
        println!("{}", json!({ "batch": args.batch, "sets": sets }));
        return Ok(ExitCode::SUCCESS);
    }
    let (_, slowest) = speeds[0];
    for (isa, speed) in &speeds {
        let ratio = speed / slowest;
        println!(
            "{isa:<9} {speed:.1} evaluations a second on one thread, {ratio:.2} times the first"
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn network(args: &Args) -> anyhow::Result<Network> {
    if let Some(file) = &args.file {
        return Ok(load(file)?);
    }
    if args.safety {
        return Ok(safety_network(1));
    }
    let shape = LeelaShape::stock(args.size, args.blocks, args.filters);
    Ok(LeelaNetwork::random(LeelaVersion::V1, shape, 1).to_network())
}
