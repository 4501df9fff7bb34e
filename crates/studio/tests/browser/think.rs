//! Scenarios 9 to 11: live analysis.

use serde_json::json;

use crate::Scene;

fn open_game(scene: &Scene<'_>) {
    let doc = scene.record("(;SZ[9]KM[7.5]PB[Black]PW[White];B[ee];W[ec];B[ge];W[ce];B[cg])");
    scene.open(&format!("/go/{doc}"));
    scene.browser.until(
        "the board",
        "document.querySelectorAll('.goban .stone').length === 5",
    );
    scene.browser.keys(&[" "]);
    scene.browser.until("candidates", "document.querySelectorAll('[data-candidate]').length >= 2 && document.querySelectorAll('table.candidates tbody tr').length >= 2");
}

const VISITS: &str = "Number(document.querySelector('[data-order=\"0\"] .visits')?.textContent.replace(/[k,]/g, '') ?? 0) + (document.querySelector('.candidates')?.closest('.stack')?.querySelector('header .num')?.textContent ?? '')";

pub fn candidates(scene: &Scene<'_>) {
    let page = scene.browser;
    open_game(scene);
    let first = page.eval(VISITS);
    page.until("visits grow", &format!("({VISITS}) !== {first}"));
    page.until("a ring on the first", "document.querySelector('[data-order=\"0\"] .ring') && document.querySelectorAll('.candidate .ring').length === 1");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    scene.picture("studio-go");
    page.keys(&[" "]);
    page.until(
        "idle",
        "document.querySelector('.light').dataset.state === 'idle'",
    );
    // The last picture of the search may still be on its way.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let stopped = page.eval(VISITS);
    std::thread::sleep(std::time::Duration::from_millis(400));
    assert_eq!(page.eval(VISITS), stopped, "it stopped growing");
}

pub fn line(scene: &Scene<'_>) {
    let page = scene.browser;
    open_game(scene);
    page.keys(&[" "]);
    page.until(
        "idle",
        "document.querySelector('.light').dataset.state === 'idle'",
    );
    let best = page.eval("document.querySelector('table.candidates tbody tr').dataset.move");
    page.hover(&format!(".board [data-point='{}']", best.as_str().unwrap()));
    page.until(
        "ghosts from 1",
        "document.querySelector('.ghost text')?.textContent === '1'",
    );
    page.hover("header.bar");
    page.until(
        "no ghosts",
        "document.querySelectorAll('.ghost').length === 0",
    );
    page.run(
        "document.querySelector('table.candidates tbody button').focus();",
        json!(null),
    );
    page.until(
        "ghosts by focus",
        "document.querySelectorAll('.ghost').length >= 1",
    );
    page.run("document.activeElement.blur();", json!(null));
    page.until(
        "gone again",
        "document.querySelectorAll('.ghost').length === 0",
    );
}

pub fn hidden(scene: &Scene<'_>) {
    let page = scene.browser;
    open_game(scene);
    page.keys(&["h"]);
    page.until(
        "no candidate",
        "document.querySelectorAll('[data-candidate]').length === 0",
    );
    page.until("the bar is empty", "document.querySelector('.winbar').classList.contains('unknown') && !document.querySelector('.winbar').hasAttribute('aria-valuenow')");
    let tree = page.cdp("Accessibility.getFullAXTree", json!({}));
    let spoken = tree["nodes"].to_string();
    assert!(
        !spoken.contains(" %"),
        "a percentage is in the accessibility tree"
    );
    assert!(
        !spoken.contains("best move"),
        "a candidate is in the accessibility tree"
    );
    page.until(
        "it still thinks",
        "document.querySelector('.light').dataset.state === 'thinking'",
    );
    page.keys(&["h"]);
    page.until(
        "candidates again",
        "document.querySelectorAll('[data-candidate]').length >= 2",
    );
    page.keys(&["\u{E00C}"]);
}
