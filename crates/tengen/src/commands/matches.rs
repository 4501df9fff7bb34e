//! `tengen match`: games between two networks or two Go programs.

use std::{
    env, fs,
    io::{IsTerminal, Read},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use fleet::{Elo, MatchScore, MatchVerdict, Sprt};
use go::{BoardSize, Game, KoRule, Komi, Move, sgf};
use go_training::{Contest, Contestant, Entry, Outcome, Rules};

use super::backend::BackendArgs;
use crate::interrupt;

/// Options that make a network a match player: no thinking on the opponent's time, one thread a game.
const PLAYER_OPTIONS: &str = "--noponder --threads 1 --quiet";
/// Digits of a network's hash that tell it from every other.
const HASH_DIGITS: usize = 16;
/// GNU Go removes dead stones before it counts.
const GNU_GO: &str = "gnugo --mode gtp --chinese-rules --level 1";

/// Play a match between two networks or any two GTP programs.
///
/// A player is a network file, or the command line of a program that speaks GTP. Colours
/// alternate, every opening is played from both sides, and with --dir each game is kept as an
/// SGF file and the match can be continued after an interruption by the same command. Another
/// match is refused in that folder; only --games, --jobs, --patience and --sprt may change.
///
/// Games are played by area scoring without suicide. A player who brings back an earlier position has lost the
/// game (--ko says which positions count); programs that know kata-set-rules are told so.
///
/// Example: tengen match new.txt.gz best.txt.gz --visits 200 --sprt 0:35 --dir runs/gate
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// First player: a network file or a GTP command line; the score is its score.
    first: String,
    /// Second player.
    second: String,
    /// Games to play at most.
    #[arg(long, default_value_t = 100)]
    games: usize,
    /// Board size.
    #[arg(long, default_value_t = 19)]
    size: usize,
    /// Komi.
    #[arg(long, default_value_t = 7.5, allow_negative_numbers = true)]
    komi: f32,
    /// Stones that the first player gives the second; it then always has White.
    #[arg(long, default_value_t = 0)]
    handicap: usize,
    /// Visits a move for players given as network files.
    #[arg(long, default_value_t = 200)]
    visits: u64,
    #[command(flatten)]
    backend: BackendArgs,
    /// Games at once.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Stop when a sequential test decides between these two Elo differences (5 % errors); at the limit
    /// of games it may be undecided.
    #[arg(long, value_name = "LOW:HIGH", allow_hyphen_values = true)]
    sprt: Option<String>,
    /// SGF file whose games give the openings.
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Moves to take from each opening.
    #[arg(long, default_value_t = 6)]
    opening_moves: usize,
    /// Seconds that a program may be silent; then it has lost the game on time and is started again.
    #[arg(long, default_value_t = go_training::PATIENCE.as_secs(), value_name = "SECONDS")]
    patience: u64,
    /// A longer game is scored as it stands.
    #[arg(long, default_value_t = 722)]
    max_moves: usize,
    /// What a repeated position means: positional superko forbids every earlier position, situational superko those
    /// with the same side to move; under the simple ko rule only the immediate retaking of a ko is forbidden, and a
    /// position that stands again with the same side to move ends the game without a result.
    #[arg(long, value_enum, default_value_t = Ko::Positional)]
    ko: Ko,
    /// GTP program that removes dead stones and counts; "none" counts every stone as alive.
    /// Without this option, gnugo if it is installed.
    #[arg(long, value_name = "COMMAND")]
    scorer: Option<String>,
    /// Folder for the log (match.jsonl), what the match is about (match.json) and the games.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Print the result as one line of JSON.
    #[arg(long)]
    json: bool,
}

/// The ko rules by their names on the command line.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Ko {
    Positional,
    Situational,
    Simple,
}

impl From<Ko> for KoRule {
    fn from(ko: Ko) -> KoRule {
        match ko {
            Ko::Positional => KoRule::Positional,
            Ko::Situational => KoRule::Situational,
            Ko::Simple => KoRule::Simple,
        }
    }
}

