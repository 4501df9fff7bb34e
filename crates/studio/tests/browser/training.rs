//! Scenarios 24 and 25: runs and networks.

use std::fs;

use serde_json::{Value, json};

use crate::Scene;

fn state(rounds: u64, network: &str) -> Value {
    let line = |round: u64, elo: f64, promoted: bool| json!({ "round": round, "network": network, "score": { "wins": 90 + round, "losses": 60 }, "promoted": promoted, "elo": elo, "games": 1000 * round, "at_seconds": 600.0 * round as f64 });
    let matches: Vec<Value> = (1..=rounds)
        .map(|round| line(round, 120.0 * round as f64, round % 3 != 0))
        .collect();
    let trainings: Vec<Value> = (1..=rounds)
        .map(|round| json!({ "round": round, "policy_loss": 4.0 - 0.2 * round as f64, "value_error": 1.0 - 0.05 * round as f64, "positions": 5000 }))
        .collect();
    json!({ "rounds": rounds, "best": network, "newest": network, "candidate": null, "elo": 120.0 * rounds as f64, "matches": matches, "trainings": trainings,
        "seconds": { "selfplay": 4000.0, "training": 900.0, "matches": 700.0 } })
}

pub fn run(scene: &Scene<'_>) {
    let page = scene.browser;
    let folder = scene.stage.folder.path().join("runs/seven");
    fs::create_dir_all(folder.join("networks")).unwrap();
    fs::write(folder.join("settings.toml"), "size = 7\nkomi = 7.5\n").unwrap();
    let network = net::leela::LeelaNetwork::random(
        net::leela::LeelaVersion::V1,
        net::leela::LeelaShape::stock(7, 1, 4),
        1,
    );
    fs::write(
        folder.join("networks/abcdef0123456789.gz"),
        net::gzip(&network.to_text(Default::default())),
    )
    .unwrap();
    fs::write(
        folder.join("state.json"),
        state(5, "abcdef0123456789").to_string(),
    )
    .unwrap();
    let mut log = base::Log::open(&folder.join("games.log"), |_| {}).unwrap();
    let game = |number: u64| {
        json!({ "number": number, "round": 0, "network": "abcdef", "moves": ["D4", "C3", "E3", "C5", "E5"], "result": "B+R" }).to_string() + "\n"
    };
    log.append(game(1).as_bytes()).unwrap();
    scene.open("/runs");
    page.until("the run", "document.querySelector('.runsview')?.textContent.includes('seven') && document.querySelectorAll('[data-round]').length === 5");
    let points = page
        .eval("document.querySelectorAll('section[aria-label=Elo] circle').length")
        .as_u64()
        .unwrap();
    page.until(
        "the newest game, stone by stone",
        "document.querySelectorAll('.replay .goban .stone').length === 5",
    );
    scene.picture("studio-training");
    log.append(game(2).as_bytes()).unwrap();
    base::write_whole(
        &folder.join("state.json"),
        state(6, "abcdef0123456789").to_string().as_bytes(),
    )
    .unwrap();
    page.until("a new row and a new point", &format!("document.querySelectorAll('[data-round]').length === 6 && document.querySelectorAll('section[aria-label=Elo] circle').length === {}", points + 1));
    page.until("a new game", "document.querySelector('[data-game=\"2\"]')");
    page.click("[data-game='2']");
    page.until("the game to step through", "location.pathname.startsWith('/go/') && document.querySelector('.where')?.textContent === '0/5'");
    page.keys(&["\u{E014}", "\u{E014}"]);
    page.until(
        "two moves on",
        "document.querySelectorAll('.goban .stone').length === 2",
    );
    scene.open("/runs");
    page.press("Play it");
    page.until("a game on 7x7", "location.pathname.startsWith('/go/') && document.querySelectorAll('.board [data-point]').length === 49");
    page.point("D4");
    page.until(
        "that network answers",
        "document.querySelectorAll('.goban .stone .white').length === 1",
    );
}

pub fn inside(scene: &Scene<'_>) {
    let page = scene.browser;
    scene.open("/nets/inside");
    page.until(
        "planes",
        "document.querySelectorAll('.planes canvas').length > 8",
    );
    page.run("const s = document.querySelector('input[type=range]'); s.value = '2'; s.dispatchEvent(new Event('input'));", json!(null));
    page.until(
        "block 2",
        "document.querySelector('.netdetail').textContent.includes('After block 2')",
    );
    let blocks = page
        .eval("Number(document.querySelector('input[type=range]').max)")
        .as_u64()
        .unwrap();
    page.until("a frame for every block and the input layer", &format!("document.querySelectorAll('section[aria-label=\"How an opinion forms\"] circle').length === {}", blocks + 1));
    let before = page.eval("document.querySelector('.planes').dataset.sum");
    page.point("E5");
    page.until("the planes change", &format!("document.querySelector('.planes').dataset.sum !== {before} && document.querySelectorAll('.planes .changed').length > 0"));
    scene.picture("studio-networks");
    // The ladder network's news, beside the exact reader's verdict; without the breaker the ladder catches.
    let xray = "section[aria-label=\"Ladder X-ray\"]";
    page.run(
        &format!("document.querySelector('{xray}').scrollIntoView();"),
        json!(null),
    );
    page.until(
        "the runner escapes, and the news says so",
        &format!("document.querySelector('{xray} [data-ladder=D5]')?.textContent.includes('escapes') && document.querySelector('{xray} [data-news=s]')"),
    );
    scene.picture("studio-xray");
    page.click(&format!("{xray} [data-point=J10]"));
    page.until(
        "without the breaker it is caught",
        &format!(
            "document.querySelector('{xray} [data-ladder=D5]')?.textContent.includes('is caught')"
        ),
    );
}
