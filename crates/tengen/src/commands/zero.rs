//! `tengen zero`: from the first game to a player.

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use fleet::zero::{Discipline, Event, GoRun, MarioRun, Phase, Run, Status, ZeroSettings};

use crate::interrupt;

/// How often the status line changes on a terminal.
const STATUS_EVERY: Duration = Duration::from_millis(250);

/// Learn a game by self-play.
#[derive(clap::Subcommand)]
pub enum Command {
    Go(GoArgs),
    Mario(MarioArgs),
}

/// Learn Go from nothing: self-play, training, a match, promotion, again and again.
///
/// Everything is kept in one folder and the same command goes on after a stop of any kind. The
/// settings are in settings.toml there, explained; report.html shows how the run goes.
///
/// Example: tengen zero go --size 9 --dir runs/go9
/// Example: tengen zero go --from trained.txt.gz --dir runs/on
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct GoArgs {
    /// The run's folder.
    #[arg(long, value_name = "FOLDER")]
    dir: PathBuf,
    /// Board size of a new run.
    #[arg(long)]
    size: Option<usize>,
    /// Begin a new run with this network instead of a random one; it gives the size, the blocks and
    /// the filters.
    #[arg(long, value_name = "FILE", conflicts_with = "size")]
    from: Option<PathBuf>,
    /// Stop after so many trainings; without it the run goes on until it is stopped.
    #[arg(long)]
    rounds: Option<u64>,
}

/// Learn Dr. Mario: self-play, training, a comparison on equal deals, promotion, again
/// and again.
///
/// The first games are played without a network. Everything is kept in one folder and the same
/// command goes on after a stop of any kind. The settings are in settings.toml there, explained;
/// report.html shows how the run goes.
///
/// Example: tengen zero mario --dir runs/mario
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct MarioArgs {
    /// The run's folder.
    #[arg(long, value_name = "FOLDER")]
    dir: PathBuf,
    /// Stop after so many trainings; without it the run goes on until it is stopped.
    #[arg(long)]
    rounds: Option<u64>,
}

/// Runs the subcommand.
pub fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Go(args) => run_go(&args),
        Command::Mario(args) => {
            let run = MarioRun::open(&args.dir, str::to_owned)?;
            run_on(run, args.rounds)
        }
    }
}

fn run_go(args: &GoArgs) -> anyhow::Result<ExitCode> {
    let run = match &args.from {
        Some(file) => GoRun::begin_from(&args.dir, file)?,
        None => GoRun::open(&args.dir, |template| match args.size {
            Some(size) => ZeroSettings {
                size,
                ..ZeroSettings::default()
            }
            .template(),
            None => template.to_owned(),
        })?,
    };
    if let Some(size) = args.size.filter(|&size| size != run.settings().size) {
        anyhow::bail!(
            "the run in {} is on {1}x{1}; leave --size {size} out, or choose another folder",
            args.dir.display(),
            run.settings().size
        );
    }
    run_on(run, args.rounds)
}

fn run_on<D: Discipline>(mut run: Run<D>, rounds: Option<u64>) -> anyhow::Result<ExitCode> {
    let stop = interrupt::stop_flag()?;
    let line = StatusLine::new();
    let is_done = |run: &Run<D>| {
        rounds.is_some_and(|rounds| run.state().rounds >= rounds && run.state().candidate.is_none())
    };
    while !is_done(&run) && !stop.load(Ordering::Relaxed) {
        let event = run.step(stop, &|status| line.show(&status))?;
        line.clear();
        match event {
            Event::Played => println!("{} games played", run.games()),
            Event::Trained(line) => println!(
                "round {}: learned from {} positions, policy loss {}, value error {}",
                line.round,
                line.positions,
                number(line.policy_loss),
                number(line.value_error)
            ),
            Event::Decided(line) => println!(
                "round {}: {} won {}: {}",
                line.round,
                &line.network[..line.network.len().min(8)],
                line.score,
                if line.promoted {
                    "promoted"
                } else {
                    "not promoted"
                }
            ),
            Event::Stopped => {}
        }
    }
    let best = run.best_network().map_or_else(
        || "there is no network yet".to_owned(),
        |file| format!("the best network is {}", file.display()),
    );
    println!(
        "{} rounds, {} games, Elo {:+.0}; {best}",
        run.state().rounds,
        run.games(),
        run.state().elo,
    );
    if stop.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(interrupt::EXIT_INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "unknown".into(), |value| format!("{value:.4}"))
}

/// One line on a terminal that is written over.
struct StatusLine {
    is_terminal: bool,
    written: Mutex<Option<Instant>>,
    is_shown: AtomicBool,
}

impl StatusLine {
    fn new() -> StatusLine {
        StatusLine {
            is_terminal: std::io::stderr().is_terminal(),
            written: Mutex::new(None),
            is_shown: AtomicBool::new(false),
        }
    }

    fn show(&self, status: &Status) {
        let mut written = self
            .written
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        if !self.is_terminal || written.is_some_and(|at| at.elapsed() < STATUS_EVERY) {
            return;
        }
        *written = Some(Instant::now());
        self.is_shown.store(true, Ordering::Relaxed);
        // A status line that cannot be shown is no reason to stop.
        let _ = write!(std::io::stderr(), "\r\x1b[K{}", describe(status));
    }

    fn clear(&self) {
        if self.is_shown.swap(false, Ordering::Relaxed) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn describe(status: &Status) -> String {
    let doing = match status.phase {
        Phase::SelfPlay => format!("self-play {}/{}", status.games, status.games_wanted),
        Phase::Training => match status.steps {
            Some((step, steps)) => format!("training {step}/{steps}"),
            None => "training".into(),
        },
        Phase::Match => "match".into(),
    };
    let score = status.last_match.map_or_else(
        || "no match yet".into(),
        |score| format!("match {}-{}", score.wins, score.losses),
    );
    format!(
        "round {}, {doing}; {} positions, {:.0} games/h, network {}, {score}, Elo {:+.0}",
        status.round + 1,
        status.positions,
        status.games_per_hour,
        status.best,
        status.elo
    )
}
