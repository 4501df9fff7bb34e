//! The budget: how fast, how smooth, how light. Prints a table; asserts nothing, since a busy machine is no bug.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Scene, driver::Browser, support::Stage};

/// Prints the table.
pub fn measure(browser: &Browser) {
    let start = Instant::now();
    let stage = Stage::new();
    let listening = start.elapsed();
    let scene = Scene { browser, stage };
    let row = |what: &str, budget: &str, found: String| println!("| {what} | {budget} | {found} |");
    println!("| what | budget | measured |\n| --- | --- | --- |");
    row(
        "start to listening",
        "< 0.3 s",
        format!("{:.0} ms", listening.as_secs_f64() * 1000.0),
    );
    scene.open("/");
    let mark = "performance.getEntriesByName('first-board')[0]?.startTime ?? 0";
    let cold = browser
        .until("the first board", mark)
        .as_f64()
        .unwrap_or(0.0);
    browser.refresh();
    let warm = browser
        .until("the first board", mark)
        .as_f64()
        .unwrap_or(0.0);
    row(
        "page to first board",
        "< 2 s cold, < 1 s warm",
        format!("{cold:.0} ms, {warm:.0} ms"),
    );
    row(
        "page weight",
        "< 500 kB",
        format!("{} kB", studio::page_bytes() / 1000),
    );
    thinking(&scene, &row);
    answers(&scene, &row);
    bottle(&scene, &row);
    tabs(&scene, &row);
}

fn thinking(scene: &Scene<'_>, row: &dyn Fn(&str, &str, String)) {
    let page = scene.browser;
    let doc = scene.record("(;SZ[9]KM[7.5];B[ee];W[ec];B[ge];W[ce];B[cg])");
    scene.open(&format!("/go/{doc}"));
    page.until(
        "the board",
        "document.querySelectorAll('.goban .stone').length === 5",
    );
    page.run(
        "window.drawn = 0; window.long = []; new MutationObserver(() => { window.drawn += 1; }).observe(document.querySelector('.goban .overlay'), { childList: true, subtree: true });
         new PerformanceObserver((list) => window.long.push(...list.getEntries().map((e) => e.duration))).observe({ entryTypes: ['longtask'] });",
        json!(null),
    );
    page.keys(&[" "]);
    page.until(
        "candidates",
        "document.querySelectorAll('[data-candidate]').length > 0",
    );
    page.run("window.drawn = 0; window.long.length = 0;", json!(null));
    let before = heap(page);
    std::thread::sleep(Duration::from_secs(10));
    let drawn = page.eval("window.drawn").as_f64().unwrap_or(0.0) / 10.0;
    let long = page
        .eval("window.long.length ? Math.max(...window.long) : 0")
        .as_f64()
        .unwrap_or(0.0);
    row(
        "analysis drawn",
        ">= 5 a second, no task > 50 ms",
        format!("{drawn:.1} a second, longest task {long:.0} ms"),
    );
    std::thread::sleep(Duration::from_secs(10));
    row(
        "memory of the page, 10 s of analysis",
        "no growth",
        format!("{:+.1} MB", (heap(page) - before) / 1e6),
    );
    page.keys(&[" "]);
}

fn heap(page: &Browser) -> f64 {
    page.cdp("HeapProfiler.collectGarbage", json!({}));
    page.cdp("Performance.enable", json!({}));
    let metrics = page.cdp("Performance.getMetrics", json!({}));
    let found = metrics["metrics"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|one| one["name"] == "JSHeapUsedSize");
    found.and_then(|one| one["value"].as_f64()).unwrap_or(0.0)
}

