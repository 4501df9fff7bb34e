//! The engine under the name `katago`: that program's options and configuration files.

use std::{fs, path::Path, process::ExitCode, time::Duration};

use ::analysis::Perspective;
use anyhow::{Context, Result, bail};
use clap::Parser;
use go::Rules;
use go_player::Options;
use gtp::{Engine, Personality};

use super::EngineArgs;
use crate::commands::analysis;

/// What a configuration of KataGo says beyond our own options.
#[derive(Default)]
pub struct KataSetup {
    rules: Option<Rules>,
    params: Vec<(String, String)>,
}

impl KataSetup {
    /// Applies it to an engine that is about to start.
    pub fn apply(&self, engine: &mut Engine) -> Result<()> {
        if let Some(rules) = self.rules {
            engine.set_rules(rules);
        }
        for (name, value) in &self.params {
            if let Err(why) = engine.set_param(name, value) {
                bail!("{name} = {value}: {why}");
            }
        }
        Ok(())
    }
}

#[derive(Parser)]
#[command(name = "katago")]
struct Katago {
    #[command(flatten)]
    engine: EngineArgs,
}

const USAGE: &str = "\
Tengen, called as katago. What is understood:
  katago gtp -model FILE [-config FILE] [-override-config KEY=VALUE,...]
  katago analysis -model FILE [-human-model FILE] [-config FILE] [-override-config KEY=VALUE,...]
  katago version
";

/// Runs as `katago`: `gtp`, `analysis`, and what else that program's clients call.
pub fn run_as_katago() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match words.first().map(String::as_str) {
        Some("gtp") => gtp(&words[1..]),
        Some("analysis") => json_engine(&words[1..]),
        Some("version") => {
            super::print_text(&format!("KataGo v{}\n", Personality::KataGo.release()));
            Ok(())
        }
        Some("help" | "-help" | "--help" | "-h") => {
            super::print_text(USAGE);
            Ok(())
        }
        Some(other) => Err(anyhow::anyhow!("katago {other} is not known here\n{USAGE}")),
        None => Err(anyhow::anyhow!("{USAGE}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => crate::output::end(&error),
    }
}

/// What the command line of that program says.
#[derive(Default)]
struct Called {
    model: Option<String>,
    human_model: Option<String>,
    /// The configuration, and after it what overrides it.
    entries: Vec<(String, String)>,
}

impl Called {
    fn read(command: &str, words: &[String]) -> Result<Called> {
        let mut called = Called::default();
        let mut overrides = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .with_context(|| format!("{word} needs a value"))
            };
            match word.trim_start_matches('-') {
                "model" => called.model = Some(value()?.clone()),
                "config" => called.entries.extend(read_config(Path::new(value()?))?),
                "override-config" => overrides.extend(value()?.split(',').map(entry)),
                // Clients pass it; nothing is written at the end that could be left out.
                "quit-without-waiting" => {}
                "human-model" => called.human_model = Some(value()?.clone()),
                _ => bail!("{word} is not known to katago {command}\n{USAGE}"),
            }
        }
        let overrides = overrides.into_iter().collect::<Result<Vec<_>>>()?;
        called.entries.extend(overrides);
        Ok(called)
    }
}

fn gtp(words: &[String]) -> Result<()> {
    let called = Called::read("gtp", words)?;
    if called.human_model.is_some() {
        bail!(
            "-human-model: over GTP one network plays; give the human-imitation network as -model"
        );
    }
    let (arguments, setup) = translate(&called.entries, called.model)?;
    let katago = Katago::try_parse_from(arguments)?;
    super::serve(katago.engine, Personality::KataGo, &setup)
}

fn json_engine(words: &[String]) -> Result<()> {
    let called = Called::read("analysis", words)?;
    analysis::serve(analysis_setup(&called)?)
}

/// How to answer queries, from a configuration. Keys that mean nothing here are passed over.
fn analysis_setup(called: &Called) -> Result<analysis::Setup> {
    let mut setup = analysis::Setup {
        weights: called.model.as_ref().map(Into::into),
        human: called.human_model.as_ref().map(Into::into),
        version: Personality::KataGo.release().to_owned(),
        ..analysis::Setup::default()
    };
    for (key, value) in &called.entries {
        let wrong = || format!("{key} = {value}");
        let count = || -> Result<u64> {
            let number: f64 = value.parse().with_context(wrong)?;
            Ok(number.max(1.0) as u64)
        };
        let threads = || count().map(|count| (count as usize).min(Options::MOST_THREADS));
        match key.as_str() {
            "numAnalysisThreads" => setup.threads = Some(threads()?),
            "numSearchThreadsPerAnalysisThread" | "numSearchThreads" => {
                setup.threads_per_position = threads()?;
            }
            "maxVisits" => setup.options.visits = Some(count()?),
            "maxPlayouts" => setup.options.playouts = Some(count()?),
            "maxTime" => {
                let seconds: f64 = value.parse().with_context(wrong)?;
                setup.max_time = Duration::try_from_secs_f64(seconds).ok();
            }
            "analysisPVLen" => setup.pv_len = Some(count()? as usize),
            "wideRootNoise" | "analysisWideRootNoise" => {
                setup.options.wide_root_noise = value.parse().with_context(wrong)?;
            }
            "reportAnalysisWinratesAs" => {
                setup.perspective = Perspective::read(value)
                    .with_context(|| format!("{}: expected BLACK, WHITE or SIDETOMOVE", wrong()))?;
            }
            "warnUnusedFields" => setup.warn_unused = value != "false",
            _ => {}
        }
    }
    Ok(setup)
}

