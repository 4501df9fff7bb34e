//! Scenarios 20 and 21: life and death.

use serde_json::json;

use crate::Scene;

pub fn solve(scene: &Scene<'_>) {
    let page = scene.browser;
    let doc =
        scene.game(json!({ "size": 7, "you": "both", "problem": { "target": [], "zone": [] } }));
    scene.open(&format!("/problems/{doc}"));
    page.until(
        "the board",
        "document.querySelectorAll('.board [data-point]').length === 49",
    );
    page.keys(&["b"]);
    for at in ["A3", "B3", "C3", "D3", "E3", "E2", "E1"] {
        page.point(at);
        page.until(at, &format!("document.querySelector('[data-point={at}]').getAttribute('aria-label').includes('black')"));
    }
    page.keys(&["w"]);
    for at in ["A2", "B2", "C2", "D2", "D1"] {
        page.point(at);
        page.until(at, &format!("document.querySelector('[data-point={at}]').getAttribute('aria-label').includes('white')"));
    }
    page.keys(&["x"]);
    page.point("A2");
    page.until(
        "the target",
        "document.querySelectorAll('.ringed.target').length === 5",
    );
    page.until(
        "the zone",
        "document.querySelectorAll('.tint.zone').length >= 3",
    );
    page.press("Solve");
    page.until(
        "attacker first",
        "/DIES\\s*B1/.test(document.querySelector('[data-first=attacker]')?.textContent ?? '')",
    );
    page.until(
        "defender first",
        "/LIVES\\s*B1/.test(document.querySelector('[data-first=defender]')?.textContent ?? '')",
    );
    page.until("both proofs were checked", "[...document.querySelectorAll('[data-first]')].every((r) => r.textContent.includes('proof ok'))");
    scene.picture("studio-problems");
    page.keys(&["\u{E00C}"]);
    // Black kills; then White tries everything and is answered to the end.
    page.point("B1");
    page.until("right so far", "document.querySelector('.right')");
    let mut over = false;
    for _ in 0..8 {
        page.until(
            "it is somebody's turn",
            "document.querySelector('h1').textContent.includes('to play')",
        );
        if page.eval("/decided|over/.test(document.querySelector('[aria-label=\"Argue with the proof\"] [role=status]').textContent)") == json!(true) {
            over = true;
            break;
        }
        let free = page.eval("(() => { const cells = [...document.querySelectorAll('.board [data-point]')].filter((c) => ['A1', 'B1', 'C1'].includes(c.dataset.point) && c.getAttribute('aria-label').includes('empty')); return cells[0]?.dataset.point ?? null; })()");
        let Some(free) = free.as_str() else {
            over = true;
            break;
        };
        page.run("document.querySelector('[aria-label=\"Argue with the proof\"] [role=status]').replaceChildren();", json!(null));
        page.point(free);
        page.until("an answer", "document.querySelector('[aria-label=\"Argue with the proof\"] [role=status] p, [role=alert]')");
        if page.eval("Boolean(document.querySelector('[role=alert]'))") == json!(true) {
            over = true;
            break;
        }
    }
    assert!(over, "the argument ends");
}

pub fn no_wall(scene: &Scene<'_>) {
    let page = scene.browser;
    let doc = scene.record("(;SZ[9]AW[cc][cd]AB[bc][dc]MA[cc]PL[B])");
    scene.open(&format!("/problems/{doc}"));
    page.until(
        "the sentence",
        "document.querySelector('[role=status]').textContent.includes('no safe wall')",
    );
    page.until(
        "the blocks are ringed",
        "document.querySelectorAll('.ringed.wall').length >= 1",
    );
    page.press("Choose the zone by hand");
    for at in ["B6", "C5", "D6", "C8", "C4", "B5", "D5"] {
        page.point(at);
        page.until(
            at,
            &format!("document.querySelector('.tint[data-tint={at}]')"),
        );
    }
    page.until(
        "a zone",
        "document.querySelector('[role=status]').textContent.includes('Zone:')",
    );
    page.press("Solve");
    page.until(
        "an answer",
        "document.querySelector('[data-first=attacker] .verdict')",
    );
}
