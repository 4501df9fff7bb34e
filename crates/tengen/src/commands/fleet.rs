//! `tengen fleet`: what the operator of a served run does.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use clap::Subcommand;
use fleet::Order;
use serde_json::Value;
use worker::Client;

use super::{roles, terminal};

/// Operate a run that is served with `tengen zero --serve`, or run a role of one over a message broker
#[derive(Subcommand)]
pub enum Command {
    Ledger(roles::Ledger),
    Trainer(roles::Training),
    Gateway(roles::Gate),
    Check(roles::Check),
    /// Show where the run stands: games, workers, the match under way
    #[command(after_help = "Example:\n  tengen fleet status --dir runs/go9")]
    Status {
        #[command(flatten)]
        run: RunFolder,
        /// Print everything as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a token for a worker; it is shown this once
    #[command(after_help = "Example:\n  tengen fleet token ann --dir runs/go9")]
    Token {
        /// The worker's name on the status page
        name: String,
        #[command(flatten)]
        run: RunFolder,
    },
    /// Ban a worker and take its games back: self-play leaves the window, slots of the match are open again
    #[command(
        after_help = "Example:\n  tengen fleet ban bob --why 'sends games of another program' --dir runs/go9"
    )]
    Ban {
        /// The worker's name
        name: String,
        /// What the worker is told
        #[arg(long, default_value = "by decision of the operator")]
        why: String,
        #[command(flatten)]
        run: RunFolder,
    },
    /// End a worker's ban or quarantine; games that were taken back stay so
    #[command(after_help = "Example:\n  tengen fleet release bob --dir runs/go9")]
    Release {
        /// The worker's name
        name: String,
        #[command(flatten)]
        run: RunFolder,
    },
    /// Give out no self-play for now; matches go on
    #[command(after_help = "Example:\n  tengen fleet pause --dir runs/go9")]
    Pause {
        #[command(flatten)]
        run: RunFolder,
    },
    /// Give out self-play again
    #[command(after_help = "Example:\n  tengen fleet resume --dir runs/go9")]
    Resume {
        #[command(flatten)]
        run: RunFolder,
    },
    /// Write every game of the run as a line of JSON, also while it is served
    #[command(after_help = "Example:\n  tengen fleet export --dir runs/go9 --out games.jsonl")]
    Export {
        #[command(flatten)]
        run: RunFolder,
        /// The file to write
        #[arg(long, value_name = "FILE", default_value = "games.jsonl")]
        out: PathBuf,
    },
    /// Delete networks that were never the best one and are older than some rounds; games and results stay
    #[command(after_help = "Example:\n  tengen fleet tidy --dir runs/go9")]
    Tidy {
        #[command(flatten)]
        run: RunFolder,
        /// Rounds whose networks are all kept
        #[arg(long, value_name = "N", default_value_t = 20)]
        rounds: u64,
    },
    /// Copy the run to another folder, also while it is served; the copy can be opened like the run itself
    #[command(after_help = "Example:\n  tengen fleet backup --dir runs/go9 --out copies/go9")]
    Backup {
        #[command(flatten)]
        run: RunFolder,
        /// The folder to write; it must not be there yet
        #[arg(long, value_name = "FOLDER", default_value = "backup")]
        out: PathBuf,
    },
}

/// A run's folder.
#[derive(clap::Args)]
pub struct RunFolder {
    /// The run's folder
    #[arg(long, value_name = "FOLDER")]
    dir: PathBuf,
}

