//! Scenarios 1 to 8: a board to play on.

use serde_json::json;

use crate::Scene;

pub fn home(scene: &Scene<'_>) {
    let page = scene.browser;
    scene.open("/");
    page.until(
        "a board",
        "document.querySelectorAll('.board [data-point]').length === 81",
    );
    page.until(
        "five actions",
        "document.querySelectorAll('.tile').length === 5",
    );
    page.until(
        "idle",
        "document.querySelector('.light').textContent.includes('idle')",
    );
    assert!(!page.address().contains("key"), "{}", page.address());
    scene.picture("studio-home");
}

pub fn no_key(scene: &Scene<'_>) {
    let page = scene.browser;
    page.goto(&scene.stage.address());
    page.until(
        "a sentence",
        "document.querySelector('.nokey')?.textContent.includes('tengen studio')",
    );
    let (_, hello) = scene.stage.own("GET", "/api/hello", b"");
    assert_eq!(hello["tabs"], 0, "a page without a key has no socket");
}

fn stones(page: &crate::driver::Browser, color: &str) -> u64 {
    page.eval(&format!(
        "document.querySelectorAll('.goban .stone .{color}').length"
    ))
    .as_u64()
    .unwrap()
}

pub fn by_click(scene: &Scene<'_>) {
    let page = scene.browser;
    scene.open("/");
    page.press("Play Go, 9×9 now");
    page.until(
        "the game",
        "location.pathname.startsWith('/go/') && document.querySelector('[data-turn-text]')",
    );
    page.run("window.heard = []; new MutationObserver(() => window.heard.push(document.getElementById('live').textContent)).observe(document.getElementById('live'), { childList: true, characterData: true, subtree: true });", json!(null));
    page.point("E5");
    page.until(
        "an answer",
        "document.querySelectorAll('.goban .stone .white').length === 1",
    );
    assert_eq!(stones(page, "black"), 1);
    page.until(
        "Black's turn",
        "document.querySelector('[data-turn-text]').textContent === 'Black to play'",
    );
    page.until("E5 is black", "document.querySelector('[data-point=E5]').getAttribute('aria-label').startsWith('E5, black')");
    page.until("both moves were said", "window.heard.some((x) => x.includes('Black E5')) && window.heard.some((x) => x.startsWith('White '))");
}

pub fn by_keys(scene: &Scene<'_>) {
    let page = scene.browser;
    let doc = scene.game(json!({ "size": 9, "you": "black", "level": { "visits": 10 } }));
    scene.open(&format!("/go/{doc}"));
    page.until(
        "the board",
        "document.querySelectorAll('.board [data-point]').length === 81",
    );
    // Tab reaches the board by itself.
    for _ in 0..40 {
        page.keys(&["\u{E004}"]);
        if page.eval("document.activeElement?.dataset?.point !== undefined") == json!(true) {
            break;
        }
    }
    assert_eq!(
        page.eval("document.activeElement.dataset.point"),
        json!("E5")
    );
    page.keys(&["\u{E012}", "\u{E013}", "\u{E007}"]);
    page.until("a stone at D6 and an answer", "document.querySelector('[data-point=D6]').getAttribute('aria-label').includes('black') && document.querySelectorAll('.goban .stone .white').length === 1");
}

pub fn illegal(scene: &Scene<'_>) {
    let page = scene.browser;
    // A ko: Black has just taken at C2, so White may not take back at B2.
    let doc = scene.record("(;SZ[5]AB[be][ad][bc]AW[ce][dd][cc][bd]PL[B])");
    scene.open(&format!("/go/{doc}"));
    page.until(
        "the board",
        "document.querySelectorAll('.goban .stone').length === 7",
    );
    page.point("B1");
    page.until(
        "a strip",
        "document.querySelector('[role=alert]')?.textContent.includes('occupied')",
    );
    assert_eq!(
        page.eval("document.querySelectorAll('.goban .stone').length"),
        json!(7)
    );
    page.point("C2");
    page.until(
        "the ko is taken",
        "document.querySelector('[data-point=B2]').getAttribute('aria-label').includes('empty')",
    );
    page.point("B2");
    page.until(
        "a strip about the ko",
        "document.querySelector('[role=alert]')?.textContent.includes('repeats')",
    );
    assert!(page.text("[data-turn-text]").contains("White"));
}

