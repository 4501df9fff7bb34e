//! A conversation with the engine, written down.

use go_player::Options;
use gtp::{Input, Personality};

use crate::support::{engine, quick_options};

/// Answers each line and writes down both sides.
pub fn converse(script: &str) -> String {
    converse_with(script, 9, quick_options(), Personality::Tengen)
}

pub fn converse_with(
    script: &str,
    side: usize,
    options: Options,
    personality: Personality,
) -> String {
    // Something is always waiting, so that analyses end as soon as they can.
    let input = Input::from_text("");
    let (mut engine, answers, remarks) = engine(side, options, personality, input);
    let mut transcript = String::new();
    for line in script.lines() {
        engine.handle(line).unwrap();
        transcript.push_str(&format!("> {line}\n"));
        transcript.push_str(&masked(line, &answers.take()));
        let said = remarks.take();
        let board_or_map = said
            .lines()
            .find(|line| line.starts_with("Passes:") || line.starts_with("pass:"));
        if let Some(line) = board_or_map {
            transcript.push_str(&format!(
                "[on stderr: {}]\n",
                line.split(':').next().unwrap()
            ));
        }
    }
    transcript
}

/// Replaces what depends on the network or on the day.
fn masked(line: &str, answer: &str) -> String {
    let mut words = line.split_whitespace();
    let command = words.find(|word| word.parse::<u32>().is_err());
    let has = |name: &str| command == Some(name);
    let thinks = ["genmove", "reg_genmove", "kgs-genmove_cleanup", "go"]
        .iter()
        .any(|name| has(name));
    let mut text = String::new();
    for part in answer.split_inclusive('\n') {
        let masked = if part.starts_with("info move ") {
            let infos = mask_infos(part);
            // How many there are depends on how busy the machine is.
            if text.ends_with(&infos) {
                continue;
            }
            infos
        } else if part.starts_with("play ") {
            "play [move]\n".to_owned()
        } else if thinks && part.starts_with('=') {
            let sign = part.split(' ').next().unwrap();
            format!("{sign} [move]\n")
        } else if has("heatmap")
            && part.split_whitespace().all(|w| w.parse::<u32>().is_ok())
            && part.trim().len() > 1
        {
            "[row]\n".to_owned()
        } else if let Some((label, _)) = part.split_once(": ").filter(|_| has("heatmap")) {
            format!("{label}: [number]\n")
        } else if has("cputime") && part.starts_with('=') {
            "= [seconds]\n".to_owned()
        } else if has("gomill-explain_last_move") {
            mask_explanation(part)
        } else if let Some(at) = part.find("DT[") {
            format!(
                "{}DT[date]{}",
                &part[..at],
                &part[at + "DT[yyyy-mm-dd]".len()..]
            )
        } else if has("showboard") && part.contains(" time: ") {
            format!("{} time: [time]\n", part.split(' ').next().unwrap())
        } else {
            part.to_owned()
        };
        text.push_str(&masked);
    }
    text
}

/// Checks the grammar of an analysis line and keeps its keys.
fn mask_infos(line: &str) -> String {
    let moves: Vec<&str> = line.trim().split("info ").skip(1).collect();
    for (order, text) in moves.iter().enumerate() {
        let (figures, pv) = text.split_once(" pv ").unwrap();
        let words: Vec<&str> = figures.split_whitespace().collect();
        let keys: Vec<&str> = words.iter().step_by(2).copied().collect();
        assert_eq!(keys, ["move", "visits", "winrate", "prior", "lcb", "order"]);
        assert!(
            words[3..]
                .iter()
                .step_by(2)
                .all(|w| w.parse::<u32>().is_ok()),
            "{line}"
        );
        assert_eq!(words[11], order.to_string());
        assert!(pv.starts_with(words[1]), "{line}");
    }
    "[info]\n".to_owned()
}

fn mask_explanation(line: &str) -> String {
    match line.find(" => ") {
        Some(at) => format!("{} => [move]\n", &line[..at]),
        None if line.starts_with("Playouts: ") => "Playouts: [figures]\n".to_owned(),
        None => line.to_owned(),
    }
}
