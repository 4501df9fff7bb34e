//! Scenarios 30 and 31: every view in both themes, on a phone, in another language, for every reader.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::Scene;

/// axe-core, if somebody has fetched it: `TENGEN_AXE` names the file.
fn axe() -> Option<String> {
    let named = std::env::var_os("TENGEN_AXE").map(PathBuf::from);
    let usual = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../axe/axe.min.js");
    named
        .into_iter()
        .chain([usual])
        .find_map(|file| fs::read_to_string(file).ok())
}

fn views(scene: &Scene<'_>) -> Vec<(&'static str, String, &'static str)> {
    let game = scene.record("(;SZ[9]KM[7.5]PB[Black]PW[White];B[ee];W[ec];B[ge])");
    let problem =
        scene.record("(;SZ[7]AB[ae][be][ce][de][ee][ef][eg]AW[af][bf][cf][df][dg]MA[af]PL[B])");
    vec![
        (
            "home",
            "/".into(),
            "document.querySelectorAll('.board [data-point]').length === 81",
        ),
        (
            "go",
            format!("/go/{game}"),
            "document.querySelectorAll('.goban .stone').length === 3",
        ),
        (
            "problems",
            format!("/problems/{problem}"),
            "document.querySelectorAll('.ringed.target').length === 5",
        ),
        (
            "bottle",
            "/bottle".into(),
            "document.querySelectorAll('[data-ghost]').length > 0",
        ),
        (
            "training",
            "/runs".into(),
            "document.querySelector('.runsview h2')",
        ),
        (
            "networks",
            "/nets/inside".into(),
            "document.querySelectorAll('.planes canvas').length > 8",
        ),
    ]
}

pub fn everywhere(scene: &Scene<'_>) {
    let page = scene.browser;
    let axe = axe();
    if axe.is_none() {
        println!("skipped: axe-core (put axe.min.js at target/axe, or name it in TENGEN_AXE)");
    }
    for (name, path, is_ready) in views(scene) {
        for (scheme, motion) in [("light", "no-preference"), ("dark", "reduce")] {
            for (width, height, is_phone) in [(1360, 900, false), (390, 844, true)] {
                page.resize(width, height, is_phone);
                page.media(scheme, motion);
                scene.open(&path);
                page.until(name, is_ready);
                let wide = page
                    .eval("document.documentElement.scrollWidth - window.innerWidth")
                    .as_i64()
                    .unwrap();
                assert!(
                    wide <= 1,
                    "{name} at {width} pixels scrolls sideways by {wide}"
                );
                check_names(scene, name);
                if let Some(axe) = &axe {
                    check_axe(scene, name, axe);
                }
                scene.look(&format!(
                    "views/{name}-{scheme}-{}",
                    if is_phone { "phone" } else { "desktop" }
                ));
            }
        }
    }
    two_taps(scene);
    large_text(scene);
}

/// Own checks, for whoever has no axe: everything that can be used has a name, and one main part is there.
fn check_names(scene: &Scene<'_>, view: &str) {
    let nameless = scene.browser.eval(
        "[...document.querySelectorAll('button, a, input, select, textarea, [role=gridcell], [role=img], canvas:not([aria-hidden])')].filter((e) => e.offsetParent !== null || e.ownerSVGElement)
          .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')?.textContent.trim() || e.getAttribute('aria-hidden') || e.closest('figure'))).map((e) => e.outerHTML.slice(0, 120))",
    );
    assert_eq!(nameless, json!([]), "{view}");
    assert_eq!(
        scene
            .browser
            .eval("document.querySelectorAll('main').length"),
        json!(1)
    );
    assert!(
        scene
            .browser
            .eval("document.querySelectorAll('h1').length")
            .as_u64()
            >= Some(1),
        "{view} has a heading"
    );
}

fn check_axe(scene: &Scene<'_>, view: &str, axe: &str) {
    let page = scene.browser;
    page.run(&format!("{axe}; return 1;"), Value::Null);
    let found = page.run_later("const done = arguments[arguments.length - 1]; window.axe.run(document, { resultTypes: ['violations'] }).then((r) => done(r.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 140) + ' ' + (n.any[0]?.message ?? '')).join(' | '))), (e) => done([String(e)]));");
    assert_eq!(found, json!([]), "{view}");
}

fn two_taps(scene: &Scene<'_>) {
    let page = scene.browser;
    page.resize(390, 844, true);
    let doc = scene.game(json!({ "size": 19, "you": "both" }));
    scene.open(&format!("/go/{doc}"));
    page.until("the whole board", "(() => { const b = document.querySelector('.board').getBoundingClientRect(); return b.left >= 0 && b.right <= window.innerWidth + 1 && b.width > 300; })()");
    page.tap(".board [data-point='Q16']");
    page.until("a ghost with cross-hairs", "document.querySelector('.hover.armed[data-hover=Q16]') && document.querySelector('.goban .cross')");
    assert_eq!(
        page.eval("document.querySelectorAll('.goban .stone').length"),
        json!(0)
    );
    page.tap(".board [data-point='Q16']");
    page.until(
        "the stone",
        "document.querySelectorAll('.goban .stone').length === 1",
    );
}

fn large_text(scene: &Scene<'_>) {
    let page = scene.browser;
    page.resize(1360, 900, false);
    scene.open("/");
    page.run(
        "document.documentElement.style.setProperty('font-size', '200%');",
        json!(null),
    );
    page.until(
        "the page fits",
        "document.documentElement.scrollWidth <= window.innerWidth + 1",
    );
}

/// In the language of brackets, every visible text goes through the dictionary.
pub fn words(scene: &Scene<'_>) {
    let page = scene.browser;
    let all = views(scene);
    scene.open("/");
    page.run(
        "localStorage.setItem('tengen.settings.1', JSON.stringify({ lang: 'xx' }));",
        json!(null),
    );
    page.goto("about:blank");
    for (name, path, is_ready) in all {
        scene.open(&path);
        page.until(name, is_ready);
        let bare = page.eval(
            "(() => { const found = []; const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); let open = 0;
              while (walk.nextNode()) { const node = walk.currentNode; const text = node.textContent.trim(); const parent = node.parentElement;
                if (!text || !/[A-Za-z]{2}/.test(text) || parent.closest('[data-raw], svg, script, style, noscript, textarea') || parent.offsetParent === null) continue;
                if (!/[⟦⟧]/.test(text)) found.push(parent.tagName + ': ' + text); }
              return [...new Set(found)]; })()",
        );
        assert_eq!(bare, json!([]), "{name}");
    }
}
