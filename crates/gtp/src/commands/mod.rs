//! The commands: one table, one file a subject.

mod analysis;
mod board;
mod dynamic_komi;
mod game_record;
mod information;
mod moves;
mod record_time;
mod setoption;
mod time;
mod training;

use std::{io, path::Path};

use crate::{
    engine::{Answer, Engine},
    line::Request,
};

/// What Leela Zero answers to arguments it cannot read.
pub(crate) const SYNTAX: &str = "syntax not understood";

type Handler = fn(&mut Engine, &Request) -> io::Result<Answer>;

/// A command and how it behaves.
pub(crate) struct Command {
    pub name: &'static str,
    pub run: Handler,
    /// Whether `list_commands` names it.
    listed: bool,
    /// Whether it is followed by thinking on the opponent's time.
    pub then_ponders: bool,
    /// Whether it is the last one.
    pub quits: bool,
}

const fn command(name: &'static str, run: Handler) -> Command {
    Command {
        name,
        run,
        listed: true,
        then_ponders: false,
        quits: false,
    }
}

const fn hidden(name: &'static str, run: Handler) -> Command {
    Command {
        listed: false,
        ..command(name, run)
    }
}

const fn then_ponders(command: Command) -> Command {
    Command {
        then_ponders: true,
        ..command
    }
}

const fn then_quits(command: Command) -> Command {
    Command {
        quits: true,
        ..command
    }
}

/// All commands: Leela Zero's in its own order, then those other tools ask for, then hidden ones.
static COMMANDS: &[Command] = &[
    command("protocol_version", information::protocol_version),
    command("name", information::name),
    command("version", information::version),
    then_quits(command("quit", information::nothing)),
    command("known_command", information::known_command),
    command("list_commands", information::list_commands),
    command("boardsize", board::boardsize),
    command("clear_board", board::clear_board),
    command("komi", board::komi),
    command("play", moves::play),
    then_ponders(command("genmove", moves::genmove)),
    command("showboard", board::showboard),
    command("undo", moves::undo),
    command("final_score", board::final_score),
    command("final_status_list", board::final_status_list),
    command("time_settings", time::time_settings),
    then_ponders(command("time_left", time::time_left)),
    command("fixed_handicap", board::fixed_handicap),
    command("last_move", moves::last_move),
    command("move_history", moves::move_history),
    command("clear_cache", information::clear_cache),
    command("place_free_handicap", board::place_free_handicap),
    command("set_free_handicap", board::set_free_handicap),
    command("loadsgf", game_record::loadsgf),
    command("printsgf", game_record::printsgf),
    then_ponders(command("kgs-genmove_cleanup", moves::genmove_cleanup)),
    command("kgs-time_settings", time::named_time_settings),
    command("kgs-game_over", information::nothing),
    command("heatmap", analysis::heatmap),
    command("lz-analyze", analysis::analyze),
    command("lz-genmove_analyze", analysis::genmove_analyze),
    command("lz-memory_report", information::memory_report),
    command("lz-setoption", setoption::setoption),
    command("gomill-explain_last_move", analysis::explain_last_move),
    command("dyn_komi_test", dynamic_komi::test),
    command("reg_genmove", moves::reg_genmove),
    command("list_stones", board::list_stones),
    command("cputime", information::cputime),
    command("kata-time_settings", time::named_time_settings),
    command("gogui-analyze_commands", information::analyze_commands),
    hidden("auto", moves::auto),
    hidden("go", moves::go),
    hidden("netbench", analysis::netbench),
    hidden("load_training", training::load_training),
    hidden("save_training", training::save_training),
    hidden("dump_training", training::dump_training),
    hidden("dump_debug", training::dump_debug),
    hidden("dump_supervised", training::dump_supervised),
    hidden("kgs-chat", information::chat),
    then_quits(hidden("exit", information::nothing)),
];

pub(crate) fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name)
}

pub(crate) fn listed() -> impl Iterator<Item = &'static Command> {
    COMMANDS.iter().filter(|command| command.listed)
}

/// An argument that is a number.
pub(crate) fn number<N: std::str::FromStr>(request: &Request, index: usize) -> Option<N> {
    request.arguments.get(index)?.parse().ok()
}

/// An argument that is a colour.
pub(crate) fn color(request: &Request, index: usize) -> Option<go::Color> {
    crate::tags::color(request.arguments.get(index)?)
}

/// Writes a file as a whole or not at all.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    base::write_whole(path, bytes)
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}
