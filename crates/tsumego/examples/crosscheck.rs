//! Compares the fast solver with brute force: `cargo run --release -p tsumego --features check --example crosscheck [SITUATIONS] [SEED]`.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use tsumego::Ko;
use tsumego::check::{compare, random_problem};

const MOST_SITUATIONS_A_PROBLEM: usize = 20_000;
const TABLE_BYTES: usize = 4 << 20;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|a| a.parse().ok());
    let wanted = arguments.next().unwrap_or(100_000);
    let seed = arguments.next().unwrap_or(1);
    for (ko, lazy) in Ko::NAMED.iter().flat_map(|&ko| [(ko, false), (ko, true)]) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed as u64);
        let (mut problems, mut situations, mut safe, mut wrong) = (0, 0, 0, 0);
        while situations < wanted {
            let problem = random_problem(&mut rng);
            if let Some(found) = compare(&problem, ko, MOST_SITUATIONS_A_PROBLEM, TABLE_BYTES, lazy)
            {
                problems += 1;
                situations += found.situations;
                safe += found.safe;
                wrong += found.disagreements.len();
                if let Some(first) = found.disagreements.first() {
                    println!("{first:?}");
                }
            }
        }
        println!(
            "ko master {ko}{}: {problems} problems, {situations} situations, {safe} safe, {wrong} judged differently",
            if lazy { ", near moves first" } else { "" }
        );
        if wrong > 0 {
            std::process::exit(1);
        }
    }
}
