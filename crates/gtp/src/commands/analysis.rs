//! What the engine thinks: analyses, maps, explanations, and how fast it thinks.

use std::{io, time::Instant};

use go::Symmetry;
use go_player::Request as Thinking;

use super::{SYNTAX, moves, number};
use crate::{
    engine::{Answer, Engine, Infos, Lines, Personality},
    kata_report::Numbers,
    line::Request,
    report,
    tags::{self, AnalyzeTags, TagContext},
};

/// Positions that `netbench` evaluates unless told otherwise, and the most it will.
const BENCH_POSITIONS: usize = 1600;
const BENCH_MOST: usize = 1_000_000;

pub fn analyze(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    analyze_with(engine, request, Lines::LeelaZero)
}

pub fn kata_analyze(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    analyze_with(engine, request, Lines::KataGo(Numbers::Short))
}

/// `analyze`: for clients that need a decimal point in every number.
pub fn pointed_analyze(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    analyze_with(engine, request, Lines::KataGo(Numbers::Pointed))
}

fn analyze_with(engine: &mut Engine, request: &Request, lines: Lines) -> io::Result<Answer> {
    let Some(tags) = read_tags(engine, request) else {
        return Ok(Answer::failure("cannot parse analyze tags"));
    };
    begin_stream(engine, request)?;
    engine.player.set_to_move(tags.color);
    if engine.player.resigned().is_none() {
        stream(engine, &tags, lines, Streaming::Analysis)?;
    }
    engine.outputs.answer("\n")?;
    Ok(Answer::Printed)
}

/// What an analysed move is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    /// It is made.
    Play,
    /// It is only named.
    Say,
    /// It is only named, and not even that if something else is asked for first.
    SayUnlessInterrupted,
}

pub fn genmove_analyze(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    genmove_with(engine, request, Lines::LeelaZero, After::Play)
}

pub fn kata_genmove_analyze(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    genmove_with(engine, request, Lines::KataGo(Numbers::Short), After::Play)
}

pub fn pointed_genmove_analyze(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    genmove_with(
        engine,
        request,
        Lines::KataGo(Numbers::Pointed),
        After::Play,
    )
}

pub fn kata_search_analyze(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    genmove_with(engine, request, Lines::KataGo(Numbers::Short), After::Say)
}

pub fn kata_search_analyze_cancellable(
    engine: &mut Engine,
    request: &Request,
) -> io::Result<Answer> {
    let lines = Lines::KataGo(Numbers::Short);
    genmove_with(engine, request, lines, After::SayUnlessInterrupted)
}

fn genmove_with(
    engine: &mut Engine,
    request: &Request,
    lines: Lines,
    after: After,
) -> io::Result<Answer> {
    let Some(tags) = read_tags(engine, request) else {
        return Ok(Answer::failure("cannot parse analyze tags"));
    };
    begin_stream(engine, request)?;
    let thinking = Thinking {
        restrictions: tags.restrictions.clone(),
        only_say: after != After::Play,
        ..Thinking::default()
    };
    let input = engine.input.clone();
    let interrupted = move || after == After::SayUnlessInterrupted && input.is_pending();
    let perspective = engine.perspective;
    let mut infos = Infos::new(
        &mut engine.outputs,
        &engine.player,
        &tags,
        lines,
        perspective,
    );
    let player = &mut engine.player;
    let thought = match player.generate_unless(tags.color, &thinking, &interrupted, &mut infos) {
        Ok(Some(thought)) => thought,
        Ok(None) => {
            engine.outputs.answer("play cancelled\n\n")?;
            return Ok(Answer::Printed);
        }
        Err(error) => {
            engine.outputs.remark_failure(&error)?;
            engine.outputs.answer("\n")?;
            return Ok(Answer::Printed);
        }
    };
    infos.finish(&engine.player.view())?;
    let decision = moves::decision_text(thought.decision);
    engine.outputs.remark(&report::table(
        &thought.snapshot,
        &thought.report,
        &engine.player.tree_shape(),
    ));
    moves::remark_cost(engine);
    engine.outputs.answer(&format!("play {decision}\n"))?;
    if after == After::Play && engine.player.ponders() {
        let opponent = AnalyzeTags {
            restrictions: go_player::Restrictions::default(),
            ..tags
        };
        stream(engine, &opponent, lines, Streaming::Pondering)?;
    }
    engine.outputs.answer("\n")?;
    Ok(Answer::Printed)
}

