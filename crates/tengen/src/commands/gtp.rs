//! `tengen gtp`, and the same engine under the name `leelaz`.

mod katago;
mod player_args;

use std::{
    fs::OpenOptions,
    io::{self, IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
    thread,
};

use anyhow::{Context, Result, bail};
use clap::{Args as ClapArgs, Parser, ValueEnum};
use go::Color;
use go_player::{
    LoadedNetwork, NetworkError, Options, Player, Rank, Request, StopMode, clock::TimeControl,
    dynamic_komi::verdicts,
};
use gtp::{Engine, Input, Outputs, Personality, komi_report, report};
use net::{Backend, Perspective};

use katago::KataSetup;
pub use katago::run_as_katago;
use player_args::PlayerArgs;

use super::backend::BackendArgs;

/// The search of `--benchmark`.
const BENCHMARK_VISITS: u64 = 3200;
const BENCHMARK_MOVES: [(Color, &str); 3] = [
    (Color::Black, "R16"),
    (Color::White, "D4"),
    (Color::Black, "C3"),
];
/// Said to people; programs that speak the protocol know it.
const FIRST_WORDS: &str =
    "Ready for GTP commands: try `genmove black`, `showboard`, `list_commands`; `quit` ends.\n";
/// What `leelaz` returns for every failure.
const LEELAZ_FAILURE: u8 = 1;

/// Play and analyse Go over the Go Text Protocol, with any Leela Zero or KataGo network.
///
/// Without a clock and without a limit on visits or playouts, a move takes 5 seconds at most.
#[derive(ClapArgs)]
#[command(
    after_help = "Examples:\n  tengen gtp -w network.gz --visits 800 --noponder\n  \
                  tengen gtp -w network.gz --handicap --target-komi 0    # to give stones\n  \
                  tengen gtp -w g170e-b15c192.bin.gz --as katago         # for Lizzie's score mode"
)]
pub struct Args {
    /// Answer as another program does, for clients that know its name: leelaz or katago.
    #[arg(long = "as", default_value = "tengen", value_name = "PROGRAM")]
    manners: Manners,
    #[command(flatten)]
    engine: EngineArgs,
}

/// Whose name and list of commands clients see.
#[derive(Clone, Copy, ValueEnum)]
enum Manners {
    Tengen,
    Leelaz,
    Katago,
}

/// The options of Leela Zero, and a few more.
#[derive(ClapArgs)]
struct EngineArgs {
    /// Enable GTP mode; without it, `leelaz` shows a board and a prompt.
    #[arg(short, long)]
    gtp: bool,
    /// Play at a level from 15k to 9d, with a KataGo network: short searches, and points given away on purpose.
    /// A human-imitation network plays as people of that rank do.
    #[arg(long, value_name = "RANK")]
    rank: Option<Rank>,
    /// File with network weights.
    #[arg(short, long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// File to log input/output to.
    #[arg(short, long, value_name = "FILE")]
    logfile: Option<PathBuf>,
    /// Disable all diagnostic output.
    #[arg(short, long)]
    quiet: bool,
    /// Test network and exit. Default args: -v3200 --noponder -m0 -t1 -s1.
    #[arg(long)]
    benchmark: bool,
    /// Random number generation seed.
    #[arg(short, long, value_name = "N")]
    seed: Option<u64>,
    /// Use the processor, whatever --backend and --gpu say.
    #[arg(long)]
    cpu_only: bool,
    #[command(flatten)]
    backend: BackendArgs,
    /// Accepted for Leela Zero's sake; nothing needs tuning.
    #[arg(long, hide = true)]
    full_tuner: bool,
    /// Load the network and exit: nothing needs tuning.
    #[arg(long, hide = true)]
    tune_only: bool,
    #[command(flatten)]
    player: PlayerArgs,
}

/// Runs `tengen gtp`.
pub fn run(args: Args) -> Result<ExitCode> {
    let personality = match args.manners {
        Manners::Tengen => Personality::Tengen,
        Manners::Leelaz => Personality::LeelaZero,
        Manners::Katago => Personality::KataGo,
    };
    let engine = EngineArgs {
        // A prompt is for people who call `leelaz` itself.
        gtp: true,
        ..args.engine
    };
    serve(engine, personality, &KataSetup::default())?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Parser)]
#[command(name = "leelaz", infer_long_args = true, disable_version_flag = true)]
struct Leelaz {
    #[command(flatten)]
    engine: EngineArgs,
}

const LEELAZ_BANNER: &str = "\
Leela Zero 0.17 compatible engine (Tengen)
This program comes with ABSOLUTELY NO WARRANTY.
This is free software, and you are welcome to redistribute it
under certain conditions; see the LICENSE files for details.
";

