//! Who the engine is, what it can do, what it takes.

use std::{fs, io};

use crate::{
    commands,
    engine::{Answer, Engine},
    line::Request,
};

/// The version of GTP that is spoken.
const PROTOCOL: &str = "2";
const MIB: usize = 1 << 20;
/// Clock ticks in a second, as Linux reports them to everybody.
const TICKS_PER_SECOND: f64 = 100.0;

pub fn protocol_version(_: &mut Engine, _: &Request) -> io::Result<Answer> {
    Ok(Answer::ok(PROTOCOL))
}

pub fn name(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    Ok(Answer::ok(engine.personality.name()))
}

pub fn version(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    let network = engine.player.network().short_name();
    Ok(Answer::ok(engine.personality.version(&network)))
}

pub fn nothing(_: &mut Engine, _: &Request) -> io::Result<Answer> {
    Ok(Answer::ok(""))
}

pub fn known_command(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let Some(name) = request.word(0) else {
        return Ok(Answer::failure(commands::SYNTAX));
    };
    let known = engine.command_names().contains(&name.as_str());
    Ok(Answer::ok(known.to_string()))
}

pub fn list_commands(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    Ok(Answer::ok(engine.command_names().join("\n")))
}

pub fn clear_cache(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    engine.player.clear_cache();
    Ok(Answer::ok(""))
}

pub fn memory_report(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    let player = &engine.player;
    let network = player.network().bytes / MIB;
    let tree = player.tree_bytes() / MIB;
    let cache = player.judge().cache_statistics().bytes / MIB;
    Ok(Answer::ok(format!(
        "Estimated total memory consumption: {} MiB.\n\
         Network with overhead: {network} MiB / Search tree: {tree} MiB / Network cache: {cache} MiB",
        network + tree + cache
    )))
}

/// Seconds of processor time so far, as GNU Go answers it.
pub fn cputime(_: &mut Engine, _: &Request) -> io::Result<Answer> {
    let answer = fs::read_to_string("/proc/self/stat")
        .ok()
        .and_then(|stat| processor_seconds(&stat))
        .map(|seconds| format!("{seconds:.3}"));
    Ok(answer
        .ok_or_else(|| "this system does not tell processor times".to_owned())
        .into())
}

/// User and system time are the 14th and 15th fields; the second, in parentheses, may hold spaces.
fn processor_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_whitespace().skip(11);
    let user: f64 = ticks.next()?.parse().ok()?;
    let system: f64 = ticks.next()?.parse().ok()?;
    Some((user + system) / TICKS_PER_SECOND)
}

/// What GoGui offers in its analysis menu: type, label, command.
pub fn analyze_commands(_: &mut Engine, _: &Request) -> io::Result<Answer> {
    Ok(Answer::ok(
        "hstring/Heatmap/heatmap\n\
         hstring/Heatmap (mean of all symmetries)/heatmap average\n\
         hstring/Explain last move/gomill-explain_last_move\n\
         string/Final score/final_score\n\
         plist/Black stones/list_stones black\n\
         plist/White stones/list_stones white\n\
         hstring/Memory/lz-memory_report\n\
         hstring/Options/lz-setoption\n\
         none/Forget opinions/clear_cache",
    ))
}

pub fn chat(_: &mut Engine, _: &Request) -> io::Result<Answer> {
    Ok(Answer::failure("I'm a go bot, not a chat bot."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_found_behind_a_name_with_spaces() {
        let stat = "12 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20";
        assert_eq!(processor_seconds(stat), Some(3.0));
        assert_eq!(processor_seconds("nonsense"), None);
    }
}
