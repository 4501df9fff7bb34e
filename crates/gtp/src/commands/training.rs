//! Training records in and out of files.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use go::sgf;
use go_player::{record, supervised};

use super::{SYNTAX, color, write_file};
use crate::{
    engine::{Answer, Engine},
    line::Request,
};

/// The records of the game so far: `f.0.gz`.
pub fn dump_training(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let (Some(winner), Some(file)) = (color(request, 0), request.rest(1)) else {
        return Ok(Answer::failure(SYNTAX));
    };
    let steps = engine.player.steps();
    let chunk = record::write_chunk(steps.iter().map(|step| step.with_result(winner)));
    Ok(write_game(engine, &file, &chunk))
}

/// How sure network and search were: `f.0.gz`.
pub fn dump_debug(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let Some(file) = request.rest(0) else {
        return Ok(Answer::failure(SYNTAX));
    };
    let player = &engine.player;
    let network = player.network().file.to_string_lossy();
    let text = record::write_debug(player.steps(), player.options().resign.percent(), &network);
    Ok(write_game(engine, &file, &text))
}

fn write_game(engine: &mut Engine, file: &str, text: &str) -> Answer {
    if engine.player.steps().is_empty() {
        return Answer::failure("no training data: no move was generated in this game");
    }
    engine.outputs.remark("Writing chunk 0\n");
    write_chunk(file, 0, text).map(|()| "").into()
}

/// Everything that was recorded, to be loaded again.
pub fn save_training(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let Some(file) = request.rest(0) else {
        return Ok(Answer::failure(SYNTAX));
    };
    let text = record::write_saved(engine.player.steps());
    let written = write_file(Path::new(&file), text.as_bytes());
    Ok(written.map(|()| "").into())
}

/// Adds what was saved.
pub fn load_training(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let Some(file) = request.rest(0) else {
        return Ok(Answer::failure(SYNTAX));
    };
    let size = engine.player.game().size();
    let steps = fs::read_to_string(&file)
        .map_err(|error| error.to_string())
        .and_then(|text| record::read_saved(&text, size).map_err(|error| error.to_string()));
    Ok(steps
        .map(|steps| engine.player.add_steps(steps))
        .map(|()| "")
        .map_err(|error| format!("cannot load {file}: {error}"))
        .into())
}

/// The games of an SGF file as records: `out.0.gz`, `out.1.gz`, ...
pub fn dump_supervised(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let (Some(source), Some(target)) = (request.arguments.first(), request.rest(1)) else {
        return Ok(Answer::failure(SYNTAX));
    };
    let collection = fs::read(source)
        .map_err(|error| error.to_string())
        .and_then(|bytes| sgf::read(&bytes).map_err(|error| error.to_string()));
    let games = match collection {
        Ok(collection) => collection.games,
        Err(error) => return Ok(Answer::failure(format!("cannot load {source}: {error}"))),
    };
    let player = &engine.player;
    let result = supervised::from_games(&games, player.judge().size(), player.options().seed);
    for (index, chunk) in result.chunks.into_iter().enumerate() {
        engine.outputs.remark(&format!("Writing chunk {index}\n"));
        if let Err(error) = write_chunk(&target, index, &record::write_chunk(chunk)) {
            return Ok(Answer::failure(error));
        }
    }
    engine.outputs.remark(&format!(
        "{} games used, {} skipped\n",
        result.used, result.skipped
    ));
    Ok(Answer::ok(""))
}

fn write_chunk(file: &str, index: usize, text: &str) -> Result<(), String> {
    let path = PathBuf::from(format!("{file}.{index}.gz"));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let packed = encoder
        .write_all(text.as_bytes())
        .and_then(|()| encoder.finish());
    let bytes = packed.map_err(|error| error.to_string())?;
    write_file(&path, &bytes)
}
