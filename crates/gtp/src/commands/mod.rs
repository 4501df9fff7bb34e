//! The commands: one table, one file a subject.

mod analysis;
mod board;
mod dynamic_komi;
mod game_record;
mod information;
mod kata_params;
mod katago;
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

pub(crate) use kata_params::set_param;

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
    /// Whether it only makes sense with a network that knows scores.
    pub needs_score: bool,
    /// Whether Leela Zero does not have it, and other programs do.
    is_katagos: bool,
}

const fn command(name: &'static str, run: Handler) -> Command {
    Command {
        name,
        run,
        listed: true,
        then_ponders: false,
        quits: false,
        needs_score: false,
        is_katagos: false,
    }
}

const fn hidden(name: &'static str, run: Handler) -> Command {
    Command {
        listed: false,
        ..command(name, run)
    }
}

const fn katagos(command: Command) -> Command {
    Command {
        is_katagos: true,
        ..command
    }
}

const fn needs_score(command: Command) -> Command {
    Command {
        needs_score: true,
        ..katagos(command)
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
    katagos(command("kata-list_time_settings", time::list_time_settings)),
    katagos(command(
        "rectangular_boardsize",
        katago::rectangular_boardsize,
    )),
    katagos(command("set_position", katago::set_position)),
    katagos(command("get_komi", katago::get_komi)),
    katagos(command("kata-get-rules", katago::get_rules)),
    katagos(command("kata-set-rule", katago::set_rule)),
    katagos(command("kata-set-rules", katago::set_rules)),
    katagos(command("kgs-rules", katago::kgs_rules)),
    katagos(command("kata-get-models", katago::get_models)),
    katagos(command("kata-get-param", kata_params::get)),
    katagos(command("kata-set-param", kata_params::set)),
    katagos(command("kata-list-params", kata_params::list)),
    katagos(command("kata-search", moves::reg_genmove)),
    katagos(command(
        "kata-search_cancellable",
        katago::search_cancellable,
    )),
    katagos(command("gomill-cpu_time", information::cputime)),
    katagos(command("stop", information::nothing)),
    needs_score(command("analyze", analysis::pointed_analyze)),
    needs_score(command(
        "genmove_analyze",
        analysis::pointed_genmove_analyze,
    )),
    needs_score(command("kata-analyze", analysis::kata_analyze)),
    needs_score(command(
        "kata-genmove_analyze",
        analysis::kata_genmove_analyze,
    )),
    needs_score(command(
        "kata-search_analyze",
        analysis::kata_search_analyze,
    )),
    needs_score(command(
        "kata-search_analyze_cancellable",
        analysis::kata_search_analyze_cancellable,
    )),
    needs_score(command("kata-raw-nn", katago::raw_network)),
    hidden("kata-raw-human-nn", katago::raw_human_network),
    hidden("genmove_debug", katago::genmove_debug),
    hidden("kata-search_debug", katago::search_debug),
    hidden("kata-benchmark", katago::benchmark),
    hidden("kata-debug-print-tc", katago::print_clock),
    hidden("debug_moves", moves::move_history),
    hidden("kata-get-params", kata_params::get_all),
    hidden("kata-set-params", kata_params::set_all),
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

/// What `list_commands` gives a client that expects Leela Zero.
pub(crate) fn listed_for_leela_zero() -> Vec<&'static str> {
    let own = listed().filter(|command| !command.is_katagos);
    own.map(|command| command.name).collect()
}

/// What `list_commands` gives a client that expects KataGo, in that program's order.
pub(crate) static KATAGO_LIST: &[&str] = &[
    "protocol_version",
    "name",
    "version",
    "known_command",
    "list_commands",
    "quit",
    "boardsize",
    "rectangular_boardsize",
    "clear_board",
    "set_position",
    "komi",
    "get_komi",
    "play",
    "undo",
    "kata-get-rules",
    "kata-set-rule",
    "kata-set-rules",
    "kata-get-models",
    "kata-get-param",
    "kata-set-param",
    "kata-list-params",
    "kgs-rules",
    "genmove",
    "kata-search",
    "kata-search_cancellable",
    "genmove_debug",
    "kata-search_debug",
    "clear_cache",
    "showboard",
    "fixed_handicap",
    "place_free_handicap",
    "set_free_handicap",
    "time_settings",
    "kgs-time_settings",
    "time_left",
    "kata-list_time_settings",
    "kata-time_settings",
    "final_score",
    "final_status_list",
    "loadsgf",
    "printsgf",
    "lz-genmove_analyze",
    "kata-genmove_analyze",
    "kata-search_analyze",
    "kata-search_analyze_cancellable",
    "lz-analyze",
    "kata-analyze",
    "kata-raw-nn",
    "kata-raw-human-nn",
    "cputime",
    "gomill-cpu_time",
    "kata-benchmark",
    "kata-debug-print-tc",
    "debug_moves",
    "stop",
];

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