/// Plays the match.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let contest = contest(&args)?;
    let bar = progress_bar(args.games);
    let stop = interrupt::stop_flag()?;
    let failed_file = AtomicBool::new(false);
    let outcome = contest.run(stop, |entry, played, score| {
        bar.inc(1);
        bar.set_message(score.to_string());
        if !args.json && played.is_some() {
            bar.suspend(|| println!("{}", game_line(entry, score)));
        }
        let Some(dir) = &args.dir else {
            return;
        };
        let file = dir.join(format!("{:04}.sgf", entry.number));
        let written = match played {
            Some(played) => write_sgf(&file, &args, entry, &played.game),
            None => restore_sgf(&file, &args, entry, &contest.rules),
        };
        if written.is_err() {
            failed_file.store(true, Ordering::Relaxed);
        }
    })?;
    bar.finish_and_clear();
    if failed_file.load(Ordering::Relaxed) {
        eprintln!("tengen: some games could not be written as SGF; their moves are in match.jsonl");
    }
    report(&args, &contest, outcome)?;
    if !outcome.is_finished {
        return Ok(ExitCode::from(interrupt::EXIT_INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}

fn contest(args: &Args) -> anyhow::Result<Contest> {
    let size = BoardSize::new(args.size).with_context(|| {
        format!(
            "--size {}: boards go from {} to {}",
            args.size,
            BoardSize::MIN,
            BoardSize::MAX
        )
    })?;
    let komi = Komi::new(args.komi)
        .with_context(|| format!("--komi {} is not a finite number", args.komi))?;
    Ok(Contest {
        first: player(&args.first, args)?,
        second: player(&args.second, args)?,
        scorer: scorer(args.scorer.as_deref()),
        rules: Rules {
            size,
            komi,
            handicap: args.handicap,
            max_moves: args.max_moves,
            ko: args.ko.into(),
        },
        games: args.games,
        jobs: args.jobs,
        patience: Duration::from_secs(args.patience),
        sprt: args.sprt.as_deref().map(sprt).transpose()?,
        openings: args
            .openings
            .as_deref()
            .map(|path| openings(path, size, args.opening_moves))
            .transpose()?
            .unwrap_or_default(),
        dir: args.dir.clone(),
    })
}

/// A network file becomes this program playing with it. Its name tells the network by what is in the
/// file, so that a match does not go on with another one of the same name.
fn player(text: &str, args: &Args) -> anyhow::Result<Contestant> {
    if is_program(text)? {
        return Ok(Contestant {
            name: text.to_owned(),
            command: text.to_owned(),
        });
    }
    let hash = net::sha256(Path::new(text))?;
    let program = env::current_exe().context("cannot find the path of this program")?;
    let program = program
        .to_str()
        .context("the path of this program is not valid Unicode")?;
    let visits = args.visits;
    let words = [
        program,
        "gtp",
        "--visits",
        &visits.to_string(),
        "--weights",
        text,
    ]
    .map(quote);
    let chosen: Vec<String> = args
        .backend
        .words()
        .iter()
        .map(|word| quote(word))
        .collect();
    let words: Vec<String> = words.into_iter().chain(chosen).collect();
    Ok(Contestant {
        name: format!(
            "{text} ({}, {visits} visits)",
            &hash[..HASH_DIGITS.min(hash.len())]
        ),
        command: format!("{} {PLAYER_OPTIONS}", words.join(" ")),
    })
}

fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Whether a player is a command line, and not a network file. What is neither is refused before anything is played.
fn is_program(text: &str) -> anyhow::Result<bool> {
    let file = Path::new(text);
    if file.is_file() {
        return Ok(starts_like_a_program(file));
    }
    let words = shlex::split(text).unwrap_or_default();
    let program = words.first().map_or("", String::as_str);
    let is_there = match program.contains(std::path::MAIN_SEPARATOR) {
        true => Path::new(program).is_file(),
        false => env::var_os("PATH").is_some_and(|path| {
            env::split_paths(&path).any(|folder| {
                let file = folder.join(program);
                file.is_file() || file.with_extension(env::consts::EXE_EXTENSION).is_file()
            })
        }),
    };
    ensure!(
        is_there && !program.is_empty(),
        "{text:?} is no player: there is neither a network file nor a program of that name; give a network file or the \
         command line of a GTP program"
    );
    Ok(true)
}

/// How executable files of the common systems begin. The run bit alone says nothing: copies from other file systems
/// often have it, networks among them.
const PROGRAM_STARTS: [&[u8]; 6] = [
    b"#!",
    b"\x7fELF",
    b"MZ",
    b"\xcf\xfa\xed\xfe",
    b"\xfe\xed\xfa\xcf",
    b"\xca\xfe\xba\xbe",
];

fn starts_like_a_program(file: &Path) -> bool {
    let mut start = Vec::new();
    let read = fs::File::open(file).and_then(|file| file.take(4).read_to_end(&mut start));
    read.is_ok() && PROGRAM_STARTS.iter().any(|magic| start.starts_with(magic))
}

fn scorer(choice: Option<&str>) -> Option<String> {
    match choice {
        Some("none") => None,
        Some(command) => Some(command.to_owned()),
        None => go_training::Program::start(GNU_GO)
            .ok()
            .map(|_| GNU_GO.to_owned()),
    }
}

fn sprt(bounds: &str) -> anyhow::Result<Sprt> {
    let parsed = bounds
        .split_once(':')
        .and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    let Some((low, high)) = parsed else {
        bail!("--sprt {bounds}: expected two Elo differences such as 0:35")
    };
    ensure!(
        low < high,
        "--sprt {bounds}: the first difference must be the smaller one"
    );
    Ok(Sprt::between(Elo(low), Elo(high)))
}

fn openings(path: &Path, size: BoardSize, moves: usize) -> anyhow::Result<Vec<Vec<Move>>> {
    let bytes =
        fs::read(path).with_context(|| format!("cannot read the openings {}", path.display()))?;
    let collection =
        sgf::read(&bytes).with_context(|| format!("the openings {}", path.display()))?;
    let mut openings = Vec::new();
    for tree in &collection.games {
        let line = tree.main_line();
        let game = tree
            .game_at(line[moves.min(line.len() - 1)])
            .with_context(|| format!("the openings {}", path.display()))?;
        ensure!(
            game.size() == size,
            "{}: game {} is on a {} board, the match on {size}",
            path.display(),
            tree.number(),
            game.size()
        );
        openings.push(game.moves().map(|(_, mv)| mv).collect());
    }
    ensure!(!openings.is_empty(), "{} holds no game", path.display());
    Ok(openings)
}

fn progress_bar(games: usize) -> indicatif::ProgressBar {
    if !std::io::stderr().is_terminal() {
        return indicatif::ProgressBar::hidden();
    }
    let style =
        indicatif::ProgressStyle::with_template("{bar:30} {pos}/{len} games, {msg}, {eta} left");
    indicatif::ProgressBar::new(games as u64)
        .with_style(style.unwrap_or_else(|_| indicatif::ProgressStyle::default_bar()))
}

fn game_line(entry: &Entry, score: MatchScore) -> String {
    let color = if entry.first_is_black {
        "black"
    } else {
        "white"
    };
    format!(
        "game {}: first player is {color}, {}, {} moves; {}",
        entry.number,
        entry.result,
        entry.moves.len(),
        score
    )
}

/// A game that was logged just before a crash may lack its file.
fn restore_sgf(file: &Path, args: &Args, entry: &Entry, rules: &Rules) -> std::io::Result<()> {
    if file.exists() {
        return Ok(());
    }
    match entry.replay(rules) {
        Some(game) => write_sgf(file, args, entry, &game),
        None => Err(std::io::ErrorKind::InvalidData.into()),
    }
}

fn write_sgf(file: &Path, args: &Args, entry: &Entry, game: &Game) -> std::io::Result<()> {
    let (black, white) = if entry.first_is_black {
        (&args.first, &args.second)
    } else {
        (&args.second, &args.first)
    };
    let mut tree = sgf::Tree::from_game(game);
    for (name, text) in [("PB", black), ("PW", white), ("RE", &entry.result)] {
        tree.set_text(tree.root(), name, text);
    }
    base::write_whole(file, tree.to_string().as_bytes())
}

fn report(args: &Args, contest: &Contest, outcome: Outcome) -> anyhow::Result<()> {
    let score = outcome.score;
    let (low, elo, high) = score.elo();
    let verdict = contest.sprt.map(|_| contest.verdict(score));
    if args.json {
        let json = serde_json::json!({
            "wins": score.wins,
            "losses": score.losses,
            "winrate": score.winrate(),
            "interval": score.winrate_interval(),
            "elo": elo.0.is_finite().then_some(elo.0),
            "llr": contest.sprt.map(|sprt| sprt.log_likelihood_ratio(score)),
            "verdict": verdict,
        });
        println!("{json}");
        return Ok(());
    }
    println!("first player won {score}, Elo {elo} ({low}..{high})");
    if let Some(sprt) = contest.sprt {
        println!("{}", verdict_line(&sprt, score));
    }
    if !outcome.is_finished {
        let next = match args.dir {
            Some(_) => "; the same command goes on",
            None => "",
        };
        println!("stopped before the end{next}");
    }
    Ok(())
}

fn verdict_line(sprt: &Sprt, score: MatchScore) -> String {
    let (low, high) = (sprt.elo_fail, sprt.elo_pass);
    match sprt.verdict(score) {
        MatchVerdict::Pass => {
            format!("test passed: the score speaks for {high} Elo, against {low}")
        }
        MatchVerdict::Fail => {
            format!("test failed: the score speaks for {low} Elo, against {high}")
        }
        MatchVerdict::Open => format!("test undecided between {low} and {high} Elo"),
    }
}
