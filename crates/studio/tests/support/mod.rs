//! A studio on a port of its own, and a client for its socket.
#![allow(dead_code)]

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use studio::{Running, Settings, Studio};
use tungstenite::{Message, WebSocket, client::IntoClientRequest};

/// How long a test waits for what must come.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A running studio with folders of its own.
pub struct Stage {
    pub studio: Option<Running>,
    pub folder: tempfile::TempDir,
    pub port: u16,
    pub key: String,
}

impl Stage {
    pub fn new() -> Stage {
        Stage::at(tempfile::tempdir().unwrap(), 0)
    }

    /// A studio that finds what another one left in the folder.
    pub fn at(folder: tempfile::TempDir, port: u16) -> Stage {
        let settings = Settings {
            port: Some(port),
            threads: 1,
            memory_mib: 256,
            seed: 1,
            state_folder: folder.path().join("state"),
            cache_folder: folder.path().join("cache"),
            runs: vec![folder.path().join("runs")],
            nets: Vec::new(),
            weights: Vec::new(),
            is_announced: false,
        };
        let studio = Studio::start(settings).unwrap();
        let (port, key) = (studio.port(), studio.key().to_owned());
        Stage {
            studio: Some(studio),
            folder,
            port,
            key,
        }
    }

    /// Ends the program, keeps the folder.
    pub fn stop(mut self) -> tempfile::TempDir {
        let studio = self.studio.take().unwrap();
        studio.stop();
        studio.wait();
        std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap())
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// A raw request; returns status, headers and body.
    pub fn ask(&self, head: &str, body: &[u8]) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!("{head}\r\nConnection: close\r\n");
        if !body.is_empty() {
            request += &format!("Content-Length: {}\r\n", body.len());
        }
        request += "\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        // A server that refuses early may close before the body is sent.
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let end = answer
            .windows(4)
            .position(|window| window == b"\r\n\r\n")
            .unwrap_or(answer.len());
        let headers = String::from_utf8_lossy(&answer[..end]).into_owned();
        let status = headers
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .unwrap_or(0);
        (
            status,
            headers,
            answer.get(end + 4..).unwrap_or_default().to_vec(),
        )
    }

    /// A request of our own page.
    pub fn own(&self, method: &str, path: &str, body: &[u8]) -> (u16, Value) {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{0}\r\nOrigin: http://127.0.0.1:{0}\r\nAuthorization: Bearer {1}",
            self.port, self.key
        );
        let (status, headers, body) = self.ask(&head, body);
        let body = if headers
            .to_ascii_lowercase()
            .contains("transfer-encoding: chunked")
        {
            unchunk(&body)
        } else {
            body
        };
        (
            status,
            serde_json::from_slice(&body)
                .unwrap_or(Value::String(String::from_utf8_lossy(&body).into_owned())),
        )
    }

    /// A socket that has said hello.
    pub fn client(&self) -> Client {
        let mut client = self.silent_client();
        let answer = client.ask("hello", json!({ "key": self.key, "protocol": 1 }));
        assert!(answer["ok"]["tab"].is_u64(), "{answer}");
        client.tab = answer["ok"]["tab"].as_u64().unwrap();
        client
    }

    /// A socket that has not said anything.
    pub fn silent_client(&self) -> Client {
        let request = socket_request(self.port, &self.address());
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let (socket, _) = tungstenite::client(request, stream).unwrap();
        Client {
            socket,
            numbers: 0,
            events: Vec::new(),
            tab: 0,
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(studio) = self.studio.take() {
            studio.stop();
            studio.wait();
        }
    }
}

fn unchunk(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|window| window == b"\r\n") {
        let size =
            usize::from_str_radix(String::from_utf8_lossy(&body[..end]).trim(), 16).unwrap_or(0);
        if size == 0 || body.len() < end + 2 + size {
            break;
        }
        whole.extend_from_slice(&body[end + 2..end + 2 + size]);
        body = &body[(end + 4 + size).min(body.len())..];
    }
    whole
}

/// The request that opens a socket, from a page of `origin`.
pub fn socket_request(port: u16, origin: &str) -> tungstenite::handshake::client::Request {
    let mut request = format!("ws://127.0.0.1:{port}/ws")
        .into_client_request()
        .unwrap();
    request
        .headers_mut()
        .insert("Origin", origin.parse().unwrap());
    request
}

/// One tab, without a browser.
pub struct Client {
    pub socket: WebSocket<TcpStream>,
    numbers: u64,
    /// Events that nobody waited for yet.
    pub events: Vec<Value>,
    pub tab: u64,
}

impl Client {
    /// Asks, and waits for the answer.
    pub fn ask(&mut self, verb: &str, mut fields: Value) -> Value {
        self.numbers += 1;
        let id = self.numbers;
        fields["id"] = json!(id);
        fields["do"] = json!(verb);
        self.socket.send(Message::text(fields.to_string())).unwrap();
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            let message = self.read();
            if message["re"] == json!(id) {
                return message;
            }
            self.events.push(message);
        }
        panic!("no answer to {verb}");
    }

    /// Asks for what must work.
    pub fn ok(&mut self, verb: &str, fields: Value) -> Value {
        let answer = self.ask(verb, fields);
        assert!(answer.get("ok").is_some(), "{verb}: {answer}");
        answer["ok"].clone()
    }

    /// Asks for what must be refused; returns the code.
    pub fn refused(&mut self, verb: &str, fields: Value) -> String {
        let answer = self.ask(verb, fields);
        answer["err"]["code"]
            .as_str()
            .unwrap_or_else(|| panic!("{verb} was not refused: {answer}"))
            .to_owned()
    }

    /// The next event for which `is_it` holds.
    pub fn wait(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.events.iter().position(&is_it) {
            return self.events.remove(at);
        }
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            let event = self.read();
            if is_it(&event) {
                return event;
            }
        }
        panic!("{what} did not come");
    }

    /// The next message, numbers left out.
    pub fn read(&mut self) -> Value {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => return serde_json::from_str(&text).unwrap(),
                Ok(Message::Close(frame)) => panic!("closed: {frame:?}"),
                Ok(_) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Waits until the server closes the connection; returns the code.
    pub fn closed(&mut self) -> Option<u16> {
        loop {
            match self.socket.read() {
                Ok(Message::Close(frame)) => return frame.map(|frame| frame.code.into()),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }
}
