//! `tengen ladder show`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, anyhow, bail};
use go::{Board, Diagram, Game, LadderReader, Point};
use ladder::{
    DEFAULT_STEPS, Journey, Kind, News, Question, journey, picture, questions_for, reader, truth,
};

use crate::commands::{files::write_whole, terminal};

/// Show how the ladder network reads a position, block by block
///
/// The position is the end of a game's main line, or an earlier move of it. For every ladder on the
/// board the network's verdict is printed; one of them is followed step by step as the verdict comes
/// down the diagonal.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tengen ladder show game.sgf --move 42\n  tengen ladder show game.sgf --at E7 -o ladder.svg"
)]
pub struct Args {
    /// SGF file
    file: PathBuf,

    /// The extension or atari to follow; by default the first ladder found
    #[arg(long, value_name = "VERTEX")]
    at: Option<Point>,

    /// Use the position after this many moves
    #[arg(long = "move", value_name = "NUMBER")]
    move_number: Option<usize>,

    /// Diagonal steps of the network
    #[arg(long, default_value_t = DEFAULT_STEPS, value_name = "COUNT", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=64))]
    steps: usize,

    /// Write a picture of all stages, SVG or PNG by the file's ending
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What the signs on the board mean.
const LEGEND: &str =
    "? the move asked about   - open, the ladder goes on   ! out, here or one step on
s safe as far as the scan has read   t the chaser may turn the ladder here
";

/// A kind of picture.
#[derive(Clone, Copy)]
enum Format {
    Svg,
    Png,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let output = match &args.output {
        Some(file) => Some((file, format_of(file)?)),
        None => None,
    };
    let game = position(&args)?;
    let board = game.board();
    let reader = reader(board.size().get(), args.steps);
    let found = questions_for(board, game.to_move());
    let Some(followed) = followed(&found, args.at)? else {
        if let Some((file, _)) = output {
            bail!(
                "there is no ladder on this board; {} is not written",
                file.display()
            );
        }
        let diagram = Diagram::new(board).colored(terminal::is_colored());
        terminal::print(&format!("{diagram}\nThere is no ladder on this board.\n"))?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut exact = LadderReader::default();
    let mut text = String::new();
    let mut title = String::new();
    for question in &found {
        let says = journey(&reader, board, question).works;
        let sentence = sentence(question, says, truth(&mut exact, board, question));
        text += &format!("{sentence}\n");
        if question == followed {
            title = sentence;
        }
    }
    let journey = journey(&reader, board, followed);
    text += &format!("\n{title}\n{}\n", LEGEND.trim_end());
    for stage in &journey.stages {
        let drawing = drawing(board, followed, &journey, &stage.news);
        text += &match journey.frame {
            Some(_) => format!("\nafter block {}:\n{drawing}\n", stage.block),
            None => format!("\ndecided at the landing, no scan:\n{drawing}\n"),
        };
    }
    if let Some((file, format)) = output {
        let picture = picture(board, followed, &journey, &title);
        let bytes = match format {
            Format::Svg => picture.to_svg().into_bytes(),
            Format::Png => picture.to_png(),
        };
        write_whole(file, &bytes)?;
    }
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn format_of(file: &Path) -> anyhow::Result<Format> {
    match file.extension().and_then(|ending| ending.to_str()) {
        Some("svg") => Ok(Format::Svg),
        Some("png") => Ok(Format::Png),
        _ => bail!("{}: a picture's name ends in .svg or .png", file.display()),
    }
}

/// The ladder at a point, or the first; none if there is none on the board and no point was named.
fn followed(found: &[Question], at: Option<Point>) -> anyhow::Result<Option<&Question>> {
    let Some(point) = at else {
        return Ok(found.first());
    };
    let question = found.iter().find(|question| question.point == point);
    if question.is_none() && found.is_empty() {
        bail!("there is no ladder to follow at {point}: there is no ladder on this board");
    }
    if question.is_none() {
        let mut points: Vec<String> = found
            .iter()
            .map(|question| question.point.to_string())
            .collect();
        points.dedup();
        bail!(
            "there is no ladder to follow at {point}; there is at {}",
            points.join(", ")
        );
    }
    Ok(question)
}

fn position(args: &Args) -> anyhow::Result<Game> {
    let file = args.file.display();
    let bytes = std::fs::read(&args.file).with_context(|| format!("cannot read {file}"))?;
    let collection =
        go::sgf::read(&bytes).map_err(|error| anyhow!("{file} is damaged: {error}"))?;
    let Some(tree) = collection.games.first() else {
        bail!("{file} has no game");
    };
    let node = match args.move_number {
        None => tree.main_line().last().copied().unwrap_or(tree.root()),
        Some(number) => match tree
            .node_after(number)
            .map_err(|error| anyhow!("{file} is damaged: {error}"))?
        {
            Some(node) => node,
            None => bail!("the game in {file} has fewer than {number} moves"),
        },
    };
    tree.game_at(node)
        .with_context(|| format!("{file} does not replay"))
}

fn sentence(question: &Question, says: Option<bool>, truth: bool) -> String {
    let Question {
        prey,
        point,
        to_move,
        ..
    } = question;
    let answer = |works: bool| match (question.kind, works) {
        (Kind::Escape, true) => "escapes",
        (Kind::Escape, false) => "is caught",
        (Kind::Chase, true) => "captures",
        (Kind::Chase, false) => "fails",
    };
    let what = match question.kind {
        Kind::Escape => format!("{to_move:?} extends from {prey} to {point}"),
        Kind::Chase => format!("{to_move:?} gives atari to {prey} at {point}"),
    };
    match says {
        Some(says) if says == truth => format!("{what}: {}", answer(says)),
        Some(says) => format!(
            "{what}: {} (wrong: the exact reader says it {})",
            answer(says),
            answer(truth)
        ),
        None => format!(
            "{what}: not read (the exact reader says it {})",
            answer(truth)
        ),
    }
}

fn drawing(board: &Board, question: &Question, journey: &Journey, news: &[News]) -> String {
    let mut diagram = Diagram::new(board).colored(terminal::is_colored());
    for point in journey.way(board) {
        let sign = match news[board.size().index(point)] {
            News::None => continue,
            News::Open => '-',
            News::Out => '!',
            News::Safe => 's',
            News::Turn => 't',
        };
        diagram = diagram.mark(point, sign);
    }
    diagram.mark(question.point, '?').to_string()
}
