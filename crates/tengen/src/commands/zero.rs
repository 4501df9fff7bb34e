//! `tengen zero`: from the first game to a player.

use std::{
    io::{IsTerminal, Write},
    net::SocketAddr,
    path::PathBuf,
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use clap::{
    Arg, ArgAction, ArgMatches, Args, FromArgMatches, Subcommand, error::ErrorKind, value_parser,
};
use fleet::{Beginning, Event, Learner, Phase, Run, Status};

use super::backend::BackendArgs;
use crate::{
    games::{Serving, games},
    interrupt,
};

/// How often the status line changes on a terminal.
const STATUS_EVERY: Duration = Duration::from_millis(250);

/// A game and what to do with it. The subcommands are the games of [`games`].
pub struct Command {
    game: String,
    dir: Option<PathBuf>,
    rounds: Option<u64>,
    beginning: Beginning,
    prints_settings: bool,
    serving: Option<Serving>,
    backend: BackendArgs,
}

impl Subcommand for Command {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        let command = command
            .about("Learn a game by self-play")
            .subcommand_required(true)
            .arg_required_else_help(true);
        command.subcommands(games().into_iter().map(|game| {
            let about = game.help.split(':').next().unwrap_or(game.help);
            let mut command = clap::Command::new(game.name)
                .about(about)
                .long_about(game.help)
                .arg(
                    Arg::new("dir")
                        .long("dir")
                        .value_name("FOLDER")
                        .value_parser(value_parser!(PathBuf))
                        .required_unless_present("print-settings")
                        .help("The run's folder"),
                )
                .arg(
                    Arg::new("rounds")
                        .long("rounds")
                        .value_parser(value_parser!(u64))
                        .help("Stop after so many trainings; without it the run goes on until it is stopped"),
                )
                .arg(
                    Arg::new("from")
                        .long("from")
                        .value_name("FILE")
                        .value_parser(value_parser!(PathBuf))
                        .help("Begin a new run with this network instead of the game's own; it gives the board and the shape"),
                )
                .arg(
                    Arg::new("set")
                        .long("set")
                        .value_name("SETTING=VALUE")
                        .action(ArgAction::Append)
                        .help("A setting of a new run, such as selfplay.games=400; may be given more than once"),
                )
                .arg(
                    Arg::new("serve")
                        .long("serve")
                        .value_name("ADDRESS")
                        .value_parser(value_parser!(SocketAddr))
                        .help("Also take games of workers over HTTP, such as at 127.0.0.1:8470; the status page is there, too"),
                )
                .arg(
                    Arg::new("open")
                        .long("open")
                        .requires("serve")
                        .action(ArgAction::SetTrue)
                        .help("Let anybody register as a worker; without it workers from other machines need a token of `tengen fleet token`"),
                )
                .arg(
                    Arg::new("local-games")
                        .long("local-games")
                        .requires("serve")
                        .value_name("N")
                        .value_parser(value_parser!(usize))
                        .help("Games at once in this process instead of the settings' number; 0 leaves all to workers"),
                )
                .arg(
                    Arg::new("tls")
                        .long("tls")
                        .requires("serve")
                        .num_args(2)
                        .value_names(["CERTIFICATE", "KEY"])
                        .value_parser(value_parser!(PathBuf))
                        .help("Serve over TLS with this certificate and its private key, as PEM files"),
                )
                .arg(
                    Arg::new("print-settings")
                        .long("print-settings")
                        .action(ArgAction::SetTrue)
                        .help("Print the settings file of a new run, every setting explained, and end"),
                );
            command = BackendArgs::augment_args(command);
            for (setting, help) in game.options {
                command = command.arg(
                    Arg::new(setting)
                        .long(setting)
                        .conflicts_with("from")
                        .help(help),
                );
            }
            command
        }))
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        games().iter().any(|game| game.name == name)
    }
}

