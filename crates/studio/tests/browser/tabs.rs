//! Scenarios 26 to 29: several tabs, none, and a program that comes back.

use serde_json::json;

use crate::{Scene, support::Stage};

pub fn one_game(scene: &Scene<'_>) {
    let page = scene.browser;
    let doc = scene.game(json!({ "size": 9, "you": "both" }));
    scene.open(&format!("/go/{doc}"));
    page.until(
        "the board",
        "document.querySelectorAll('.board [data-point]').length === 81",
    );
    let first = page.tab();
    let second = page.new_tab();
    page.switch(&second);
    scene.open(&format!("/go/{doc}"));
    page.point("E5");
    page.until(
        "the stone",
        "document.querySelectorAll('.goban .stone').length === 1",
    );
    page.switch(&first);
    page.until(
        "the stone here too",
        "document.querySelectorAll('.goban .stone').length === 1",
    );
    // A move on a state that is gone: the page is told how it stands.
    let mut client = scene.stage.client();
    client.ok("go.play", json!({ "doc": doc, "at": "C3" }));
    assert_eq!(
        client.refused("go.play", json!({ "doc": doc, "rev": 1, "at": "G7" })),
        "stale"
    );
    page.until(
        "both show it",
        "document.querySelectorAll('.goban .stone').length === 2",
    );
    page.switch(&second);
    page.until(
        "both show it",
        "document.querySelectorAll('.goban .stone').length === 2",
    );
    page.close_tab();
    page.switch(&first);
}

pub fn lease(scene: &Scene<'_>) {
    let page = scene.browser;
    let doc = scene.game(json!({ "size": 9, "you": "both" }));
    scene.open(&format!("/go/{doc}"));
    page.until("the board", "document.querySelector('[data-turn-text]')");
    page.keys(&[" "]);
    page.until(
        "it thinks",
        "document.querySelectorAll('[data-candidate]').length > 0",
    );
    let first = page.tab();
    let second = page.new_tab();
    page.switch(&second);
    scene.open(&format!("/go/{doc}"));
    page.press("Take over");
    page.until("it thinks here", "document.querySelector('.light').dataset.state === 'thinking' && document.querySelectorAll('[data-candidate]').length > 0");
    page.switch(&first);
    page.until(
        "it says so",
        "document.querySelector('.light').textContent.includes('another tab')",
    );
    page.switch(&second);
    page.close_tab();
    page.switch(&first);
    page.until(
        "idle",
        "document.querySelector('.light').dataset.state === 'idle'",
    );
    page.press("Think");
    page.until(
        "it thinks here again",
        "document.querySelector('.light').dataset.state === 'thinking'",
    );
    page.keys(&["\u{E00C}"]);
}

pub fn nobody(scene: &Scene<'_>) {
    let page = scene.browser;
    let first = page.tab();
    let second = page.new_tab();
    page.switch(&second);
    let doc = scene.game(json!({ "size": 9, "you": "both" }));
    scene.open(&format!("/go/{doc}"));
    page.until("the board", "document.querySelector('[data-turn-text]')");
    page.keys(&[" "]);
    page.until(
        "it thinks",
        "document.querySelectorAll('[data-candidate]').length > 0",
    );
    page.close_tab();
    page.switch(&first);
    let start = std::time::Instant::now();
    while scene.stage.own("GET", "/api/hello", b"").1["engine"] != "idle" {
        assert!(start.elapsed().as_secs() < 60, "it thinks for nobody");
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
}

pub fn restart(scene: &Scene<'_>) {
    let page = scene.browser;
    let stage = Stage::new();
    let (port, doc) = {
        let mut client = stage.client();
        let doc = client.ok("go.new", json!({ "size": 9, "you": "both" }))["doc"]
            .as_str()
            .unwrap()
            .to_owned();
        client.ok("go.play", json!({ "doc": doc, "at": "E5" }));
        (stage.port, doc)
    };
    page.goto(&format!("{}/go/{doc}#key={}", stage.address(), stage.key));
    page.until(
        "the game",
        "document.querySelectorAll('.goban .stone').length === 1",
    );
    page.run("window.isSamePage = true;", json!(null));
    let folder = stage.stop();
    page.until(
        "the strip",
        "document.querySelector('[role=alert]')?.textContent.includes('has stopped')",
    );
    assert_eq!(
        page.eval("document.querySelectorAll('.goban .stone').length"),
        json!(1),
        "the board stays readable"
    );
    let _stage = Stage::at(folder, port);
    page.until(
        "it is connected again",
        "document.querySelector('.light[data-state=idle]') && !document.querySelector('.lasting')",
    );
    page.point("C3");
    page.until(
        "the same game goes on",
        "document.querySelectorAll('.goban .stone').length === 2 && window.isSamePage",
    );
    page.goto("about:blank");
}
