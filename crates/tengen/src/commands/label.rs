//! `tengen label`: positions with all that a strong network says about them.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::atomic::Ordering,
    time::Instant,
};

use anyhow::bail;
use go_player::{LoadedNetwork, NetworkError};
use go_training::label::{
    LabelFile, PlaySettings, Progress, RecordSettings, Teacher, from_records, generate,
};
use net::{Backend, OpenError};

use crate::{commands::terminal, interrupt};

/// Ask a strong network about many positions, for a smaller one to learn from.
///
/// Positions come from games that the teacher plays by its own policy on boards of many sizes, with
/// many rules and komi, or from game records. Each gets the teacher's policy, winning chance, lead,
/// spread of the score and ownership. The file can be added to: the same command continues after a
/// stop, and a larger --labels asks for more.
///
/// Examples:
///   tengen label labels.log --teacher g170e-b15c192.bin.gz --labels 100000
///   tengen label own.log --teacher g170e-b15c192.bin.gz --student nets/go.net --labels 50000
///   tengen label nine.log --teacher g170e-b15c192.bin.gz --sizes 9 --labels 50000
///   tengen label kgs.log --teacher g170e-b15c192.bin.gz --per-game 3 games/*.sgf
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The file of labels, made or added to
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Game records to take positions from: SGF files, .tar.gz archives, or folders of them; without
    /// any, the teacher plays
    #[arg(value_name = "GAMES")]
    games: Vec<PathBuf>,

    /// The network to ask; it must say score and ownership, as KataGo's networks do
    #[arg(long, value_name = "NETWORK")]
    teacher: PathBuf,

    /// Let this network play one side of half of the games: the teacher then labels the positions that its
    /// mistakes lead to
    #[arg(long, value_name = "NETWORK", conflicts_with = "games")]
    student: Option<PathBuf>,

    /// Labels in all, those already in the file included
    #[arg(long, default_value_t = PlaySettings::default().labels, value_name = "COUNT")]
    labels: usize,

    /// Board sizes to play on, each with how often: 9 or 9:3,13:2,19:1
    #[arg(long, value_name = "SIZES", value_parser = sizes, conflicts_with = "games")]
    sizes: Option<Sizes>,

    /// Positions of each game record
    #[arg(long, default_value_t = 3, value_name = "COUNT", requires = "games")]
    per_game: usize,

    /// Makes other games
    #[arg(long, default_value_t = PlaySettings::default().seed)]
    seed: u64,

    /// Evaluate in f32 alone; else 3x3 convolutions are in bf16 where the processor multiplies it
    #[arg(long)]
    exact: bool,

    /// Threads that ask the teacher
    #[arg(long, default_value_t = terminal::processors(), value_name = "COUNT")]
    threads: usize,
}

/// Board sizes and their shares.
pub type Sizes = std::sync::Arc<[(usize, f64)]>;

pub fn sizes(text: &str) -> Result<Sizes, String> {
    let read = |part: &str| {
        let (size, share) = part.split_once(':').unwrap_or((part, "1"));
        let size: Option<usize> = size.trim().parse().ok();
        let share: Option<f64> = share.trim().parse().ok();
        size.filter(|size| go::BoardSize::new(*size).is_some())
            .zip(share.filter(|share| share.is_finite() && *share > 0.0))
            .ok_or_else(|| format!("`{part}` is not a board size from 2 to 25, or SIZE:SHARE"))
    };
    text.split(',').map(read).collect()
}

/// A label bears the rounding of bf16, far smaller than what the teacher says otherwise of a turned board.
fn load_teacher(file: &Path, is_exact: bool) -> Result<LoadedNetwork, NetworkError> {
    if !is_exact {
        match LoadedNetwork::load_on(file, Backend::CpuBf16) {
            Err(NetworkError::Open(OpenError::NoBf16)) => {}
            loaded => return loaded,
        }
    }
    LoadedNetwork::load(file)
}

/// Asks until the file has enough labels.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let teacher = Teacher::new(load_teacher(&args.teacher, args.exact)?);
    let mut file = LabelFile::open(&args.file)?;
    let before = file.labels();
    if before >= args.labels {
        println!(
            "{} has {} already; give a larger --labels for more",
            args.file.display(),
            terminal::counted(before, "label", "labels"),
        );
        return Ok(ExitCode::SUCCESS);
    }
    let bar = terminal::progress(args.labels, "labels");
    bar.set_position(before as u64);
    let stop = interrupt::stop_flag()?;
    let start = Instant::now();
    let on_progress = |progress: Progress| bar.set_position(progress.labels as u64);
    if args.games.is_empty() {
        let defaults = PlaySettings::default();
        let settings = PlaySettings {
            sizes: args.sizes.map_or(defaults.sizes, |sizes| sizes.to_vec()),
            seed: args.seed,
            labels: args.labels,
            threads: args.threads,
        };
        let student = args.student.as_deref().map(LoadedNetwork::load);
        let student = student.transpose()?.map(Teacher::new);
        generate(
            &teacher,
            student.as_ref(),
            &settings,
            &mut file,
            stop,
            &on_progress,
        )?;
    } else {
        let settings = RecordSettings {
            games: args.games,
            per_game: args.per_game,
            seed: args.seed,
            labels: args.labels,
            threads: args.threads,
        };
        let unreadable = from_records(&teacher, &settings, &mut file, stop, &on_progress)?;
        if unreadable > 0 {
            let records = terminal::counted(unreadable, "record", "records");
            bar.suspend(|| eprintln!("{records} could not be read and gave no labels"));
        }
        if file.labels() == 0 {
            bail!("no position of these records could be used");
        }
    }
    bar.finish_and_clear();
    let made = file.labels() - before;
    let bytes = std::fs::metadata(&args.file)?.len();
    println!(
        "{} of {} in {}: {made} new, {:.1} a second, {:.0} bytes each",
        terminal::counted(file.labels(), "label", "labels"),
        terminal::counted(file.games(), "game", "games"),
        args.file.display(),
        made as f64 / start.elapsed().as_secs_f64(),
        bytes as f64 / file.labels().max(1) as f64,
    );
    if stop.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(interrupt::EXIT_INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}
