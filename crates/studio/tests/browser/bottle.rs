//! Scenarios 22 and 23: Dr. Mario.

use serde_json::json;

use crate::Scene;

/// The page's control code against the server's: random pills, boards, speeds and fingers.
const COMPARE: &str = "
    const done = arguments[arguments.length - 1];
    Promise.all([import('/assets/bottle/control.js'), import('/assets/wire.js')]).then(async ([control, wire]) => {
      let seed = 12345;
      const random = (n) => { seed = (seed * 1103515245 + 12345) & 0x7fffffff; return (seed >> 8) % n; };
      let pills = 0, drift = 0, points = 0;
      for (let game = 0; pills < 2000 && game < 600; game += 1) {
        let state = await wire.ask('bottle.new', { side: 0, level: game % 5, seed: 1000 + game, speed: ['low', 'med', 'hi'][game % 3] });
        while (!state.ending) {
          const falling = new control.Falling(state.board, state.frames_per_row);
          const frames = [];
          let held = 0;
          for (;;) {
            if (random(4) === 0) held = random(32);
            frames.push(held);
            if (falling.step(held)) break;
          }
          const pose = falling.pose;
          const locked = await wire.ask('bottle.locked', { side: 0, frames: control.runs(frames) });
          const at = locked.placement;
          if (at.x !== pose.x || at.y !== pose.y || at.turns !== pose.turns) drift += 1;
          points += locked.gained;
          if (locked.points < points - 1e9) drift += 1;
          pills += 1;
          state = locked;
        }
        points = 0;
      }
      done({ pills, drift });
    }, (error) => done({ error: String(error) }));";

pub fn keys(scene: &Scene<'_>) {
    let page = scene.browser;
    scene.open("/bottle");
    page.until("a bottle", "document.querySelector('canvas.bottle')");
    // The game that is being watched uses the same bottle: it must stand still.
    page.until(
        "it plays, and is stopped with a pill in the air",
        "(() => { const view = window.tengenBottle; if (view.seats[0]?.phase !== 'falling') return false; view.pause(true); return true; })()",
    );
    let compared = page.run_later(COMPARE);
    assert_eq!(compared["drift"], json!(0), "{compared}");
    assert!(compared["pills"].as_u64() > Some(1500), "{compared}");
    // With real keys: level 0, one pill by hand.
    page.run("const f = document.querySelector('.bottleview input[max=\"24\"]'); f.value = '0'; f.dispatchEvent(new Event('change'));", json!(null));
    page.press("Play");
    page.until("four viruses", "window.tengenBottle.mode === 'play' && window.tengenBottle.seats[0]?.state?.left === 4 && window.tengenBottle.seats[0].phase === 'falling'");
    page.keys(&["\u{E012}", "x"]);
    page.run(
        "window.tengenBottle.seats[0].fingers.press(4);",
        json!(null),
    );
    page.until(
        "a pill lies",
        "window.tengenBottle.seats[0].state.placed >= 1",
    );
    page.run(
        "window.tengenBottle.seats[0].fingers.release(4);",
        json!(null),
    );
    assert_eq!(page.eval("window.tengenBottle.seats[0].drift"), json!(0));
    page.keys(&["p"]);
    page.until("paused", "window.tengenBottle.isPaused");
}

pub fn watch(scene: &Scene<'_>) {
    let page = scene.browser;
    scene.open("/bottle");
    page.until("the view", "document.querySelector('.bottleview input')");
    page.run("const f = document.querySelector('.bottleview input[max=\"24\"]'); f.value = '5'; f.dispatchEvent(new Event('change'));", json!(null));
    page.press("Watch");
    page.until(
        "thoughts",
        "document.querySelectorAll('[data-ghost] [data-share]').length >= 2",
    );
    let sum = page.eval("[...document.querySelectorAll('[data-share]')].reduce((a, c) => a + Number(c.dataset.share), 0)").as_f64().unwrap();
    assert!(sum <= 1.000_001, "{sum}");
    page.until("ghosts and a pill in the air", "window.tengenBottle.seats[0].bottle.ghosts.length > 0 && window.tengenBottle.seats[0].state.placed >= 2 && window.tengenBottle.seats[0].phase === 'falling'");
    scene.picture("studio-bottle");
    page.click("[data-pace='16']");
    page.until(
        "cleared",
        "document.querySelector('.bottlestatus').textContent.includes('Cleared')",
    );
    assert_eq!(
        page.eval("window.tengenBottle.seats[0].state.left"),
        json!(0)
    );
    assert_eq!(page.eval("window.tengenBottle.seats[0].drift"), json!(0));
    page.click("[data-pace='1']");
    page.press("Against Tengen");
    page.until("two bottles", "document.querySelectorAll('canvas.bottle').length === 2 && window.tengenBottle.seats[1]?.state?.placed >= 1");
    scene.picture("studio-versus");
}
