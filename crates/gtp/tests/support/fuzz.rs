//! Generated GTP lines, and what every answer must look like.

use gtp::line::Request;
use rand::{Rng, RngExt, seq::IndexedRandom};

/// Commands with arguments they may take; `%c` is a colour, `%v` a vertex, `%n` a small number, `%w`
/// any word, `%f` a file.
const TEMPLATES: &[&str] = &[
    "protocol_version",
    "name",
    "version",
    "known_command %w",
    "list_commands",
    "boardsize %n",
    "boardsize 5",
    "clear_board",
    "komi %n",
    "komi 6.5",
    "komi %w",
    "play %c %v",
    "play %c %v",
    "play %c %v",
    "play %c %v",
    "play %c %v",
    "play %c pass",
    "play %c resign",
    "genmove %c",
    "genmove %c",
    "showboard",
    "undo",
    "final_score",
    "final_status_list alive",
    "final_status_list %w",
    "time_settings %n %n %n",
    "time_left %c %n %n",
    "fixed_handicap %n",
    "last_move",
    "move_history",
    "clear_cache",
    "place_free_handicap %n",
    "set_free_handicap %v %v %v",
    "loadsgf %f %n",
    "loadsgf %f",
    "printsgf",
    "printsgf %f",
    "kgs-genmove_cleanup %c",
    "kgs-time_settings byoyomi %n %n %n",
    "kgs-time_settings canadian %n %n %n",
    "kgs-time_settings fischer %n %n",
    "kgs-time_settings %w %n",
    "kgs-game_over",
    "heatmap",
    "heatmap %n",
    "heatmap average",
    "heatmap all",
    "lz-analyze %c %n",
    "lz-analyze %n minmoves %n",
    "lz-analyze avoid %c %v,%v:%v,pass %n",
    "lz-analyze allow %c %v %n %w",
    "lz-genmove_analyze %c %n",
    "lz-genmove_analyze %c interval %n avoid %c %v %n",
    "lz-genmove_analyze %c allow %c %v:%v,resign %n",
    "lz-memory_report",
    "lz-setoption",
    "lz-setoption name Visits value 3",
    "lz-setoption name Pondering value true",
    "lz-setoption name Pondering value false",
    "lz-setoption name Noise value true",
    "lz-setoption name Dumb Pass value true",
    "lz-setoption name Dumb Pass value false",
    "lz-setoption name Random Moves value %n",
    "lz-setoption name Lagbuffer value %n",
    "lz-setoption name Resign Percentage value %n",
    "lz-setoption name Time Management value fast",
    "lz-setoption name Batch Size value 2",
    "lz-setoption name %w value %w",
    "gomill-explain_last_move",
    "reg_genmove %c",
    "list_stones %c",
    "cputime",
    "gogui-analyze_commands",
    "auto",
    "go",
    "netbench 1",
    "load_training %f",
    "save_training %f",
    "dump_training %c %f",
    "dump_debug %f",
    "dump_supervised %f %f",
    "kgs-chat %w",
    "%w",
    "%w %w %w",
];

const WORDS: &[&str] = &[
    "b",
    "w",
    "black",
    "WHITE",
    "green",
    "pass",
    "resign",
    "a1",
    "e5",
    "z26",
    "i3",
    "t19",
    "-1",
    "0",
    "99999999999999999999",
    "1e999",
    "nan",
    "",
    "value",
    "name",
    "=",
    "?",
    "é4",
    "日本",
    "\u{0}",
    "\t",
    ",",
    ":",
    "a1:",
    "d4,",
    "../x",
    "%s%n",
    "'",
    "\"",
    "\\",
];

const FILES: &[&str] = &["one.sgf", "Two.SGF", "three", "no/such/file"];

/// Draws a line: mostly commands with sensible arguments, some damaged, some with an id.
pub fn line(rng: &mut impl Rng) -> String {
    let mut text = String::new();
    if rng.random_range(0..4) == 0 {
        text.push_str(&format!("{} ", rng.random_range(0..5000)));
    }
    let template = TEMPLATES.choose(rng).copied().unwrap_or_default();
    let mut characters = template.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('c') => text.push_str(["b", "w"].choose(rng).copied().unwrap_or_default()),
            Some('v') => {
                let column = char::from(b'a' + rng.random_range(0..6));
                text.push_str(&format!("{column}{}", rng.random_range(0..7)));
            }
            Some('n') => text.push_str(&rng.random_range(0..6).to_string()),
            Some('w') => text.push_str(WORDS.choose(rng).copied().unwrap_or_default()),
            Some('f') => text.push_str(FILES.choose(rng).copied().unwrap_or_default()),
            _ => {}
        }
    }
    if rng.random_range(0..5) == 0 {
        damage(&mut text, rng);
    }
    text
}

/// Drops, doubles or replaces a few characters. A limit on visits must not be damaged: without one
/// a search takes its time.
fn damage(text: &mut String, rng: &mut impl Rng) {
    if text.contains("Visits") {
        return;
    }
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(0..=characters.len());
        match rng.random_range(0..4) {
            0 if at < characters.len() => drop(characters.remove(at)),
            1 if at < characters.len() => characters.insert(at, characters[at]),
            2 => characters.insert(at, char::from(rng.random_range(0..128u8))),
            _ => characters.insert(
                at,
                *[' ', '\t', '#', '\r', '\u{7f}'].choose(rng).unwrap_or(&' '),
            ),
        }
    }
    characters.retain(|&character| character != '\n');
    *text = characters.into_iter().collect();
}

/// Whether an answer is what GTP allows for this line.
pub fn check(line: &str, answer: &str) -> Result<(), String> {
    let Some(request) = Request::parse(line) else {
        return if answer.is_empty() {
            Ok(())
        } else {
            Err(format!("{line:?} wants no answer but got {answer:?}"))
        };
    };
    let wrong = |why: &str| Err(format!("{line:?} was answered {answer:?}: {why}"));
    let Some(body) = answer.strip_suffix("\n\n") else {
        return wrong("no empty line at the end");
    };
    if body.contains("\n\n") {
        return wrong("an empty line inside");
    }
    let Some(rest) = body.strip_prefix(['=', '?']) else {
        return wrong("no sign");
    };
    let id = request.id.unwrap_or_default();
    match rest.strip_prefix(id.as_str()) {
        Some(text) if text.is_empty() || text.starts_with([' ', '\n']) => Ok(()),
        _ => wrong("not the request's id"),
    }
}
