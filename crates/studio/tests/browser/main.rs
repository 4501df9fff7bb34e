//! The studio in a real browser: the scenarios of its plan, one after the other, in one session.
//!
//! Needs `chromium` and `chromedriver`; without them the test says so and passes. `TENGEN_STUDIO_PICTURES=1` renews the
//! pictures of the documentation. `TENGEN_STUDIO_ONLY=NAME` runs the scenarios whose name contains NAME.
//! `TENGEN_STUDIO_BUDGET=1` prints the table of budgets instead.

#[path = "../support/mod.rs"]
mod support;

mod bottle;
mod budget;
mod driver;
mod files;
mod looks;
mod play;
mod problems;
mod reading;
mod review;
mod tabs;
mod think;
mod training;

use std::{path::Path, time::Instant};

use driver::Browser;
use support::Stage;

/// What a scenario needs.
pub struct Scene<'a> {
    /// The browser, shared by all scenarios.
    pub browser: &'a Browser,
    /// A studio of its own.
    pub stage: Stage,
}

impl Scene<'_> {
    /// Opens a page of the studio with its key, and waits until it is connected.
    pub fn open(&self, path: &str) {
        self.browser.goto(&format!(
            "{}{path}#key={}",
            self.stage.address(),
            self.stage.key
        ));
        self.browser.until("the page is connected", "document.querySelector('.light[data-state=idle], .light[data-state=thinking], .light[data-state=elsewhere]')");
    }

    /// Opens a record as a document; returns its id.
    pub fn record(&self, sgf: &str) -> String {
        let (status, answer) = self.stage.own("POST", "/api/docs", sgf.as_bytes());
        assert_eq!(status, 200, "{answer}");
        answer["docs"][0]["doc"].as_str().unwrap().to_owned()
    }

    /// Makes a game.
    pub fn game(&self, fields: serde_json::Value) -> String {
        let mut client = self.stage.client();
        client.ok("go.new", fields)["doc"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// A picture for the documentation, if pictures are wanted.
    pub fn picture(&self, name: &str) {
        if std::env::var_os("TENGEN_STUDIO_PICTURES").is_none() {
            return self.look(name);
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
        self.browser.picture(&folder.join(format!("{name}.png")));
    }

    /// A picture to look at, in the target folder.
    pub fn look(&self, name: &str) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("studio-pictures");
        self.browser.picture(&folder.join(format!("{name}.png")));
    }
}

/// A scenario: its number in the plan, its name, and messages of the console that belong to it.
type Scenario = (&'static str, &'static [&'static str], fn(&Scene<'_>));

const SCENARIOS: &[Scenario] = &[
    ("01 home", &[], play::home),
    ("02 no key", &[], play::no_key),
    ("03 play by click", &[], play::by_click),
    ("04 play by keys", &[], play::by_keys),
    ("05 illegal moves", &[], play::illegal),
    ("06 take back while it thinks", &[], play::take_back),
    ("07 sizes and handicap", &[], play::sizes),
    ("08 komi that follows", &[], play::komi),
    ("09 candidates", &[], think::candidates),
    ("10 line on hover", &[], think::line),
    ("11 hidden thinking", &[], think::hidden),
    ("12 files", &[], files::good),
    ("13 bad files", &["413", "400"], files::bad),
    ("14 review", &[], review::sweep),
    ("15 saved review", &[], review::saved),
    ("16 quiz", &[], review::quiz),
    ("17 ladders", &[], reading::ladders),
    ("18 safety", &[], reading::safety),
    ("19 why", &[], reading::why),
    ("20 problem", &[], problems::solve),
    ("21 no wall", &[], problems::no_wall),
    ("22 bottle by keys", &[], bottle::keys),
    ("23 bottle watched", &[], bottle::watch),
    ("24 training", &[], training::run),
    ("25 look inside", &[], training::inside),
    ("26 two tabs", &[], tabs::one_game),
    ("27 one thinks", &[], tabs::lease),
    ("28 nobody looks", &[], tabs::nobody),
    (
        "29 restart",
        &["WebSocket", "ERR_CONNECTION_REFUSED"],
        tabs::restart,
    ),
    ("30 phone, themes, axe", &[], looks::everywhere),
    ("31 every word can be translated", &[], looks::words),
    (
        "32 another origin",
        &[
            "blocked",
            "CORS",
            "403",
            "WebSocket",
            "401",
            "421",
            "ERR_FAILED",
            "ERR_BLOCKED",
        ],
        files::other_origin,
    ),
    ("33 hostile record", &[], files::hostile),
    ("34 clock", &[], play::clock),
];

#[test]
fn every_scenario_holds_in_a_browser() {
    let Some(browser) = Browser::start() else {
        println!(
            "skipped: tests in a browser (install the packages chromium and chromium-driver to run them)"
        );
        return;
    };
    if std::env::var_os("TENGEN_STUDIO_BUDGET").is_some() {
        return budget::measure(&browser);
    }
    let only = std::env::var("TENGEN_STUDIO_ONLY").unwrap_or_default();
    let mut failed = Vec::new();
    for (name, expected, scenario) in SCENARIOS.iter().filter(|(name, ..)| name.contains(&only)) {
        let start = Instant::now();
        browser.resize(1360, 900, false);
        browser.media("light", "no-preference");
        let scene = Scene {
            browser: &browser,
            stage: Stage::new(),
        };
        let first = browser.tab();
        browser.log();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            scenario(&scene);
            let wrong: Vec<_> = browser
                .log()
                .into_iter()
                .filter(|(level, message)| {
                    level != "INFO"
                        && level != "DEBUG"
                        && !expected.iter().any(|part| message.contains(part))
                })
                .collect();
            assert!(wrong.is_empty(), "the console says {wrong:?}");
        }));
        browser.switch(&first);
        browser.goto("about:blank");
        println!(
            "{name}: {} ({:.1} s)",
            if outcome.is_ok() { "ok" } else { "FAILED" },
            start.elapsed().as_secs_f64()
        );
        if outcome.is_err() {
            failed.push(*name);
        }
    }
    assert!(failed.is_empty(), "failed: {failed:?}");
}
