//! `tengen ladder read`: the exact reader on a position from a file.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, bail};
use clap::ValueEnum;
use go::{
    Board, Color, Diagram, First, Game, GetaReader, LadderReader, LadderVerdict, Point, Reading,
};
use serde_json::json;

use crate::commands::terminal;

/// Read the ladders of a position exactly
///
/// The position is the end of a game's main line, or an earlier move of it. Without --at, every
/// block in atari is read with its owner to move, and every block with two liberties with the
/// opponent to move.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  tengen ladder read game.sgf\n  tengen ladder read game.sgf --at D4 --first attacker"
)]
pub struct Args {
    /// SGF file
    file: PathBuf,

    /// A stone of the block to read
    #[arg(long, value_name = "VERTEX")]
    at: Option<Point>,

    /// Who moves first; by default the owner of a block in atari, else the attacker
    #[arg(long, value_enum)]
    first: Option<FirstArg>,

    /// Use the position after this many moves
    #[arg(long = "move", value_name = "NUMBER")]
    move_number: Option<usize>,

    /// Which game of a collection to use
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    game: usize,

    /// Also look for nets, when the attacker moves first
    #[arg(long)]
    nets: bool,

    /// Moves to try before giving up on a ladder
    #[arg(long, default_value_t = go::DEFAULT_LADDER_NODES, value_name = "COUNT")]
    nodes: usize,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum FirstArg {
    Attacker,
    Defender,
}

impl From<FirstArg> for First {
    fn from(first: FirstArg) -> First {
        match first {
            FirstArg::Attacker => First::Attacker,
            FirstArg::Defender => First::Defender,
        }
    }
}

/// A block and what was read about it.
struct Answer {
    stone: Point,
    color: Color,
    liberties: usize,
    first: First,
    reading: Reading,
    /// Moves that capture by a net where no ladder works.
    net_moves: Option<Vec<Point>>,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let game = position(&args)?;
    let board = game.board();
    let questions = match args.at {
        None => LadderReader::questions(board),
        Some(point) if !board.size().contains(point) => {
            bail!(
                "{point} is not on the {} board of {}",
                board.size(),
                args.file.display()
            )
        }
        Some(point) => match board.stone(point) {
            None => bail!("there is no stone at {point}; name a stone of the block to read"),
            Some(_) if board.liberty_count(point) == 1 => vec![(point, First::Defender)],
            Some(_) => vec![(point, First::Attacker)],
        },
    };
    let mut reader = LadderReader::new(args.nodes);
    let answers: Vec<Answer> = questions
        .into_iter()
        .map(|(stone, first)| {
            let first = args.first.map_or(first, First::from);
            answer(&mut reader, board, stone, first, args.nets)
        })
        .collect();
    match args.json {
        true => println!("{}", as_json(&args, &game, &answers)),
        false => print_text(&game, &answers),
    }
    Ok(ExitCode::SUCCESS)
}

fn position(args: &Args) -> anyhow::Result<Game> {
    let file = args.file.display();
    let bytes = std::fs::read(&args.file).with_context(|| format!("cannot read {file}"))?;
    let collection = go::sgf::read(&bytes).with_context(|| format!("{file} is damaged"))?;
    let Some(tree) = args
        .game
        .checked_sub(1)
        .and_then(|index| collection.games.get(index))
    else {
        bail!(
            "{file} has no game {}: it has {}",
            args.game,
            collection.games.len()
        );
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

fn answer(
    reader: &mut LadderReader,
    board: &Board,
    stone: Point,
    first: First,
    nets: bool,
) -> Answer {
    let reading = reader.read(board, stone, first);
    let wants_net = nets && first == First::Attacker && reading.verdict == LadderVerdict::Escapes;
    let net_moves = wants_net.then(|| {
        GetaReader::default()
            .read(&mut board.clone(), stone)
            .working_moves
    });
    Answer {
        stone,
        color: board.stone(stone).unwrap_or(Color::Black),
        liberties: board.liberty_count(stone),
        first,
        reading,
        net_moves,
    }
}

fn print_text(game: &Game, answers: &[Answer]) {
    let board = game.board();
    let last = game.last_move().and_then(|(_, mv)| mv.point());
    let mut start = Diagram::new(board)
        .colored(terminal::is_colored())
        .last_move(last);
    for answer in answers {
        for &point in &answer.reading.working_moves {
            start = start.mark(point, '*');
        }
    }
    println!("{start}");
    if answers.is_empty() {
        println!("No block has one or two liberties: there is no ladder to read.");
    }
    for answer in answers {
        println!("{}", sentence(answer));
        if answer.reading.line.len() > 1 {
            println!("  {}", line_text(&answer.reading.line));
        }
    }
    if let [only] = answers
        && only.reading.line.len() > 1
    {
        let mut end = board.clone();
        for &(color, point) in &only.reading.line {
            let _ = end.play(point, color);
        }
        let last = only.reading.line.last().map(|&(_, point)| point);
        println!(
            "\n{}",
            Diagram::new(&end)
                .colored(terminal::is_colored())
                .last_move(last)
        );
    }
}

fn sentence(answer: &Answer) -> String {
    let Answer {
        stone,
        color,
        liberties,
        first,
        reading,
        net_moves,
    } = answer;
    let block = format!(
        "{color} at {stone} ({liberties} {})",
        if *liberties == 1 {
            "liberty"
        } else {
            "liberties"
        }
    );
    let first = first_name(*first);
    let moves = match reading.working_moves.as_slice() {
        [] => String::new(),
        moves => format!(" with {}", list(moves, " or ")),
    };
    let verdict = match reading.verdict {
        LadderVerdict::Captured => "is captured",
        LadderVerdict::Escapes => "escapes",
        LadderVerdict::Unknown => "is not decided within the node budget (raise --nodes)",
    };
    let net = match net_moves.as_deref() {
        None => String::new(),
        Some([]) => "; no net works either".to_owned(),
        Some(moves) => format!("; but a net at {} captures", list(moves, " or ")),
    };
    format!(
        "{block}, {first} first: {verdict}{moves}{net} [{} nodes]",
        reading.nodes
    )
}

fn first_name(first: First) -> &'static str {
    match first {
        First::Attacker => "attacker",
        First::Defender => "defender",
    }
}

fn list(points: &[Point], separator: &str) -> String {
    points
        .iter()
        .map(Point::to_string)
        .collect::<Vec<_>>()
        .join(separator)
}

fn line_text(line: &[(Color, Point)]) -> String {
    let points: Vec<Point> = line.iter().map(|&(_, point)| point).collect();
    format!("{} plays {}", line[0].0, list(&points, " "))
}

fn as_json(args: &Args, game: &Game, answers: &[Answer]) -> serde_json::Value {
    let points = |points: &[Point]| points.iter().map(Point::to_string).collect::<Vec<_>>();
    let readings: Vec<_> = answers
        .iter()
        .map(|answer| {
            let line: Vec<_> = answer
                .reading
                .line
                .iter()
                .map(|(color, point)| json!([color.to_string(), point.to_string()]))
                .collect();
            json!({
                "at": answer.stone.to_string(),
                "color": answer.color.to_string(),
                "liberties": answer.liberties,
                "first": first_name(answer.first),
                "verdict": match answer.reading.verdict {
                    LadderVerdict::Captured => "captured",
                    LadderVerdict::Escapes => "escapes",
                    LadderVerdict::Unknown => "unknown",
                },
                "working_moves": points(&answer.reading.working_moves),
                "net_moves": answer.net_moves.as_deref().map(points),
                "line": line,
                "nodes": answer.reading.nodes,
            })
        })
        .collect();
    json!({
        "file": args.file.display().to_string(),
        "size": game.size().get(),
        "move": game.move_number(),
        "readings": readings,
    })
}