/// Runs as `leelaz`: its options, its messages, its exit codes.
pub fn run_as_leelaz() -> ExitCode {
    let leelaz = match Leelaz::try_parse() {
        Ok(leelaz) => leelaz,
        Err(error) => return leelaz_usage(&error),
    };
    let quiet = leelaz.engine.quiet;
    match serve(leelaz.engine, Personality::LeelaZero, &KataSetup::default()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !quiet {
                print_leelaz_failure(&error);
            }
            ExitCode::from(LEELAZ_FAILURE)
        }
    }
}

fn leelaz_usage(error: &clap::Error) -> ExitCode {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let argument = context(ContextKind::InvalidArg).unwrap_or_default();
    let option = argument.split_whitespace().next().unwrap_or_default();
    let help = <Leelaz as clap::CommandFactory>::command().render_help();
    match error.kind() {
        ErrorKind::DisplayHelp => {
            print_text(&format!("{LEELAZ_BANNER}\n{help}\n"));
            return ExitCode::SUCCESS;
        }
        ErrorKind::UnknownArgument if !argument.starts_with('-') => {
            eprintln!("Unrecognized argument: {argument}");
        }
        ErrorKind::UnknownArgument => eprintln!("ERROR: unrecognised option '{argument}'"),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            match context(ContextKind::InvalidValue).filter(|value| !value.is_empty()) {
                Some(value) => {
                    eprintln!("ERROR: the argument ('{value}') for option '{option}' is invalid");
                }
                None => {
                    eprintln!("ERROR: the required argument for option '{option}' is missing");
                }
            }
        }
        _ => eprintln!("ERROR: {}", error.kind()),
    }
    print_text(&format!("{LEELAZ_BANNER}\n{help}\n"));
    ExitCode::from(LEELAZ_FAILURE)
}