pub fn take_back(scene: &Scene<'_>) {
    let page = scene.browser;
    let doc = scene.game(json!({ "size": 9, "you": "black", "level": { "visits": 1_000_000 } }));
    scene.open(&format!("/go/{doc}"));
    page.point("E5");
    page.until("it thinks", "document.querySelector('.light').dataset.state === 'thinking' && document.querySelectorAll('.goban .stone').length === 1");
    page.press("Take back");
    page.until(
        "the stone is gone",
        "document.querySelectorAll('.goban .stone').length === 0",
    );
    page.until(
        "idle",
        "document.querySelector('.light').dataset.state === 'idle'",
    );
    page.point("C3");
    page.until(
        "a new move",
        "document.querySelector('[data-point=C3]').getAttribute('aria-label').includes('black')",
    );
    page.press("Take back");
    page.until(
        "idle again",
        "document.querySelector('.light').dataset.state === 'idle'",
    );
}

pub fn sizes(scene: &Scene<'_>) {
    let page = scene.browser;
    for (size, handicap, points) in [(25, 0, 625), (2, 0, 4), (19, 4, 361)] {
        scene.open("/go");
        page.press("New game");
        page.until("the dialog", "document.querySelector('dialog[open] form')");
        page.run("const d = document.querySelector('dialog[open]'); const set = (f, v) => { f.value = v; f.dispatchEvent(new Event('input')); f.dispatchEvent(new Event('change')); };
            set(d.querySelector('input[aria-label=\"Board size\"]'), arguments[0][0]); set(d.querySelector('input[max=\"9\"]'), arguments[0][1]); set(d.querySelectorAll('select')[0], 'both');", json!([size, handicap]));
        page.press("Start");
        page.until("the grid", &format!("document.querySelectorAll('.board [data-point]').length === {points} && !document.querySelector('dialog[open]')"));
        if handicap > 0 {
            page.until(
                "the stones",
                &format!("document.querySelectorAll('.goban .stone .black').length === {handicap}"),
            );
            page.until(
                "White to move",
                "document.querySelector('[data-turn-text]').textContent.includes('White')",
            );
        }
    }
}

pub fn komi(scene: &Scene<'_>) {
    let page = scene.browser;
    scene.open("/go");
    page.press("New game");
    page.until("the dialog", "document.querySelector('dialog[open] form')");
    let disabled = "[...document.querySelectorAll('dialog[open] option')].filter((o) => ['handicap', 'nonslack'].includes(o.value)).every((o) => o.disabled)";
    for size in [19, 9] {
        page.click(&format!("dialog[open] button[data-size='{size}']"));
        page.until("both modes are enabled", &format!("!({disabled})"));
        page.until(
            "with what they do",
            "document.querySelector('#komi-reason').textContent.includes('real komi')",
        );
    }
    page.run("const d = document.querySelector('dialog[open]'); const set = (f, v) => { f.value = v; f.dispatchEvent(new Event('input')); f.dispatchEvent(new Event('change')); };
        set([...d.querySelectorAll('select')].find((s) => s.querySelector('[value=handicap]')), 'handicap'); set(d.querySelector('input[max=\"9\"]'), 3);
        set(d.querySelectorAll('select')[0], 'black');", json!(null));
    page.press("Start");
    page.until("the engine has moved and its komi is shown", "document.querySelectorAll('.goban .stone .white').length === 1 && document.querySelector('.goview .facts').textContent.includes('told')");
}

/// A game with a clock, from the dialog to the end of the time.
pub fn clock(scene: &Scene<'_>) {
    let page = scene.browser;
    let doc = scene.game(json!({ "size": 9, "you": "black", "level": "policy" }));
    scene.open(&format!("/go/{doc}"));
    page.until("the board", "document.querySelector('[data-turn-text]')");
    assert_eq!(
        page.eval("document.querySelector('[data-clock=black]').hidden"),
        json!(true),
        "no clock unless one is chosen"
    );
    page.press("New game …");
    page.until("the dialog", "document.querySelector('dialog[open]')");
    page.run(
        "const set = (name, value) => { const field = document.querySelector(`[data-field=${name}]`); field.value = value; field.dispatchEvent(new Event('change')); };
         set('clock', 'byoyomi'); set('clock-main', '0.05'); set('clock-period', '1'); set('clock-count', '2');",
        json!(null),
    );
    page.press("Start");
    page.until(
        "both clocks at three seconds",
        "[...document.querySelectorAll('[data-clock]')].filter((c) => !c.hidden && c.textContent === '3.0' && c.dataset.state === 'still').length === 2",
    );
    page.point("E5");
    page.until(
        "the user's clock runs into the periods",
        "/×[12]$/.test(document.querySelector('[data-clock=black]').textContent)",
    );
    page.until(
        "the time ends the game",
        "document.querySelector('[data-turn-text]').textContent.includes('W+Time')",
    );
    page.press("Take back");
    page.until(
        "time was given back",
        "document.querySelector('[data-clock=black]').textContent === '3.0' && document.querySelectorAll('.goban .stone').length === 0",
    );
}
