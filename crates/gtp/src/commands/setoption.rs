//! `lz-setoption`: everything of the player's table of options can be changed between two moves.

use std::io;

use go_player::{Contradiction, Options, option_rows};

use crate::{
    engine::{Answer, Engine},
    line::Request,
};

const INCORRECT: &str = "incorrect value";

/// `name N value V`; without arguments, the list of options with their present values.
pub fn setoption(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    if request.arguments.is_empty() {
        return Ok(Answer::ok(list(engine.player.options())));
    }
    let Some((name, value)) = name_and_value(request) else {
        return Ok(Answer::failure("incorrect syntax for lz-setoption"));
    };
    let row = option_rows().find(|row| row.name.eq_ignore_ascii_case(&name));
    let Some(row) = row else {
        return Ok(Answer::failure("Unknown option"));
    };
    let before = engine.player.options();
    let memory_before = before.memory;
    let mut options = before.clone();
    if row.set(&mut options, &value).is_err() {
        return Ok(Answer::failure(INCORRECT));
    }
    if ponders_away_playouts(&options) && !ponders_away_playouts(before) {
        return Ok(Answer::failure(INCORRECT));
    }
    let memory_changed = options.memory != memory_before;
    if let Err(error) = engine.player.set_options(options) {
        return Ok(Answer::failure(error.to_string()));
    }
    if !memory_changed {
        return Ok(Answer::ok(""));
    }
    let shares = engine.player.memory_shares();
    Ok(Answer::ok(format!(
        "Setting max tree size to {} MiB and cache size to {} MiB.",
        shares.tree_mib(),
        shares.cache_mib()
    )))
}

/// Leela Zero refuses this one contradiction as an incorrect value; for others there are sentences.
fn ponders_away_playouts(options: &Options) -> bool {
    options.check() == Err(Contradiction::PonderingUsesPlayouts)
}

fn list(options: &Options) -> String {
    let lines: Vec<String> = option_rows()
        .map(|row| {
            let (name, announcement) = (row.name, row.announcement());
            format!(
                "option name {name} {announcement} value {}",
                row.show(options)
            )
        })
        .collect();
    format!("\n{}", lines.join("\n"))
}

fn name_and_value(request: &Request) -> Option<(String, String)> {
    let words = &request.arguments;
    if !words.first()?.eq_ignore_ascii_case("name") {
        return None;
    }
    let at = words.iter().position(|w| w.eq_ignore_ascii_case("value"))?;
    let (name, value) = (words.get(1..at)?, words.get(at + 1..)?);
    (!name.is_empty() && !value.is_empty()).then(|| (name.join(" "), value.join(" ")))
}