/// Runs the subcommand.
pub fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Ledger(args) => return roles::ledger(&args),
        Command::Trainer(args) => return roles::trainer(&args),
        Command::Gateway(args) => return roles::gateway(&args),
        Command::Check(args) => return roles::check(&args),
        Command::Status { run, json } => {
            let status = connect(&run.dir)?.status()?;
            if json {
                terminal::print(&format!("{status:#}\n"))?;
            } else {
                show(&status)?;
            }
        }
        Command::Token { name, run } => order(&run, &Order::Token { name })?,
        Command::Ban { name, why, run } => order(&run, &Order::Ban { name, why })?,
        Command::Release { name, run } => order(&run, &Order::Release { name })?,
        Command::Pause { run } => order(&run, &Order::Pause)?,
        Command::Resume { run } => order(&run, &Order::Resume)?,
        Command::Tidy { run, rounds } => tidy(&run.dir, rounds)?,
        Command::Export { run, out } => export(&run.dir, &out)?,
        Command::Backup { run, out } => {
            backup(&run.dir, &out)?;
            println!("{} is a copy of {}", out.display(), run.dir.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn order(run: &RunFolder, order: &Order) -> anyhow::Result<()> {
    let say = connect(&run.dir)?.operate(order)?;
    println!("{say}");
    Ok(())
}

/// The server of a run on this machine, with the operator's token.
fn connect(dir: &Path) -> anyhow::Result<Client> {
    let file = dir.join("fleet/server.json");
    let text = fs::read_to_string(&file).with_context(|| {
        format!(
            "{} is not served now; start it with `tengen zero GAME --dir {} --serve ADDRESS`",
            dir.display(),
            dir.display()
        )
    })?;
    let found: Value =
        serde_json::from_str(&text).with_context(|| format!("{} is damaged", file.display()))?;
    let text = |name: &str| found[name].as_str().unwrap_or_default();
    let scheme = if found["tls"] == true {
        "https"
    } else {
        "http"
    };
    let mut client = Client::on_this_machine(&format!("{scheme}://{}", text("address")))?;
    let hello = client.hello()?;
    client.trust(hello["key"].as_str().unwrap_or_default());
    client.set_token(text("token"));
    Ok(client)
}

fn show(status: &Value) -> anyhow::Result<()> {
    let number = |value: &Value| {
        value
            .as_f64()
            .map_or("-".to_owned(), |value| format!("{value:.0}"))
    };
    let mut text = format!(
        "{}: round {}, {}; {} games, {} an hour; {} at work; Elo {} over the first network\n",
        status["game"].as_str().unwrap_or_default(),
        status["round"].as_u64().unwrap_or(0) + 1,
        status["phase"].as_str().unwrap_or_default(),
        number(&status["games"]),
        number(&status["games_per_hour"]),
        terminal::counted(
            status["workers_live"].as_u64().unwrap_or(0) as usize,
            "worker",
            "workers"
        ),
        number(&status["elo"]),
    );
    let current = &status["match"];
    if current.is_object() {
        text += &format!(
            "match: {} won, {} lost, log likelihood ratio {:.2} of {:.2}\n",
            number(&current["wins"]),
            number(&current["losses"]),
            current["llr"].as_f64().unwrap_or(0.0),
            current["bound"].as_f64().unwrap_or(0.0),
        );
    }
    for worker in status["workers"].as_array().into_iter().flatten() {
        let counts = &worker["counts"];
        let standing = match (worker["banned"].as_str(), worker["quarantined"].as_str()) {
            (Some(why), _) => format!("banned: {why}"),
            (None, Some(why)) => format!("kept apart: {why}"),
            (None, None) => "good".to_owned(),
        };
        text += &format!(
            "{:<20} {:>7} taken {:>5} twice {:>5} refused {:>5} too late   {standing}\n",
            worker["name"].as_str().unwrap_or_default(),
            number(&counts["accepted"]),
            number(&counts["duplicate"]),
            number(&counts["refused"]),
            number(&counts["stale"]),
        );
    }
    terminal::print(&text)?;
    Ok(())
}

/// Deletes the files of networks that nobody needs any more.
fn tidy(dir: &Path, rounds: u64) -> anyhow::Result<()> {
    let file = dir.join("state.json");
    let text = fs::read(&file)
        .with_context(|| format!("{} is no run: there is no state.json in it", dir.display()))?;
    let state: fleet::State =
        serde_json::from_slice(&text).with_context(|| format!("{} is damaged", file.display()))?;
    let used = state.networks_in_use(rounds.max(1));
    let networks = dir.join("networks");
    let (mut files, mut bytes) = (0_usize, 0);
    for entry in fs::read_dir(&networks).with_context(|| networks.display().to_string())? {
        let entry = entry?;
        let name = entry.file_name();
        let hash = name.to_str().and_then(|name| name.split('.').next());
        // What has no hash for a name was put there by somebody else.
        let is_network = hash.is_some_and(|hash| {
            hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        });
        if is_network && hash.is_some_and(|hash| !used.contains(hash)) {
            bytes += entry.metadata().map_or(0, |found| found.len());
            fs::remove_file(entry.path()).with_context(|| entry.path().display().to_string())?;
            files += 1;
        }
    }
    println!(
        "{} deleted, {} kB",
        terminal::counted(files, "file", "files"),
        bytes / 1000
    );
    Ok(())
}

/// Copies a run. Logs only grow and end in whole records or a torn one, which opening cuts off; the state is read first,
/// so that the copied logs and networks hold all it speaks of.
fn backup(dir: &Path, out: &Path) -> anyhow::Result<()> {
    if !dir.join("state.json").exists() {
        bail!("{} is no run: there is no state.json in it", dir.display());
    }
    if out.exists() {
        bail!(
            "{} is there already; name a folder that is not",
            out.display()
        );
    }
    let read =
        |name: &str| fs::read(dir.join(name)).with_context(|| dir.join(name).display().to_string());
    let (state, settings) = (read("state.json")?, read("settings.toml")?);
    let copy_folder = |name: &str| -> anyhow::Result<()> {
        let (from, to) = (dir.join(name), out.join(name));
        if !from.exists() {
            return Ok(());
        }
        fs::create_dir_all(&to).with_context(|| to.display().to_string())?;
        for entry in fs::read_dir(&from).with_context(|| from.display().to_string())? {
            let path = entry?.path();
            let is_announcement = path.ends_with("server.json");
            if path.is_file() && !is_announcement {
                let to = to.join(path.file_name().unwrap_or_default());
                fs::copy(&path, &to).with_context(|| to.display().to_string())?;
            }
        }
        Ok(())
    };
    fs::create_dir_all(out).with_context(|| out.display().to_string())?;
    copy_folder("networks")?;
    for name in ["uploads.log", "games.log", "matches.log"] {
        if dir.join(name).exists() {
            fs::copy(dir.join(name), out.join(name))
                .with_context(|| dir.join(name).display().to_string())?;
        }
    }
    copy_folder("fleet")?;
    for (name, bytes) in [("settings.toml", settings), ("state.json", state)] {
        base::write_whole(&out.join(name), &bytes)
            .with_context(|| out.join(name).display().to_string())?;
    }
    Ok(())
}

/// Writes the first line of every record, which is JSON in every game.
fn export(dir: &Path, out: &Path) -> anyhow::Result<()> {
    let log = dir.join("games.log");
    if !log.exists() {
        bail!(
            "{} is no run with games: there is no games.log in it",
            dir.display()
        );
    }
    // A copy is read, since opening a log may cut its end off.
    let copy = out.with_extension("part");
    fs::copy(&log, &copy).with_context(|| copy.display().to_string())?;
    let (mut text, mut games) = (Vec::new(), 0_usize);
    let read = base::Log::open(&copy, |record| {
        let end = record.iter().position(|&byte| byte == b'\n');
        text.extend_from_slice(&record[..end.unwrap_or(record.len())]);
        text.push(b'\n');
        games += 1;
    });
    let removed = fs::remove_file(&copy);
    read?;
    removed.with_context(|| copy.display().to_string())?;
    base::write_whole(out, &text).with_context(|| out.display().to_string())?;
    println!(
        "{} written to {}",
        terminal::counted(games, "game", "games"),
        out.display()
    );
    Ok(())
}
