//! Scenarios 17 to 19: what can be read off the board.

use serde_json::json;

use crate::Scene;

pub fn ladders(scene: &Scene<'_>) {
    let page = scene.browser;
    // White at C7 has two liberties; Black to move has a ladder that runs to the edge.
    let doc = scene.record("(;SZ[9]AB[bc][cb][bd]AW[cc]PL[B])");
    scene.open(&format!("/go/{doc}"));
    page.until(
        "the board",
        "document.querySelectorAll('.goban .stone').length === 4",
    );
    page.keys(&["l"]);
    page.until(
        "the prey is captured",
        "document.querySelector('.prey.captured[data-prey=C7]')",
    );
    page.until("and said so", "document.querySelector('[data-point=C7]').getAttribute('aria-label').includes('captured in a ladder')");
    scene.picture("studio-ladders");
    // A white stone far down the path breaks it.
    let mut client = scene.stage.client();
    client.ok(
        "go.edit",
        json!({ "doc": doc, "set": { "G3": "w", "F4": "w" }, "turn": "black" }),
    );
    page.until("it escapes now", "document.querySelector('.prey.escapes[data-prey=C7]') || !document.querySelector('.prey.captured[data-prey=C7]')");
}

/// A dead group in one corner, a live one in another.
const CORNERS: &str = "(;SZ[9]AW[ai][bi][ah][bh][cg][ag][bg][dh][di][ch][ci]AB[aa][ba][ca][da][ab][db][ac][bc][cc][dc]AW[ea][eb][ec][ed][dd][cd][bd][ad]PL[B])";

pub fn safety(scene: &Scene<'_>) {
    let page = scene.browser;
    let doc = scene.record(CORNERS);
    scene.open(&format!("/go/{doc}"));
    page.until(
        "the board",
        "document.querySelectorAll('.goban .stone').length > 20",
    );
    page.keys(&["s"]);
    page.until("rings", "document.querySelectorAll('.fate').length > 10");
    page.until("words", "/alive|dead|unsettled|open/.test(document.querySelector('[data-point=A9]').getAttribute('aria-label'))");
    page.until(
        "counts",
        "/Groups: \\d+ proved/.test(document.querySelector('.legend').textContent)",
    );
    let open = scene.record("(;SZ[19];B[pd];W[dp];B[pp];W[dd];B[qf];W[jj])");
    scene.open(&format!("/go/{open}"));
    page.until(
        "the board",
        "document.querySelectorAll('.goban .stone').length === 6",
    );
    page.keys(&["s"]);
    page.until(
        "none is proved, none is left out",
        "(() => { const found = /Groups: 0 proved \\(solid\\), (\\d+) read \\(dashed\\), (\\d+) open/.exec(document.querySelector('.legend').textContent); return found && Number(found[1]) + Number(found[2]) === 6; })()",
    );
    page.until(
        "and say so",
        "/gets away or lives|open/.test(document.querySelector('[data-point=K10]').getAttribute('aria-label'))",
    );
}

pub fn why(scene: &Scene<'_>) {
    let page = scene.browser;
    let doc = scene.record("(;SZ[7]AB[ae][be][ce][de][ee][ef][eg]AW[af][bf][cf][df][dg]PL[B])");
    scene.open(&format!("/go/{doc}"));
    page.until(
        "the board",
        "document.querySelectorAll('.goban .stone').length === 12",
    );
    page.hover(".board [data-point='B2']");
    page.keys(&["w"]);
    page.until("proved", "document.querySelector('[data-witness=proved]')?.textContent.includes('whoever plays first')");
    // The safety network's guess has not been earned on positions of games: it is not shown.
    assert_eq!(
        page.eval("document.querySelectorAll('[data-witness=guessed]').length"),
        json!(0)
    );
    scene.picture("studio-why");
    page.click("[data-witness=proved] button");
    page.until("the first move of the line", "document.querySelectorAll('.ghost').length === 1 && document.querySelector('.ghost').dataset.ghost === 'B1'");
    page.click("[data-witness=proved] button");
    page.until("the second", "document.querySelector('[data-witness=proved] button').textContent.includes('2 of') || document.querySelectorAll('.ghost').length === 0");
}