/// Lines of `key = value`; a `#` starts a comment.
fn read_config(file: &Path) -> Result<Vec<(String, String)>> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    lines
        .filter(|line| !line.is_empty())
        .map(|line| entry(line).with_context(|| file.display().to_string()))
        .collect()
}

fn entry(text: &str) -> Result<(String, String)> {
    let (key, value) = text
        .split_once('=')
        .with_context(|| format!("expected KEY=VALUE, not {text}"))?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// Our own command line for a configuration. Keys that mean nothing here are passed over, as clients write many.
fn translate(
    entries: &[(String, String)],
    model: Option<String>,
) -> Result<(Vec<String>, KataSetup)> {
    let mut arguments = vec!["katago".to_owned()];
    let mut setup = KataSetup::default();
    let mut ponders = false;
    for (key, value) in entries {
        match key.as_str() {
            "rules" => {
                let rules = value.parse::<Rules>();
                setup.rules = Some(rules.with_context(|| format!("rules = {value}"))?);
            }
            "ponderingEnabled" => ponders = value == "true",
            "allowResignation" if value == "false" => {
                arguments.extend(["--resignpct".to_owned(), "0".to_owned()]);
            }
            "logFile" => arguments.extend(["--logfile".to_owned(), value.clone()]),
            "maxVisits" => arguments.extend(["--visits".to_owned(), value.clone()]),
            "maxPlayouts" => arguments.extend(["--playouts".to_owned(), value.clone()]),
            "maxTime"
            | "numSearchThreads"
            | "analysisWideRootNoise"
            | "analysisIgnorePreRootHistory"
            | "playoutDoublingAdvantage"
            | "humanSLProfile"
            | "staticScoreUtilityFactor"
            | "dynamicScoreUtilityFactor"
            | "reportAnalysisWinratesAs" => setup.params.push((key.clone(), value.clone())),
            _ => {}
        }
    }
    if !ponders {
        arguments.push("--noponder".to_owned());
    }
    if let Some(model) = model {
        arguments.extend(["--weights".to_owned(), model]);
    }
    setup.rules.get_or_insert(Rules::TROMP_TAYLOR);
    Ok((arguments, setup))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_becomes_our_own_options() {
        let entries = [
            "rules = japanese",
            "maxVisits=50",
            "maxTime = 8",
            "nnCacheSizePowerOfTwo = 20",
        ]
        .map(|text| entry(text).unwrap());
        let (arguments, setup) = translate(&entries, Some("net.bin.gz".into())).unwrap();
        assert_eq!(
            arguments,
            [
                "katago",
                "--visits",
                "50",
                "--noponder",
                "--weights",
                "net.bin.gz"
            ]
        );
        assert_eq!(setup.rules, "japanese".parse().ok());
        assert_eq!(setup.params, [("maxTime".to_owned(), "8".to_owned())]);
        assert!(Katago::try_parse_from(arguments).is_ok());
        assert!(entry("maxVisits").is_err());
    }

    #[test]
    fn a_configuration_of_the_json_engine_becomes_a_setup() {
        let words = "-model net.bin.gz -override-config \
             homeDataDir=/tmp/x,numAnalysisThreads=12,maxVisits=1e3,reportAnalysisWinratesAs=SIDETOMOVE";
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let setup = analysis_setup(&Called::read("analysis", &words).unwrap()).unwrap();
        assert_eq!(setup.weights, Some("net.bin.gz".into()));
        assert_eq!(
            (setup.threads, setup.options.visits),
            (Some(12), Some(1000))
        );
        assert_eq!(setup.perspective, Perspective::SideToMove);
        let mistaken = ["-override-config", "maxVisits=many"].map(str::to_owned);
        assert!(analysis_setup(&Called::read("analysis", &mistaken).unwrap()).is_err());
        assert!(Called::read("analysis", &["-dance".to_owned()]).is_err());
    }
}
