//! Scenarios 14 to 16: a whole game looked at, saved, and asked about.

use serde_json::json;

use crate::Scene;

/// Twenty-four moves in which both sides waste some on the first line.
const SAMPLE: &str = "(;SZ[9]KM[7.5]PB[Black]PW[White];B[ee];W[ec];B[ge];W[ce];B[cg];W[gg];B[gc];W[cc];B[fd];W[ed];B[fc];W[eb];B[aa];W[ff];B[fe];W[dg];B[ch];W[ia];B[dh];W[eg];B[eh];W[fh];B[ai];W[gh])";

fn reviewed(scene: &Scene<'_>) -> String {
    let page = scene.browser;
    let doc = scene.record(SAMPLE);
    scene.open(&format!("/go/{doc}"));
    page.until(
        "the board",
        "document.querySelector('.where')?.textContent === '24/24'",
    );
    page.run("const f = document.querySelector('select[aria-label=\"Visits a position\"]'); f.value = '20'; f.dispatchEvent(new Event('change'));", json!(null));
    page.press("Review");
    page.until(
        "the graph grows",
        "document.querySelector('.graph .curve')?.getAttribute('d')?.length > 20",
    );
    page.until(
        "the review is done",
        "document.querySelector('.facts')?.textContent.includes('Reviewed.')",
    );
    doc
}

pub fn sweep(scene: &Scene<'_>) {
    let page = scene.browser;
    reviewed(scene);
    let count = page
        .eval("document.querySelectorAll('[data-mistake]').length")
        .as_u64()
        .unwrap();
    assert!(count >= 4, "the wasted moves are listed: {count}");
    let listed = page.eval(
        "[...document.querySelectorAll('[data-mistake]')].map((r) => Number(r.dataset.mistake))",
    );
    let wasted: Vec<u64> = vec![13, 18, 23];
    let found = wasted
        .iter()
        .filter(|number| listed.as_array().unwrap().contains(&json!(number)))
        .count();
    assert!(
        found >= 2,
        "moves on the first line cost something: {listed}"
    );
    scene.picture("studio-review");
    let second = listed[1].as_u64().unwrap();
    page.click(&format!("[data-mistake='{second}'] button"));
    page.until(
        "the board is at that move",
        &format!("document.querySelector('.where').textContent.startsWith('{second}/')"),
    );
    page.run("document.activeElement.blur();", json!(null));
    let mut sorted: Vec<u64> = listed
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|n| n.as_u64())
        .collect();
    sorted.sort_unstable();
    if let Some(next) = sorted.iter().find(|&&number| number > second) {
        page.keys(&["n"]);
        page.until(
            "the next mistake",
            &format!("document.querySelector('.where').textContent.startsWith('{next}/')"),
        );
    }
    page.click(".graph");
}

pub fn saved(scene: &Scene<'_>) {
    let page = scene.browser;
    let doc = reviewed(scene);
    let before =
        page.eval("[...document.querySelectorAll('[data-mistake]')].map((r) => r.dataset.mistake)");
    let (_, text) = scene
        .stage
        .own("GET", &format!("/api/docs/{doc}.sgf?with=analysis"), b"");
    let text = text.as_str().unwrap().to_owned();
    for wanted in ["CA[UTF-8]", "SBKV[", "BM["] {
        assert!(text.contains(wanted), "{wanted} is missing");
    }
    page.run(
        "const data = new DataTransfer(); data.setData('text', arguments[0]); document.activeElement.blur(); document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));",
        json!(text),
    );
    page.until("another document", &format!("!location.pathname.endsWith('{doc}') && document.querySelectorAll('[data-mistake]').length > 0"));
    page.until(
        "the same mistakes",
        &format!("JSON.stringify([...document.querySelectorAll('[data-mistake]')].map((r) => r.dataset.mistake)) === JSON.stringify({before})"),
    );
    page.until("the graph", "document.querySelector('.graph .curve')");
    assert_eq!(
        page.eval("document.querySelector('.light').dataset.state"),
        json!("idle"),
        "no search was needed"
    );
}

pub fn quiz(scene: &Scene<'_>) {
    let page = scene.browser;
    let doc = reviewed(scene);
    let mut client = scene.stage.client();
    client.ok("see", json!({ "doc": doc }));
    let graph = client.wait("the graph", |event| event["on"] == "graph");
    let mut mistakes = graph["mistakes"].as_array().unwrap().clone();
    mistakes.sort_by_key(|mistake| mistake["number"].as_u64());
    page.press("Quiz me");
    page.until("a question", "document.querySelector('section[aria-label=Quiz]')?.textContent.includes('Find a better move')");
    let first = mistakes[0]["number"].as_u64().unwrap();
    page.until(
        "the position before",
        &format!(
            "document.querySelector('.where').textContent.startsWith('{}/')",
            first - 1
        ),
    );
    let better = mistakes[0]["better"].as_str().unwrap();
    let visible = page
        .eval("document.querySelector('.facts').textContent")
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        !visible.contains(&format!(" {better} "))
            && page.eval("document.querySelectorAll('[data-candidate], [data-mistake]').length")
                == json!(0),
        "the answer is in the page"
    );
    let wrong = mistakes[0]["at"].as_str().unwrap();
    page.point(wrong);
    page.until("it is refuted on the board", "document.querySelectorAll('.ghost').length >= 1 && document.querySelector('section[aria-label=Quiz]').textContent.includes('loses')");
    page.press("Try again");
    page.point(better);
    page.until(
        "praise",
        "document.querySelector('section[aria-label=Quiz] .right')",
    );
    for mistake in &mistakes[1..] {
        page.press("Next");
        let before = mistake["number"].as_u64().unwrap() - 1;
        page.until(
            "the next question",
            &format!("document.querySelector('section[aria-label=Quiz]').textContent.includes('Find a better move') && document.querySelector('.where').textContent.startsWith('{before}/')"),
        );
        page.point(mistake["better"].as_str().unwrap());
        page.until(
            "praise",
            "document.querySelector('section[aria-label=Quiz] .right')",
        );
    }
    if page.eval("[...document.querySelectorAll('button')].some((b) => b.textContent === 'Score')")
        == json!(true)
    {
        page.press("Score");
        page.until(
            "a score",
            "document.querySelector('section[aria-label=Quiz]').textContent.includes('right.')",
        );
    }
}