fn answers(scene: &Scene<'_>, row: &dyn Fn(&str, &str, String)) {
    let page = scene.browser;
    let doc = scene.game(json!({ "size": 9, "you": "black", "level": { "visits": 1_000_000 } }));
    scene.open(&format!("/go/{doc}"));
    page.until("the board", "document.querySelector('[data-turn-text]')");
    let times = page.run_later(
        "const done = arguments[arguments.length - 1];
         const wait = (is) => new Promise((ok) => { const look = () => is() ? ok(performance.now()) : requestAnimationFrame(look); look(); });
         (async () => {
           const cell = document.querySelector('[data-point=E5]'); const box = cell.getBoundingClientRect();
           const at = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true, button: 0, pointerType: 'mouse' };
           let start = performance.now();
           cell.dispatchEvent(new PointerEvent('pointerdown', at)); cell.dispatchEvent(new PointerEvent('pointerup', at));
           const stone = await wait(() => document.querySelector('.goban .stone, .ghost')) - start;
           await new Promise((ok) => setTimeout(ok, 700));
           start = performance.now();
           [...document.querySelectorAll('button')].find((b) => b.textContent === 'Take back').click();
           const back = await wait(() => !document.querySelector('.goban .stone')) - start;
           const idle = await wait(() => document.querySelector('.light').dataset.state === 'idle') - start;
           done([stone, back, idle]);
         })();",
    );
    let time = |index: usize| times[index].as_f64().unwrap_or(f64::NAN);
    row(
        "click to own stone",
        "< 50 ms",
        format!("{:.0} ms", time(0)),
    );
    row(
        "take back while it thinks",
        "< 150 ms",
        format!(
            "stone gone after {:.0} ms, idle after {:.0} ms",
            time(1),
            time(2)
        ),
    );
}

fn bottle(scene: &Scene<'_>, row: &dyn Fn(&str, &str, String)) {
    let page = scene.browser;
    scene.open("/bottle");
    page.until("a game", "window.tengenBottle.seats[0]?.state?.placed >= 1");
    page.run("window.tengenBottle.kept.playouts = 400; window.tengenBottle.start('watch'); window.tengenBottle.times.length = 0;", json!(null));
    std::thread::sleep(Duration::from_secs(20));
    let found = page.eval("(() => { const t = window.tengenBottle.times; return [t.length, t.filter((x) => x > 25).length, t.reduce((a, b) => a + b, 0)]; })()");
    let number = |index: usize| found[index].as_f64().unwrap_or(0.0);
    row(
        "bottle, 400 playouts, 20 s",
        "60 frames a second, < 1 % over 25 ms",
        format!(
            "{:.1} a second, {:.1} % over 25 ms",
            number(0) / number(2) * 1000.0,
            100.0 * number(1) / number(0)
        ),
    );
}

fn tabs(scene: &Scene<'_>, row: &dyn Fn(&str, &str, String)) {
    scene.browser.goto("about:blank");
    let doc = scene.record("(;SZ[9]KM[7.5];B[ee])");
    let mut first = scene.stage.client();
    let rate = |first: &mut crate::support::Client| -> f64 {
        first.ok("see", json!({ "doc": doc }));
        first.ok("think.start", json!({ "doc": doc }));
        let start = Instant::now();
        let mut last = Value::Null;
        let mut begun = None;
        while start.elapsed() < Duration::from_secs(5) {
            last = first.wait("analysis", |event| event["on"] == "think");
            begun =
                begun.or_else(|| Some((Instant::now(), last["visits"].as_f64().unwrap_or(0.0))));
        }
        first.ok("think.stop", json!({}));
        let (at, visits) = begun.unwrap();
        (last["visits"].as_f64().unwrap_or(0.0) - visits) / at.elapsed().as_secs_f64()
    };
    let alone = rate(&mut first);
    let mut others: Vec<_> = (0..49).map(|_| scene.stage.client()).collect();
    for other in &mut others {
        other.ok("see", json!({ "doc": doc, "visible": false }));
    }
    let together = rate(&mut first);
    let memory = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = memory.lines().find_map(|line| {
        line.strip_prefix("VmRSS:")?
            .trim()
            .strip_suffix(" kB")?
            .trim()
            .parse::<f64>()
            .ok()
    });
    row(
        "50 tabs",
        "below 300 MB, >= 95 % of one tab's rate",
        format!(
            "{:.0} MB, {:.0} % ({alone:.0} and {together:.0} visits a second)",
            resident.unwrap_or(0.0) / 1000.0,
            100.0 * together / alone.max(1.0)
        ),
    );
}
