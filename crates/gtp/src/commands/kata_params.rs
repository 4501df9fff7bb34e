//! `kata-get-param` and its kind: what KataGo's clients change about a running engine.

use std::io;

use go::Color;
use go_player::{HumanProfile, Options, clock::TimeControl};
use serde_json::{Map, Value, json};

use super::SYNTAX;
use crate::{
    engine::{Answer, Engine},
    kata_report::{Perspective, six_digits},
    line::Request,
};

/// What KataGo says for no limit.
const NO_LIMIT: u64 = 1 << 50;
/// The most that doublings of playouts make sense for.
const MOST_DOUBLINGS: f64 = 3.0;

/// A parameter: its name, how it is read and how it is set.
struct Param {
    name: &'static str,
    get: fn(&Engine) -> String,
    set: fn(&mut Engine, &str) -> Result<(), String>,
}

static PARAMS: &[Param] = &[
    Param {
        name: "playoutDoublingAdvantage",
        get: |engine| six_digits(f64::from(engine.player.options().view.playout_doublings)),
        set: |engine, text| {
            let doublings = within(text, -MOST_DOUBLINGS..=MOST_DOUBLINGS)?;
            change(engine, |options| {
                options.view.playout_doublings = doublings as f32;
            })
        },
    },
    Param {
        name: "analysisWideRootNoise",
        get: |engine| six_digits(engine.player.options().wide_root_noise),
        set: |engine, text| {
            let noise = within(text, 0.0..=5.0)?;
            change(engine, |options| options.wide_root_noise = noise)
        },
    },
    Param {
        name: "analysisIgnorePreRootHistory",
        get: |engine| (!engine.player.options().analysis_shows_history).to_string(),
        set: |engine, text| {
            let ignores = truth(text)?;
            change(engine, |options| options.analysis_shows_history = !ignores)
        },
    },
    Param {
        name: "numSearchThreads",
        get: |engine| engine.player.options().threads.to_string(),
        set: |engine, text| {
            let threads = within(text, 1.0..=Options::MOST_THREADS as f64)? as usize;
            change(engine, |options| options.threads = threads)
        },
    },
    Param {
        name: "maxVisits",
        get: |engine| limit_text(engine.player.options().visits),
        set: |engine, text| {
            let visits = limit(text)?;
            change(engine, |options| options.visits = visits)
        },
    },
    Param {
        name: "maxPlayouts",
        get: |engine| limit_text(engine.player.options().playouts),
        set: |engine, text| {
            let playouts = limit(text)?;
            change(engine, |options| options.playouts = playouts)
        },
    },
    Param {
        name: "maxTime",
        get: |engine| match engine.no_clock {
            TimeControl::PerMove { time } => six_digits(time as f64 / 100.0),
            _ => "1e+20".to_owned(),
        },
        set: |engine, text| {
            let seconds = within(text, 0.0..=f64::MAX)?;
            let is_limit = seconds < super::time::MOST_SECONDS;
            engine.no_clock = if is_limit {
                TimeControl::PerMove {
                    time: (seconds * 100.0) as i64,
                }
            } else {
                TimeControl::Unlimited
            };
            let control = engine.player.clock(Color::Black).control();
            if matches!(
                control,
                TimeControl::PerMove { .. } | TimeControl::Unlimited
            ) {
                engine.player.set_time(engine.no_clock);
            }
            Ok(())
        },
    },
    Param {
        name: "staticScoreUtilityFactor",
        get: |engine| six_digits(engine.player.options().utility.static_score),
        set: |engine, text| {
            let factor = within(text, 0.0..=1.0)?;
            change(engine, |options| options.utility.static_score = factor)
        },
    },
    Param {
        name: "dynamicScoreUtilityFactor",
        get: |engine| six_digits(engine.player.options().utility.dynamic_score),
        set: |engine, text| {
            let factor = within(text, 0.0..=1.0)?;
            change(engine, |options| options.utility.dynamic_score = factor)
        },
    },
    Param {
        name: "humanSLProfile",
        get: |engine| {
            let options = engine.player.options();
            let is_human = engine.player.network().encoder.imitates_people();
            if is_human {
                options.view.profile.to_string()
            } else {
                String::new()
            }
        },
        set: |engine, text| {
            if !engine.player.network().encoder.imitates_people() {
                return Err(
                    "this network does not imitate people: take a human-imitation network"
                        .to_owned(),
                );
            }
            let profile = text
                .parse::<HumanProfile>()
                .map_err(|error| error.to_string())?;
            change(engine, |options| options.view.profile = profile)
        },
    },
    Param {
        name: "reportAnalysisWinratesAs",
        get: |engine| {
            match engine.perspective {
                Perspective::Mover => "SIDETOMOVE",
                Perspective::Always(Color::Black) => "BLACK",
                Perspective::Always(Color::White) => "WHITE",
            }
            .to_owned()
        },
        set: |engine, text| {
            engine.perspective = match text.to_ascii_uppercase().as_str() {
                "SIDETOMOVE" => Perspective::Mover,
                "BLACK" => Perspective::Always(Color::Black),
                "WHITE" => Perspective::Always(Color::White),
                _ => return Err("expected SIDETOMOVE, BLACK or WHITE".to_owned()),
            };
            Ok(())
        },
    },
];

