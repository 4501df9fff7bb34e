//! `tengen mario`: Dr. Mario, one file a nested command.

mod draw;
mod eval;
mod examples;
mod play;
mod selfplay;
mod serve;
mod solve;
mod stage;
mod watch;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use mario::{FIRST_SEED, Game, LAST_LEVEL, POWER_ON_SEED, Rules, Speed};
use mario_player::{Budget, Clock, HALF_SECOND_OF_SEARCH, Kind, Lineup, NetSettings, Weights};

/// Dr. Mario: play, watch, measure, record, solve and draw
#[derive(Subcommand)]
pub enum Command {
    Play(play::PlayArgs),
    Watch(watch::WatchArgs),
    Eval(eval::EvalArgs),
    Selfplay(selfplay::SelfplayArgs),
    Examples(examples::ExamplesArgs),
    Serve(serve::ServeArgs),
    Solve(solve::SolveArgs),
    Draw(draw::DrawArgs),
}

pub fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Play(args) => play::run(args),
        Command::Watch(args) => watch::run(args),
        Command::Eval(args) => eval::run(args),
        Command::Selfplay(args) => selfplay::run(args),
        Command::Examples(args) => examples::run(args),
        Command::Serve(args) => serve::run(args),
        Command::Solve(args) => solve::run(args),
        Command::Draw(args) => draw::run(args),
    }
}

/// Which game is dealt.
#[derive(Args)]
struct DealArgs {
    /// Level, 0 to 24 (20 and above have the same number of viruses)
    #[arg(long, default_value_t = 10, value_parser = level)]
    level: u8,

    /// Seed of the console's generator, 2 to 65535, also as 0x8988
    #[arg(long, default_value = "0x8988", value_parser = seed)]
    seed: u16,
}

impl DealArgs {
    fn game(&self, rules: Rules) -> Game {
        Game::console(self.seed, self.level, rules)
    }
}

/// Who plays, and for how long it may think.
#[derive(Args)]
struct PlayerArgs {
    /// round0 (random games), one-ply, heuristic (this pill and the next), search, or network
    #[arg(long, default_value = "search", value_name = "NAME")]
    player: Kind,

    /// Playouts for a move; the default takes about half a second on one core
    #[arg(long, conflicts_with = "seconds")]
    playouts: Option<u64>,

    /// Most seconds for a move, instead of playouts; a settled choice is played sooner
    #[arg(long, alias = "time", value_parser = seconds)]
    seconds: Option<Duration>,

    /// Network file for the network player, our JSON form or the compact format; without it, the
    /// network that comes with the program
    #[arg(long, short = 'w', value_name = "FILE")]
    network: Option<PathBuf>,

    /// Heuristic weights as JSON, instead of the tuned ones
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
}

/// Playouts for a move of the network player unless told otherwise.
const NETWORK_PLAYOUTS: u64 = 200;

/// Random games for a move of round 0 unless told otherwise, as the original without a network.
const ROUND_ZERO_PLAYOUTS: u64 = 10_000;

impl PlayerArgs {
    /// The players; `clock` is what their seconds are counted by.
    fn lineup(&self, net: NetSettings, clock: Clock) -> anyhow::Result<Lineup> {
        let plies = matches!(self.player, Kind::OnePly | Kind::Heuristic);
        let name = self.player.name();
        if plies && (self.playouts.is_some() || self.seconds.is_some()) {
            let option = match self.playouts {
                Some(_) => "--playouts",
                None => "--seconds",
            };
            bail!(
                "{option} is for players that search; --player {name} looks only as far as the pills that are shown"
            );
        }
        if self.weights.is_some() && matches!(self.player, Kind::RoundZero | Kind::Network) {
            bail!("--weights are the heuristic's; --player {name} does not use it");
        }
        let default = match self.player {
            Kind::Network => NETWORK_PLAYOUTS,
            Kind::RoundZero => ROUND_ZERO_PLAYOUTS,
            _ => HALF_SECOND_OF_SEARCH,
        };
        let budget = match self.seconds {
            Some(limit) => Budget::Time(limit, clock),
            None => Budget::Playouts(self.playouts.unwrap_or(default).max(1)),
        };
        match (self.player, &self.network) {
            (Kind::Network, path) => Ok(Lineup::network(path.as_deref(), net, budget)?),
            (_, Some(_)) => bail!("--network is for --player network only"),
            (kind, None) => Ok(Lineup::new(kind, self.weights()?, budget)?),
        }
    }

    fn weights(&self) -> anyhow::Result<Weights> {
        match &self.weights {
            None => Ok(Weights::default()),
            Some(path) => {
                let text = read(path)?;
                Weights::from_json(&text).with_context(|| path.display().to_string())
            }
        }
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn seed(text: &str) -> Result<u16, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed
        .ok()
        .filter(|&seed| seed >= FIRST_SEED)
        .ok_or_else(|| {
            format!("expected a seed of 2 to 65535, such as {POWER_ON_SEED} or {POWER_ON_SEED:#x}")
        })
}

fn level(text: &str) -> Result<u8, String> {
    let parsed = text.parse().ok().filter(|&level| level <= LAST_LEVEL);
    parsed.ok_or_else(|| format!("expected a level of 0 to {LAST_LEVEL}"))
}

fn speed(text: &str) -> Result<Speed, String> {
    text.parse()
}

fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text
        .parse()
        .ok()
        .filter(|&seconds: &f64| seconds > 0.0 && seconds < 3600.0);
    parsed
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "expected seconds above 0".to_owned())
}

/// Levels as a list of numbers and ranges: `0,5,10..12`; both ends of a range are included.
#[derive(Clone)]
struct Levels(Vec<u8>);

fn levels(text: &str) -> Result<Levels, String> {
    let mut levels = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            None => levels.push(level(part)?),
            Some((first, last)) => {
                let (first, last) = (level(first)?, level(last.trim_start_matches('='))?);
                if first > last {
                    return Err(format!("{part:?} is empty: write the lower level first"));
                }
                levels.extend(first..=last);
            }
        }
    }
    Ok(Levels(levels))
}
