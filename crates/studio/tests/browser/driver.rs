//! A browser, driven through chromedriver: WebDriver is JSON over HTTP, so a socket and a few lines suffice.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// How long a scenario waits for what must become visible.
const PATIENCE: Duration = Duration::from_secs(60);
/// The name WebDriver gives an element in JSON.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser session.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

/// An element of the page.
pub struct Element(String);

fn find_program(names: &[&str]) -> Option<String> {
    let paths = std::env::var("PATH").unwrap_or_default();
    let folders = paths
        .split(':')
        .chain(["/usr/bin", "/usr/lib/chromium"])
        .map(str::to_owned)
        .collect::<Vec<_>>();
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| format!("{folder}/{name}")))
        .find(|path| Path::new(path).is_file())
}

impl Browser {
    /// A browser, if there is one with its driver on this machine.
    pub fn start() -> Option<Browser> {
        let driver = find_program(&["chromedriver"])?;
        let chromium = find_program(&["chromium", "chromium-browser", "google-chrome"])?;
        let port = TcpListener::bind("127.0.0.1:0")
            .ok()?
            .local_addr()
            .ok()?
            .port();
        let child = Command::new(driver)
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Browser {
            driver: child,
            port,
            session: String::new(),
            _profile: profile,
        };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < PATIENCE, "chromedriver does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        let profile = format!("--user-data-dir={}", browser._profile.path().display());
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--hide-scrollbars",
            "--window-size=1360,900",
            "--lang=en-GB",
            &profile,
        ];
        let made = browser.send(
            "POST",
            "/session",
            json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "binary": chromium, "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
            "timeouts": { "script": PATIENCE.as_millis() as u64 * 2 },
        } } }),
        );
        browser.session = made["sessionId"].as_str().expect("a session").to_owned();
        Some(browser)
    }

    /// Sends a command; panics with what the driver says if it fails.
    fn send(&self, method: &str, path: &str, body: Value) -> Value {
        self.try_send(method, path, body)
            .unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    fn try_send(&self, method: &str, path: &str, body: Value) -> Result<Value, String> {
        let mut stream =
            TcpStream::connect(("127.0.0.1", self.port)).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(PATIENCE * 2)).unwrap();
        let body = if method == "GET" || method == "DELETE" {
            String::new()
        } else {
            body.to_string()
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        );
        stream
            .write_all(request.as_bytes())
            .map_err(|error| error.to_string())?;
        let mut answer = Vec::new();
        // The driver keeps the connection open: the length says where the answer ends.
        let mut buffer = [0; 65536];
        loop {
            let read = stream
                .read(&mut buffer)
                .map_err(|error| error.to_string())?;
            answer.extend_from_slice(&buffer[..read]);
            let Some(end) = answer.windows(4).position(|window| window == b"\r\n\r\n") else {
                if read == 0 {
                    return Err("no answer".into());
                } else {
                    continue;
                }
            };
            let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
            let length: usize = head
                .split("content-length:")
                .nth(1)
                .and_then(|rest| rest.lines().next()?.trim().parse().ok())
                .unwrap_or(0);
            if answer.len() >= end + 4 + length || read == 0 {
                let value: Value = serde_json::from_slice(&answer[end + 4..])
                    .map_err(|error| error.to_string())?;
                return match value["value"].get("error") {
                    Some(error) if error.is_string() => Err(value["value"]["message"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned()),
                    _ => Ok(value["value"].clone()),
                };
            }
        }
    }

    fn command(&self, method: &str, path: &str, body: Value) -> Value {
        self.send(method, &format!("/session/{}{path}", self.session), body)
    }

    pub fn goto(&self, address: &str) {
        self.command("POST", "/url", json!({ "url": address }));
    }

    pub fn address(&self) -> String {
        self.command("GET", "/url", Value::Null)
            .as_str()
            .unwrap()
            .to_owned()
    }

    pub fn refresh(&self) {
        self.command("POST", "/refresh", json!({}));
    }

    /// Runs a script in the page: `arguments[0]` is `argument`.
    pub fn run(&self, script: &str, argument: Value) -> Value {
        self.command(
            "POST",
            "/execute/sync",
            json!({ "script": script, "args": [argument] }),
        )
    }

    /// Runs a script that answers later, by calling its last argument.
    pub fn run_later(&self, script: &str) -> Value {
        self.command(
            "POST",
            "/execute/async",
            json!({ "script": script, "args": [] }),
        )
    }

    /// What an expression is worth in the page.
    pub fn eval(&self, expression: &str) -> Value {
        self.run(&format!("return ({expression});"), Value::Null)
    }

    /// Waits until an expression is true in the page.
    pub fn until(&self, what: &str, expression: &str) -> Value {
        let start = Instant::now();
        loop {
            let path = format!("/session/{}/execute/sync", self.session);
            let script = format!("try {{ return ({expression}); }} catch (e) {{ return null; }}");
            let value = self
                .try_send("POST", &path, json!({ "script": script, "args": [] }))
                .unwrap_or(Value::Null);
            let is_true = !matches!(value, Value::Null | Value::Bool(false))
                && value != json!(0)
                && value != json!("");
            if is_true {
                return value;
            }
            if start.elapsed() > PATIENCE {
                self.keep_failure(what);
                panic!("{what}: never became true: {expression}");
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// An element by CSS.
    pub fn find(&self, css: &str) -> Element {
        self.until(
            &format!("{css} is there"),
            &format!("document.querySelector({})", json!(css)),
        );
        let found = self.command(
            "POST",
            "/element",
            json!({ "using": "css selector", "value": css }),
        );
        Element(found[ELEMENT].as_str().unwrap().to_owned())
    }

    /// Clicks what a user would click.
    pub fn click(&self, css: &str) {
        let start = Instant::now();
        loop {
            let element = self.find(css);
            let path = format!("/session/{}/element/{}/click", self.session, element.0);
            match self.try_send("POST", &path, json!({})) {
                Ok(_) => return,
                Err(error) if start.elapsed() > Duration::from_secs(10) => {
                    self.keep_failure(css);
                    panic!("click {css}: {error}");
                }
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    /// Clicks the button with this text, wherever it is.
    pub fn press(&self, text: &str) {
        let find = format!(
            "[...document.querySelectorAll('button, a')].find((b) => b.offsetParent !== null && b.textContent.trim().startsWith({}))",
            json!(text)
        );
        self.until(&format!("button {text}"), &format!("Boolean({find})"));
        self.run(
            &format!("{find}.setAttribute('data-press', '1');"),
            Value::Null,
        );
        self.click("[data-press]");
        self.run(
            "document.querySelector('[data-press]')?.removeAttribute('data-press');",
            Value::Null,
        );
    }

    /// Clicks a point of the board.
    pub fn point(&self, at: &str) {
        self.click(&format!(".board [data-point='{at}']"));
    }

    /// Presses keys one after the other. Names as WebDriver's, such as `\u{E015}` for down.
    pub fn keys(&self, keys: &[&str]) {
        let actions: Vec<Value> = keys
            .iter()
            .flat_map(|key| {
                [
                    json!({ "type": "keyDown", "value": key }),
                    json!({ "type": "keyUp", "value": key }),
                ]
            })
            .collect();
        self.command(
            "POST",
            "/actions",
            json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] }),
        );
        self.command("DELETE", "/actions", Value::Null);
    }

    /// Moves the mouse over an element.
    pub fn hover(&self, css: &str) {
        let element = self.find(css);
        self.command("POST", "/actions", json!({ "actions": [{ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" },
            "actions": [{ "type": "pointerMove", "duration": 20, "origin": { ELEMENT: element.0 }, "x": 0, "y": 0 }] }] }));
    }

    /// Taps an element with a finger.
    pub fn tap(&self, css: &str) {
        let element = self.find(css);
        self.command("POST", "/actions", json!({ "actions": [{ "type": "pointer", "id": "finger", "parameters": { "pointerType": "touch" },
            "actions": [{ "type": "pointerMove", "duration": 0, "origin": { ELEMENT: element.0 }, "x": 0, "y": 0 }, { "type": "pointerDown", "button": 0 }, { "type": "pause", "duration": 30 }, { "type": "pointerUp", "button": 0 }] }] }));
        self.command("DELETE", "/actions", Value::Null);
    }

    pub fn text(&self, css: &str) -> String {
        self.eval(&format!(
            "document.querySelector({})?.textContent ?? ''",
            json!(css)
        ))
        .as_str()
        .unwrap_or_default()
        .to_owned()
    }

    /// A command of the browser's own protocol.
    pub fn cdp(&self, command: &str, params: Value) -> Value {
        self.command(
            "POST",
            "/goog/cdp/execute",
            json!({ "cmd": command, "params": params }),
        )
    }

    /// What the console said since the last look.
    pub fn log(&self) -> Vec<(String, String)> {
        let lines = self.command("POST", "/se/log", json!({ "type": "browser" }));
        let line = |line: &Value| {
            (
                line["level"].as_str().unwrap_or_default().to_owned(),
                line["message"].as_str().unwrap_or_default().to_owned(),
            )
        };
        lines.as_array().into_iter().flatten().map(line).collect()
    }

    /// A picture of the window.
    pub fn picture(&self, file: &Path) {
        let text = self.command("GET", "/screenshot", Value::Null);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, decode(text.as_str().unwrap())).unwrap();
    }

    /// The window's size as the page sees it.
    pub fn resize(&self, width: u32, height: u32, is_phone: bool) {
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone }),
        );
        self.cdp(
            "Emulation.setTouchEmulationEnabled",
            json!({ "enabled": is_phone }),
        );
    }

    /// Light or dark, calm or not.
    pub fn media(&self, scheme: &str, motion: &str) {
        self.cdp("Emulation.setEmulatedMedia", json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }, { "name": "prefers-reduced-motion", "value": motion }] }));
    }

    pub fn new_tab(&self) -> String {
        self.command("POST", "/window/new", json!({ "type": "tab" }))["handle"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    pub fn tab(&self) -> String {
        self.command("GET", "/window", Value::Null)
            .as_str()
            .unwrap()
            .to_owned()
    }

    pub fn switch(&self, handle: &str) {
        self.command("POST", "/window", json!({ "handle": handle }));
    }

    pub fn close_tab(&self) {
        self.command("DELETE", "/window", Value::Null);
    }

    /// Leaves picture, page and log of a failure behind.
    fn keep_failure(&self, what: &str) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("studio-failures");
        let _ = fs::create_dir_all(&folder);
        let name: String = what
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() {
                    letter
                } else {
                    '-'
                }
            })
            .take(60)
            .collect();
        self.picture(&folder.join(format!("{name}.png")));
        let page = self.eval("document.documentElement.outerHTML");
        let _ = fs::write(
            folder.join(format!("{name}.html")),
            page.as_str().unwrap_or_default(),
        );
        let _ = fs::write(
            folder.join(format!("{name}.log")),
            format!("{:#?}", self.log()),
        );
        eprintln!("kept in {}", folder.display());
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = self.try_send("DELETE", &format!("/session/{}", self.session), Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Base64, which screenshots come in.
fn decode(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let letters: Vec<u32> = text.bytes().filter_map(value).map(u32::from).collect();
    let mut bytes = Vec::with_capacity(letters.len() * 3 / 4);
    for chunk in letters.chunks(4) {
        let bits =
            chunk.iter().fold(0, |bits, letter| bits << 6 | letter) << (6 * (4 - chunk.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
    }
    bytes
}
