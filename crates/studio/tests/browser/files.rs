//! Scenarios 12, 13, 32 and 33: files, good and bad, and other people's pages.

use std::{
    io::{Read, Write},
    net::TcpListener,
};

use serde_json::json;

use crate::Scene;

/// Drops bytes on the page, as a file.
fn drop_file(scene: &Scene<'_>, name: &str, bytes: &[u8]) {
    scene.browser.run(
        "const [name, bytes] = arguments[0]; const transfer = new DataTransfer(); transfer.items.add(new File([new Uint8Array(bytes)], name));
         document.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));",
        json!([name, bytes]),
    );
}

pub fn good(scene: &Scene<'_>) {
    let page = scene.browser;
    scene.open("/");
    drop_file(
        scene,
        "game.sgf",
        b"(;SZ[9]PB[Tengen]PW[GNU Go];B[ee];W[cc];B[gg])",
    );
    page.until("the last move", "location.pathname.startsWith('/go/') && document.querySelectorAll('.goban .stone').length === 3 && document.querySelector('.where').textContent === '3/3'");
    page.until("the players", "document.querySelector('.player.black').textContent.includes('Tengen') && document.querySelector('.player.white').textContent.includes('GNU Go')");
    page.run(
        "const data = new DataTransfer(); data.setData('text', '(;SZ[9]PB[Eve]PW[Dan];B[aa])'); document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));",
        json!(null),
    );
    page.until(
        "the pasted game",
        "document.querySelector('.player.black')?.textContent.includes('Eve')",
    );
    // Two names in GB18030, and no word about it.
    let mut chinese = b"(;SZ[19]PB[".to_vec();
    chinese.extend(b"\xb9\xc5\xc1\xa6");
    chinese.extend(b"]PW[\xbf\xc2\xbd\xe0]GN[\xca\xc0\xbd\xe7\xce\xa7\xc6\xe5\xbd\xf5\xb1\xea\xc8\xfc\xb5\xda\xd2\xbb\xbe\xd6];B[pd];W[dp])");
    drop_file(scene, "chinese.sgf", &chinese);
    page.until("the names", "document.querySelector('.player.black')?.textContent.includes('古力') && document.querySelector('.player.white')?.textContent.includes('柯洁')");
}

pub fn bad(scene: &Scene<'_>) {
    let page = scene.browser;
    let doc = scene.record("(;SZ[9];B[ee])");
    scene.open(&format!("/go/{doc}"));
    page.until(
        "the board",
        "document.querySelectorAll('.goban .stone').length === 1",
    );
    let alert = |words: &str| {
        format!(
            "[...document.querySelectorAll('[role=alert]')].some((a) => a.textContent.includes({}))",
            json!(words)
        )
    };
    drop_file(scene, "cut.sgf", b"(;SZ[9];B[ee];W[c");
    page.until("the place", &alert("game 1, node 3, property W"));
    page.run(
        "const transfer = new DataTransfer(); transfer.items.add(new File([new Uint8Array(5 << 20)], 'large.sgf')); document.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));",
        json!(null),
    );
    page.until("the limit", &alert("4 MiB"));
    drop_file(scene, "picture.png", b"\x89PNG\r\n\x1a\n");
    page.until("no game", &alert("no game in this file"));
    assert!(page.address().ends_with(&doc), "what was open stays");
    assert_eq!(
        page.eval("document.querySelectorAll('.goban .stone').length"),
        json!(1)
    );
}

/// A page of somebody else's tries everything it can.
pub fn other_origin(scene: &Scene<'_>) {
    let page = scene.browser;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        for _ in 0..2 {
            let Ok((mut stream, _)) = listener.accept() else {
                return;
            };
            let _ = stream.read(&mut [0; 4096]);
            let body = "<!doctype html><title>elsewhere</title><link rel=icon href='data:,'>";
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    page.goto(&format!("http://127.0.0.1:{port}/"));
    let tried = page.run_later(&format!(
        "const done = arguments[arguments.length - 1]; const at = '{0}'; const key = '{1}';
         const read = (options) => fetch(at + '/api/nets', options).then((r) => r.text().then((t) => 'read ' + t.slice(0, 20)), () => 'refused');
         const post = () => fetch(at + '/api/docs', {{ method: 'POST', body: '(;)', mode: 'no-cors' }}).then((r) => r.type === 'opaque' ? 'opaque' : 'read', () => 'refused');
         const socket = () => new Promise((ok) => {{ const s = new WebSocket(at.replace('http', 'ws') + '/ws'); s.onopen = () => ok('open'); s.onerror = () => ok('refused'); }});
         const script = () => new Promise((ok) => {{ const s = document.createElement('script'); s.src = at + '/assets/app.js'; s.onload = () => ok('loaded'); s.onerror = () => ok('refused'); document.head.append(s); }});
         const frame = () => new Promise((ok) => {{ const f = document.createElement('iframe'); f.src = at + '/'; f.onload = () => {{ try {{ ok(f.contentDocument ? 'open' : 'refused'); }} catch {{ ok('refused'); }} }}; document.body.append(f); }});
         Promise.all([read({{}}), read({{ headers: {{ Authorization: 'Bearer ' + key }} }}), post(), socket(), script(), frame()]).then(done);",
        scene.stage.address(),
        scene.stage.key
    ));
    for (index, what) in [
        "a plain fetch",
        "a fetch with the key",
        "a blind post",
        "a socket",
        "a script",
        "a frame",
    ]
    .iter()
    .enumerate()
    {
        let outcome = tried[index].as_str().unwrap();
        assert!(
            outcome == "refused" || outcome == "opaque",
            "{what}: {outcome}"
        );
    }
    let mut client = scene.stage.client();
    assert_eq!(
        client.ok("docs", json!({}))["docs"],
        json!([]),
        "the blind post opened nothing"
    );
    drop(server);
    assert_eq!(
        scene
            .stage
            .ask("GET / HTTP/1.1\r\nHost: studio.evil.example", b"")
            .0,
        421
    );
}

pub fn hostile(scene: &Scene<'_>) {
    let page = scene.browser;
    let attack = "<img src=x onerror=window.hurt=1>";
    scene.open("/");
    let sgf = format!(
        "(;SZ[9]PB[{attack}]PW[<script>window.hurt=2</script>]C[{attack}];B[ee]C[{attack}]LB[cc:{attack}])"
    );
    drop_file(scene, &format!("{attack}.sgf"), sgf.as_bytes());
    page.until(
        "the name as text",
        &format!(
            "document.querySelector('.player.black')?.textContent.includes({})",
            json!(attack)
        ),
    );
    page.until(
        "the comment as text",
        &format!(
            "document.querySelector('.side textarea').value === {}",
            json!(attack)
        ),
    );
    assert_eq!(page.eval("window.hurt ?? null"), json!(null));
    assert_eq!(
        page.eval("document.querySelectorAll('main img, main script').length"),
        json!(0)
    );
    drop_file(scene, &format!("{attack}.txt"), b"no network");
    page.until("a refusal", "document.querySelector('[role=alert]')");
    assert_eq!(page.eval("window.hurt ?? null"), json!(null));
    page.log();
}