/// The first line of an answer that comes in parts.
fn begin_stream(engine: &mut Engine, request: &Request) -> io::Result<()> {
    let id = request.id.as_deref().unwrap_or_default();
    engine.outputs.answer(&format!("={id}\n"))
}

/// Why lines of analysis are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Streaming {
    Analysis,
    Pondering,
}

/// Analyses the current position until something is asked for.
fn stream(
    engine: &mut Engine,
    tags: &AnalyzeTags,
    lines: Lines,
    streaming: Streaming,
) -> io::Result<()> {
    let input = engine.input.clone();
    let perspective = engine.perspective;
    let mut infos = Infos::new(
        &mut engine.outputs,
        &engine.player,
        tags,
        lines,
        perspective,
    );
    let interrupted = move || input.is_pending();
    let player = &mut engine.player;
    let searched = match streaming {
        Streaming::Analysis => player.analyze(&tags.restrictions, &interrupted, &mut infos),
        Streaming::Pondering => player.ponder(&interrupted, &mut infos),
    };
    let (snapshot, report) = match searched {
        Ok(found) => found,
        Err(error) => return engine.outputs.remark_failure(&error),
    };
    infos.finish(&engine.player.view())?;
    let shape = engine.player.tree_shape();
    engine
        .outputs
        .remark(&report::table(&snapshot, &report, &shape));
    Ok(())
}

fn read_tags(engine: &Engine, request: &Request) -> Option<AnalyzeTags> {
    let game = engine.player.game();
    let context = TagContext {
        to_move: game.to_move(),
        move_number: game.move_number(),
        size: game.size(),
    };
    let words: Vec<String> = request
        .arguments
        .iter()
        .map(|word| word.to_ascii_lowercase())
        .collect();
    tags::parse(&words, context)
}

/// The network's policy, seen through one symmetry, the mean of all, or each in turn.
pub fn heatmap(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let player = &engine.player;
    let opinions: Result<Vec<_>, _> = match request.word(0).as_deref() {
        None => player
            .opinion(Some(Symmetry::IDENTITY))
            .map(|one| vec![one]),
        Some("average" | "avg") => player.opinion(None).map(|mean| vec![mean]),
        Some("all") => Symmetry::ALL
            .iter()
            .map(|&symmetry| player.opinion(Some(symmetry)))
            .collect(),
        Some(word) => match word.parse().ok().and_then(Symmetry::new) {
            Some(symmetry) => player.opinion(Some(symmetry)).map(|one| vec![one]),
            None => return Ok(Answer::failure(SYNTAX)),
        },
    };
    let opinions = match opinions {
        Ok(opinions) => opinions,
        Err(error) => return Ok(Answer::failure(error.to_string())),
    };
    let board = player.game().board();
    let maps: Vec<String> = opinions
        .iter()
        .map(|opinion| report::heatmap(opinion, board))
        .collect();
    let text = maps.join("\n");
    if engine.personality == Personality::LeelaZero {
        engine.outputs.remark(&text);
        return Ok(Answer::ok(""));
    }
    Ok(Answer::ok(format!("\n{text}")))
}

pub fn explain_last_move(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    let thought = engine.player.last_thought();
    Ok(Answer::ok(
        thought
            .map(|thought| report::explanation(thought))
            .unwrap_or_default(),
    ))
}

/// Evaluates the current position over and over, through all symmetries, past the memory.
pub fn netbench(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let count = match request.arguments.first() {
        None => BENCH_POSITIONS,
        Some(_) => match number(request, 0) {
            Some(count) if count <= BENCH_MOST => count,
            _ => return Ok(Answer::failure(SYNTAX)),
        },
    };
    let start = Instant::now();
    for index in 0..count {
        let evaluated = engine
            .player
            .opinion(Symmetry::new(index % Symmetry::COUNT));
        if let Err(error) = evaluated {
            return Ok(Answer::failure(error.to_string()));
        }
    }
    let seconds = start.elapsed().as_secs_f64().max(0.01);
    engine.outputs.remark(&format!(
        "{count:5} evaluations in {seconds:5.2} seconds -> {:.0} n/s\n",
        count as f64 / seconds
    ));
    Ok(Answer::ok(""))
}