impl FromArgMatches for Command {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::raw(ErrorKind::MissingSubcommand, "name a game to learn\n");
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let games = games();
        let game = games
            .iter()
            .find(|game| game.name == name)
            .ok_or_else(missing)?;
        let mut values = Vec::new();
        for (setting, _) in &game.options {
            if let Some(value) = matches.get_one::<String>(setting) {
                values.push(((*setting).to_owned(), value.clone()));
            }
        }
        for pair in matches.get_many::<String>("set").into_iter().flatten() {
            let value = parse_set(pair).map_err(|message| {
                clap::Error::raw(ErrorKind::ValueValidation, format!("{message}\n"))
            })?;
            values.push(value);
        }
        Ok(Command {
            game: name.to_owned(),
            dir: matches.get_one::<PathBuf>("dir").cloned(),
            rounds: matches.get_one::<u64>("rounds").copied(),
            beginning: Beginning {
                from: matches.get_one::<PathBuf>("from").cloned(),
                values,
            },
            backend: BackendArgs::from_arg_matches(matches)?,
            prints_settings: matches.get_flag("print-settings"),
            serving: matches
                .get_one::<SocketAddr>("serve")
                .map(|address| Serving {
                    address: *address,
                    is_open: matches.get_flag("open"),
                    local_games: matches.get_one::<usize>("local-games").copied(),
                    tls: matches.get_many::<PathBuf>("tls").and_then(|files| {
                        let files: Vec<PathBuf> = files.cloned().collect();
                        super::roles::tls(Some(&files))
                    }),
                }),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A setting and its value.
pub fn parse_set(pair: &str) -> Result<(String, String), String> {
    let (setting, value) = pair.split_once('=').ok_or_else(|| {
        format!("--set {pair}: expected SETTING=VALUE, such as selfplay.games=400")
    })?;
    Ok((setting.trim().to_owned(), value.trim().to_owned()))
}

/// Runs the subcommand.
pub fn run(command: Command) -> anyhow::Result<ExitCode> {
    command.backend.choose();
    let games = games();
    let Some(game) = games.iter().find(|game| game.name == command.game) else {
        anyhow::bail!("there is no game {}", command.game);
    };
    match command.dir {
        Some(dir) if !command.prints_settings => (game.run)(
            &dir,
            &command.beginning,
            command.rounds,
            command.serving.as_ref(),
        ),
        _ => {
            super::terminal::print(&(game.settings)())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Does what is due next, again and again: for so many trainings, or until Ctrl-C.
pub fn run_to_end<L: Learner>(mut run: Run<L>, rounds: Option<u64>) -> anyhow::Result<ExitCode> {
    for warning in run.warnings() {
        eprintln!("tengen: {warning}");
    }
    let stop = interrupt::stop_flag()?;
    let line = StatusLine::new();
    let is_done = |run: &Run<L>| {
        let state = run.state();
        let is_settled = state.candidate.is_none() && state.to_rate.is_none();
        rounds.is_some_and(|rounds| state.rounds >= rounds && is_settled)
    };
    while !is_done(&run) && !stop.load(Ordering::Relaxed) {
        let event = run.step(stop, &|status| line.show(&status))?;
        line.clear();
        match event {
            Event::Played => println!("{} played", counted(run.games(), "game", "games")),
            Event::Trained(line) => println!(
                "round {}: learned from {}, policy loss {}, value error {}",
                line.round,
                counted(line.positions as u64, "position", "positions"),
                number(line.policy_loss),
                number(line.value_error)
            ),
            Event::Decided(line) if line.score.games() == 0 => println!(
                "round {}: {} is the first network",
                line.round,
                &line.network[..line.network.len().min(8)],
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
            Event::Rated(elo, error) => {
                println!("rated: {} over the first network", rating(elo, error))
            }
            Event::Stopped => {}
        }
    }
    let best = run.best_network().map_or_else(
        || "there is no network yet".to_owned(),
        |file| format!("the best network is {}", file.display()),
    );
    println!(
        "{}, {}, {} over the first network; {best}",
        counted(run.state().rounds, "round", "rounds"),
        counted(run.games(), "game", "games"),
        rating(run.state().elo, run.state().elo_error),
    );
    if stop.load(Ordering::Relaxed) {
        println!("stopped; the same command resumes");
        return Ok(ExitCode::from(interrupt::EXIT_INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Elo with half its 95 % interval, as fitted over all match games.
fn rating(elo: f64, error: Option<f64>) -> String {
    match error {
        Some(error) => format!("Elo {elo:+.0} ± {error:.0}"),
        None => format!("Elo {elo:+.0}"),
    }
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
        Phase::Rating => "rating games".into(),
    };
    let score = status.last_match.map_or_else(
        || "no match yet".into(),
        |score| format!("match {}-{}", score.wins, score.losses),
    );
    format!(
        "round {}, {doing}; {} positions, {:.0} games/h, network {}, {score}, {}",
        status.round + 1,
        status.positions,
        status.games_per_hour,
        status.best,
        rating(status.elo, status.elo_error)
    )
}
