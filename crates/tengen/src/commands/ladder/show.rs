//! `tengen ladder show`.

use std::{io::Write, path::PathBuf, process::ExitCode};

use anyhow::{Context, bail};
use go::{Board, Diagram, Game, LadderReader, Point};
use ladder::journey::{Journey, News, journey};
use ladder::picture::Picture;
use ladder::positions::{Kind, Question, questions, truth};
use ladder::reader::{DEFAULT_STEPS, reader};

use crate::commands::terminal;

/// Show how the ladder network reads a position, block by block
///
/// The position is the end of a game's main line, or an earlier move of it. For every ladder on the
/// board the network's verdict is printed; one of them is followed step by step as the verdict comes
/// down the diagonal: `!` the runner is out here, `s` safe farther on, `-` open, `t` the chaser may turn.
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

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let game = position(&args)?;
    let board = game.board();
    let reader = reader(args.steps);
    let found = questions(board);
    let mut exact = LadderReader::default();
    if found.is_empty() {
        let diagram = Diagram::new(board).colored(terminal::is_colored());
        print(&format!("{diagram}\nThere is no ladder on this board.\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for question in &found {
        let says = journey(&reader, board, question).works;
        text += &sentence(question, says, truth(&mut exact, board, question));
        text.push('\n');
    }
    print(&text)?;
    let followed = match args.at {
        None => &found[0],
        Some(point) => match found.iter().find(|question| question.point == point) {
            Some(question) => question,
            None => bail!("there is no ladder to follow at {point}; the list above has the points"),
        },
    };
    let journey = journey(&reader, board, followed);
    text.clear();
    for stage in &journey.stages {
        let drawing = drawing(board, &journey, &stage.news);
        text += &format!("\nafter block {}:\n{drawing}\n", stage.block);
    }
    print(&text)?;
    if let Some(file) = &args.output {
        let picture = Picture::new(board, &journey);
        let bytes = match file.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => picture.to_svg().into_bytes(),
            Some("png") => picture.to_png(),
            _ => bail!("{}: a picture's name ends in .svg or .png", file.display()),
        };
        net::file::write_whole(file, &bytes)
            .with_context(|| format!("{}: cannot be written", file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(text: &str) -> anyhow::Result<()> {
    std::io::stdout()
        .lock()
        .write_all(text.as_bytes())
        .context("standard output closed early")
}

fn position(args: &Args) -> anyhow::Result<Game> {
    let file = args.file.display();
    let bytes = std::fs::read(&args.file).with_context(|| format!("cannot read {file}"))?;
    let collection = go::sgf::read(&bytes).with_context(|| format!("{file} is damaged"))?;
    let Some(tree) = collection.games.first() else {
        bail!("{file} has no game");
    };
    let node = match args.move_number {
        None => tree.main_line().last().copied().unwrap_or(tree.root()),
        Some(number) => match tree
            .node_after(number)
            .with_context(|| format!("{file} is damaged"))?
        {
            Some(node) => node,
            None => bail!("the game in {file} has fewer than {number} moves"),
        },
    };
    tree.game_at(node)
        .with_context(|| format!("{file} does not replay"))
}

fn sentence(question: &Question, says: bool, truth: bool) -> String {
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
        Kind::Chase => format!("{to_move:?} chases {prey} from {point}"),
    };
    let exact = if says == truth {
        ""
    } else {
        " (wrong: the exact reader disagrees)"
    };
    format!("{what}: {}{exact}", answer(says))
}

fn drawing(board: &Board, journey: &Journey, news: &[News]) -> String {
    let mut diagram = Diagram::new(board).colored(terminal::is_colored());
    for point in board.size().points().filter(|&point| board.is_empty(point)) {
        let sign = match news[board.size().index(point)] {
            News::None => continue,
            News::Open if journey.path.contains(&point) => '-',
            News::Open => continue,
            News::Out => '!',
            News::Safe => 's',
            News::Turn => 't',
        };
        diagram = diagram.mark(point, sign);
    }
    diagram.to_string()
}