fn find(name: &str) -> Result<&'static Param, String> {
    let found = PARAMS
        .iter()
        .find(|param| param.name.eq_ignore_ascii_case(name));
    found.ok_or_else(|| format!("no parameter is called {name}; kata-list-params names them"))
}

fn within(text: &str, range: std::ops::RangeInclusive<f64>) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .filter(|number| range.contains(number))
        .ok_or_else(|| {
            format!(
                "expected a number from {} to {}, not {text}",
                range.start(),
                range.end()
            )
        })
}

fn truth(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("expected true or false, not {text}")),
    }
}

fn limit(text: &str) -> Result<Option<u64>, String> {
    let count: f64 = within(text, 1.0..=f64::MAX)?;
    Ok((count < NO_LIMIT as f64).then_some(count as u64))
}

fn limit_text(limit: Option<u64>) -> String {
    limit.unwrap_or(NO_LIMIT).to_string()
}

fn change(engine: &mut Engine, edit: impl FnOnce(&mut Options)) -> Result<(), String> {
    let mut options = engine.player.options().clone();
    edit(&mut options);
    engine
        .player
        .set_options(options)
        .map_err(|error| error.to_string())
}

/// Sets a parameter by name.
pub(crate) fn set_param(engine: &mut Engine, name: &str, value: &str) -> Result<(), String> {
    (find(name)?.set)(engine, value)
}

pub fn get(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let [name] = request.arguments.as_slice() else {
        return Ok(Answer::failure(SYNTAX));
    };
    Ok(find(name).map(|param| (param.get)(engine)).into())
}

pub fn set(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let [name, value] = request.arguments.as_slice() else {
        return Ok(Answer::failure("expected a parameter and its value"));
    };
    Ok(set_param(engine, name, value).map(|()| "").into())
}

pub fn list(_: &mut Engine, _: &Request) -> io::Result<Answer> {
    let names: Vec<&str> = PARAMS.iter().map(|param| param.name).collect();
    Ok(Answer::ok(names.join(" ")))
}

pub fn get_all(engine: &mut Engine, _: &Request) -> io::Result<Answer> {
    let values: Map<String, Value> = PARAMS
        .iter()
        .map(|param| (param.name.to_owned(), json!((param.get)(engine))))
        .collect();
    Ok(Answer::ok(Value::Object(values).to_string()))
}

pub fn set_all(engine: &mut Engine, request: &Request) -> io::Result<Answer> {
    let text = request.rest(0).unwrap_or_default();
    let Ok(Value::Object(values)) = serde_json::from_str(&text) else {
        return Ok(Answer::failure("expected a JSON object of parameters"));
    };
    for (name, value) in &values {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        if let Err(why) = set_param(engine, name, &value) {
            return Ok(Answer::failure(why));
        }
    }
    Ok(Answer::ok(""))
}
