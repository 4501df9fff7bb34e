//! Answers generated GTP lines, a million unless told otherwise, and stops at the first answer that
//! the protocol does not allow: `cargo run --release -p gtp --example fuzz -- 1000000 [SEED]`.

#[path = "../tests/support/fuzz.rs"]
mod fuzz;
#[path = "../tests/support/mod.rs"]
mod support;

use std::{env, process::ExitCode, time::Instant};

use gtp::{Input, Personality};
use rand::SeedableRng;

/// Lines one engine answers before a fresh one takes over.
const LINES_PER_ENGINE: u64 = 5000;
/// Lines between two words about progress.
const LINES_PER_REMARK: u64 = 100_000;

fn main() -> ExitCode {
    let mut numbers = env::args().skip(1).map(|word| word.parse::<u64>());
    let lines = numbers.next().and_then(Result::ok).unwrap_or(1_000_000);
    let seed = numbers.next().and_then(Result::ok).unwrap_or(1);
    let folder = tempfile::tempdir().expect("a folder for files that commands write");
    env::set_current_dir(&folder).expect("the folder was just made");
    let mut rng = rand::rngs::SmallRng::seed_from_u64(seed);
    let start = Instant::now();
    let mut slowest = (0.0, String::new());
    let (mut done, mut accepted) = (0, 0u64);
    while done < lines {
        let mut options = support::quick_options();
        options.visits = Some(3);
        options.ponder = true;
        options.seed = done;
        let (mut engine, answers, remarks) =
            support::engine(5, options, Personality::Tengen, Input::from_text(""));
        for _ in 0..LINES_PER_ENGINE.min(lines - done) {
            let line = fuzz::line(&mut rng);
            let before = Instant::now();
            engine
                .handle(&line)
                .expect("memory can always be written to");
            let seconds = before.elapsed().as_secs_f64();
            if seconds > slowest.0 {
                slowest = (seconds, line.clone());
            }
            let answer = answers.take();
            remarks.take();
            accepted += u64::from(answer.starts_with('='));
            if let Err(why) = fuzz::check(&line, &answer) {
                eprintln!("after {done} lines (seed {seed}): {why}");
                return ExitCode::FAILURE;
            }
            done += 1;
            if done % LINES_PER_REMARK == 0 {
                println!(
                    "{done} lines, {accepted} accepted, {:.0} s",
                    start.elapsed().as_secs_f64()
                );
            }
        }
    }
    println!("slowest line: {:.3} s for {:?}", slowest.0, slowest.1);
    ExitCode::SUCCESS
}