/// Prints to stdout. Write errors are ignored.
fn print_text(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

fn print_leelaz_failure(error: &anyhow::Error) {
    match error.downcast_ref::<NetworkError>() {
        Some(NetworkError::NotFound { looked_at }) => print_text(&format!(
            "A network weights file is required to use the program.\n\
             By default, Leela Zero looks for it in {}.\n",
            looked_at.display()
        )),
        Some(NetworkError::Load(net::LoadError::Unreadable { file, .. })) => {
            eprintln!("Could not open weights file: {}", file.display());
        }
        _ => eprintln!("{error:#}"),
    }
}

/// Loads the network and answers lines from stdin until they end.
fn serve(args: EngineArgs, personality: Personality, setup: &KataSetup) -> Result<()> {
    let options = args.options()?;
    let mut outputs = args.outputs()?;
    let threads_asked = args.player.value("threads").and_then(|n| n.parse().ok());
    if threads_asked.is_some_and(|asked: usize| asked > options.threads) {
        outputs.remark(&format!(
            "Clamping threads to maximum = {}\n",
            options.threads
        ));
    }
    outputs.remark(&format!(
        "Using {} thread(s).\nRNG seed: {}\n",
        options.threads, options.seed
    ));
    let weights = args.weights.as_deref();
    let network = match personality {
        // That program has no network inside, and says so.
        Personality::LeelaZero => args.load_as_leelaz(&mut outputs)?,
        Personality::Tengen | Personality::KataGo => {
            args.backend().choose();
            LoadedNetwork::find(weights)?
        }
    };
    let options = match args.rank {
        Some(rank) => at_rank(rank, options, &network)?,
        None => options,
    };
    let (network, options) = joined(network, options);
    outputs.remark(&network_line(&network));
    let has_mode = options.komi.mode.is_some();
    if has_mode && network.encoder.as_leela().is_none() {
        outputs.remark(
            "This network is told the komi of the game and plays for points: komi stays as it is.\n",
        );
    } else if has_mode && options.komi.test_network {
        outputs.remark("Testing what the network makes of other komi...\n");
    }
    let player = Player::new(network, options)?;
    if let Some(assessment) = player.assessment() {
        outputs.remark(&format!("{}\n", komi_report::verdict(assessment.scores)));
    }
    let shares = player.memory_shares();
    outputs.remark(&format!(
        "Setting max tree size to {} MiB and cache size to {} MiB.\n",
        shares.tree_mib(),
        shares.cache_mib()
    ));
    if args.tune_only || args.full_tuner {
        print_text(&format!("{LEELAZ_BANNER}\n"));
        return Ok(());
    }
    if args.benchmark {
        return benchmark(player, &mut outputs);
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let input = Input::spawn(io::stdin());
    let at_a_prompt = personality == Personality::LeelaZero && !args.gtp;
    if personality == Personality::Tengen && io::stdin().is_terminal() {
        outputs.remark(FIRST_WORDS);
    }
    let is_limited = player.options().visits.is_some() || player.options().playouts.is_some();
    let without_clock = match personality {
        Personality::LeelaZero => None,
        _ if is_limited => Some(TimeControl::Unlimited),
        _ => {
            outputs.remark("Without a clock or a limit, a move takes 5 seconds at most.\n");
            Some(TimeControl::NO_CLOCK)
        }
    };
    let mut engine = Engine::new(player, input, outputs, personality, words.join(" "));
    if let Some(control) = without_clock {
        engine = engine.without_clock(control);
    }
    setup.apply(&mut engine)?;
    if at_a_prompt {
        print_text(&format!("{LEELAZ_BANNER}\n"));
        engine = engine.with_prompt("Leela: ");
    }
    match engine.run() {
        // A closed pipe is how a client leaves.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write answers"),
    }
}

/// The options of a player of this rank; a limit on visits that was given stays.
fn at_rank(rank: Rank, options: Options, network: &LoadedNetwork) -> Result<Options> {
    if network.encoder.as_leela().is_some() {
        bail!(
            "--rank needs a network that knows scores, such as KataGo's: {} does not",
            network.name()
        );
    }
    let level = rank.level();
    let has_limit = options.visits.is_some() || options.playouts.is_some();
    let mut view = options.view;
    if network.encoder.imitates_people() {
        view.profile = rank.profile().parse()?;
    }
    Ok(Options {
        visits: if has_limit {
            options.visits
        } else {
            Some(level.visits)
        },
        level: Some(level),
        ponder: false,
        // Visits that are left over would make a short search shorter.
        stop_mode: StopMode::Off,
        view,
        ..options
    })
}

/// The network as the threads of the search ask for it, and the size of their batches if it was not given.
fn joined(network: LoadedNetwork, options: Options) -> (LoadedNetwork, Options) {
    if options.batch > 0 {
        return (network, options);
    }
    let (network, batch) = network.for_threads(options.threads);
    (network, Options { batch, ..options })
}

/// The start-up line that names the network in use.
fn network_line(network: &LoadedNetwork) -> String {
    let (name, filters, blocks) = (network.name(), network.filters, network.blocks);
    if network.encoder.as_leela().is_none() {
        let family = network.encoder.family();
        return format!("Network {name}: {family}, {blocks} blocks of {filters} channels.\n");
    }
    // Leela Zero's version number: 2 if the value is for Black, whoever is to move.
    let version = match network.evaluator.shape().perspective {
        Perspective::SideToMove => 1,
        Perspective::FirstPlayer => 2,
    };
    format!(
        "Network {name}\nDetecting residual layers...v{version}...{filters} channels...{blocks} blocks.\n"
    )
}

fn benchmark(mut player: Player, outputs: &mut Outputs) -> Result<()> {
    player.set_time(TimeControl::Unlimited);
    for (color, vertex) in BENCHMARK_MOVES {
        // A small board lacks some of the points; the search is no worse for it.
        let _ = player.play(color, vertex.parse()?);
    }
    let thought = player.generate(Color::White, &Request::default(), &mut ())?;
    outputs.remark(&report::table(
        &thought.snapshot,
        &thought.report,
        &player.tree_shape(),
    ));
    Ok(())
}

impl EngineArgs {
    fn backend(&self) -> Backend {
        if self.cpu_only {
            Backend::Cpu
        } else {
            self.backend.backend()
        }
    }

    /// Loads the network as `leelaz`, whose users may name a graphics processor that cannot be used here; they are told
    /// and play on.
    fn load_as_leelaz(&self, outputs: &mut Outputs) -> Result<LoadedNetwork, NetworkError> {
        let weights = self.weights.as_deref();
        self.backend().choose();
        match LoadedNetwork::find_file(weights) {
            Err(NetworkError::Open(error)) if matches!(self.backend(), Backend::Gpu(_)) => {
                outputs.remark(&format!("{error}; using the processor.\n"));
                Backend::Cpu.choose();
                LoadedNetwork::find_file(weights)
            }
            loaded => loaded,
        }
    }

    fn options(&self) -> Result<Options> {
        let mut options = Options {
            threads: thread::available_parallelism().map_or(1, usize::from),
            // Chosen once the network is known.
            batch: 0,
            seed: self.seed.unwrap_or_else(rand::random),
            ..Options::default()
        };
        if self.benchmark {
            options = Options {
                threads: 1,
                visits: Some(BENCHMARK_VISITS),
                ponder: false,
                stop_mode: StopMode::Off,
                seed: self.seed.unwrap_or(1),
                ..options
            };
        }
        self.player.apply(&mut options)?;
        options.komi.verdict_file = verdicts::default_file();
        options.check()?;
        Ok(options)
    }

    fn outputs(&self) -> Result<Outputs> {
        let log = match &self.logfile {
            None => None,
            Some(file) => {
                let opened = OpenOptions::new().create(true).append(true).open(file);
                let opened =
                    opened.with_context(|| format!("cannot open log file {}", file.display()))?;
                Some(Box::new(opened) as Box<dyn Write>)
            }
        };
        Ok(Outputs {
            answers: Box::new(io::stdout()),
            remarks: if self.quiet {
                Box::new(io::sink())
            } else {
                Box::new(io::stderr())
            },
            log,
        })
    }
}
