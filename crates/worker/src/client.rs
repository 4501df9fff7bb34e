//! Questions to a server, and answers that are believed only with its signature.

use std::{path::Path, time::Duration};

use fleet::{
    Order,
    wire::{PROTOCOL, Receipt, Task, TaskBatch, TaskRequest, Voice, hex, is_signed, random_bytes},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use ureq::{
    Agent,
    http::StatusCode,
    tls::{Certificate, RootCerts, TlsConfig},
};

use crate::WorkError;

/// What this program calls itself.
pub const CLIENT: &str = concat!("tengen ", env!("CARGO_PKG_VERSION"));

/// A question takes no longer than the longest wait for tasks and a little more.
const TIMEOUT: Duration = Duration::from_secs(90);
/// The longest answer that is read.
const MOST_ANSWER_BYTES: u64 = 16 << 20;
/// The largest network that is fetched.
const MOST_NETWORK_BYTES: u64 = 1 << 30;

/// A server, as a worker sees it.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    url: String,
    token: Option<String>,
    /// The server's key, once it is known.
    key: Option<String>,
}

impl Client {
    /// A server at an address such as `http://127.0.0.1:8470`.
    pub fn new(url: &str) -> Result<Client, WorkError> {
        Client::over(url, TlsConfig::default())
    }

    /// A server whose certificate was signed by the authority in this PEM file, and by no other.
    pub fn with_authority(url: &str, file: &Path) -> Result<Client, WorkError> {
        let bad = |why: String| WorkError::File {
            path: file.to_owned(),
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, why),
        };
        let pem = std::fs::read(file).map_err(|source| WorkError::File {
            path: file.to_owned(),
            source,
        })?;
        let certificate = Certificate::from_pem(&pem).map_err(|error| bad(error.to_string()))?;
        let roots = RootCerts::new_with_certs(&[certificate]);
        Client::over(url, TlsConfig::builder().root_certs(roots).build())
    }

    /// The server on this machine, whose certificate names another address than the one of this machine to itself.
    pub fn on_this_machine(url: &str) -> Result<Client, WorkError> {
        let tls = TlsConfig::builder().disable_verification(true).build();
        Client::over(url, tls)
    }

    fn over(url: &str, tls: TlsConfig) -> Result<Client, WorkError> {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(WorkError::Refused(format!(
                "{url} is no address of a server: it must begin with http:// or https://"
            )));
        }
        let config = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .tls_config(tls)
            .http_status_as_error(false)
            .user_agent(CLIENT)
            .build();
        Ok(Client {
            agent: config.into(),
            url: url.trim_end_matches('/').to_owned(),
            token: None,
            key: None,
        })
    }

    /// The server's address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// From now on every question carries this token.
    pub fn set_token(&mut self, token: &str) {
        self.token = Some(token.to_owned());
    }

    /// From now on only answers with this key's signature are believed.
    pub fn trust(&mut self, key: &str) {
        self.key = Some(key.to_owned());
    }

    /// What the server says of itself; its answer must be signed with the key it names.
    pub fn hello(&self) -> Result<Value, WorkError> {
        let nonce = nonce()?;
        let path = "/v1/hello";
        let (bytes, signed) = self.send("GET", path, &nonce, None)?;
        let hello: Value = parse(&bytes)?;
        let key = hello["key"].as_str().unwrap_or_default();
        if let Some(known) = &self.key
            && known != key
        {
            return Err(WorkError::Untrusted(format!(
                "{} has another key than when this folder first met it: {key}, not {known}. If the operator says that \
                 this is right, delete server.json in the folder",
                self.url
            )));
        }
        signed.verify(key, path, &nonce, &bytes)?;
        let oldest = hello["oldest"].as_u64().unwrap_or(0);
        if oldest > u64::from(PROTOCOL) {
            return Err(WorkError::Refused(format!(
                "it needs version {oldest} of the protocol, and {CLIENT} speaks {PROTOCOL}; get the newest tengen"
            )));
        }
        Ok(hello)
    }

    /// Registers a key; returns the worker's name, and its token if it is new.
    pub fn register(&self, name: &str, key: &str) -> Result<(String, Option<String>), WorkError> {
        let question = json!({ "name": name, "key": key });
        let answer: Value = self.ask("POST", "/v1/register", Some(&question.to_string()))?;
        let text = |field: &str| answer[field].as_str().map(str::to_owned);
        Ok((text("name").unwrap_or_default(), text("token")))
    }

    /// Asks for tasks.
    pub fn tasks(&self, request: &TaskRequest) -> Result<TaskBatch, WorkError> {
        self.ask("POST", "/v1/tasks", Some(&text(request)))
    }

    /// Says which tasks are in hand; returns the ids of those that are not wanted any more.
    pub fn renew(&self, tasks: &[Task]) -> Result<Vec<String>, WorkError> {
        let answer: Value = self.ask("POST", "/v1/tasks/renew", Some(&text(&tasks)))?;
        let ids = answer["not_wanted"].as_array().cloned().unwrap_or_default();
        Ok(ids
            .iter()
            .filter_map(|id| id.as_str().map(str::to_owned))
            .collect())
    }

    pub fn give_back(&self, tasks: &[Task]) -> Result<(), WorkError> {
        let _: Value = self.ask("POST", "/v1/tasks/give-back", Some(&text(&tasks)))?;
        Ok(())
    }

    /// Hands a game in.
    pub fn hand_in(&self, id: &str, envelope: &[u8]) -> Result<Receipt, WorkError> {
        let path = format!("/v1/games/{id}");
        let nonce = nonce()?;
        let (bytes, signed) = self.send("PUT", &path, &nonce, Some(envelope))?;
        signed.verify(self.known_key(), &path, &nonce, &bytes)?;
        parse(&bytes)
    }

    /// Where the run stands.
    pub fn status(&self) -> Result<Value, WorkError> {
        self.ask("GET", "/v1/status.json", None)
    }

    /// Gives an operator's order; the token must be the operator's. Returns what the server says.
    pub fn operate(&self, order: &Order) -> Result<String, WorkError> {
        let answer: Value = self.ask("POST", "/v1/operate", Some(&text(order)))?;
        Ok(answer["say"].as_str().unwrap_or_default().to_owned())
    }

    /// Fetches a network, from a place on if a part is there already. Whoever calls must compare its hash.
    pub fn network(&self, hash: &str, from: usize) -> Result<(bool, Vec<u8>), WorkError> {
        let url = format!("{}/v1/networks/{hash}", self.url);
        let mut request = self.agent.get(&url);
        if from > 0 {
            request = request.header("range", format!("bytes={from}-"));
        }
        let mut response = request.call().map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        if !status.is_success() {
            return Err(WorkError::later(format!(
                "{}: the network {hash} cannot be fetched: {status}",
                self.url
            )));
        }
        let bytes = response
            .body_mut()
            .with_config()
            .limit(MOST_NETWORK_BYTES)
            .read_to_vec()
            .map_err(|error| self.unreachable(&error))?;
        Ok((status == StatusCode::PARTIAL_CONTENT, bytes))
    }

    fn ask<T: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        body: Option<&str>,
    ) -> Result<T, WorkError> {
        let nonce = nonce()?;
        let (bytes, signed) = self.send(method, path, &nonce, body.map(str::as_bytes))?;
        signed.verify(self.known_key(), path, &nonce, &bytes)?;
        parse(&bytes)
    }

    fn known_key(&self) -> &str {
        self.key.as_deref().unwrap_or_default()
    }

    /// The bytes of a good answer and its signature.
    fn send(
        &self,
        method: &str,
        path: &str,
        nonce: &str,
        body: Option<&[u8]>,
    ) -> Result<(Vec<u8>, Signed), WorkError> {
        let url = format!("{}{path}", self.url);
        let mut headers = vec![("tengen-nonce", nonce.to_owned())];
        if let Some(token) = &self.token {
            headers.push(("authorization", format!("Bearer {token}")));
        }
        let sent = match body {
            None => {
                let mut request = self.agent.get(&url);
                for (name, value) in headers {
                    request = request.header(name, value);
                }
                request.call()
            }
            Some(body) => {
                let mut request = match method {
                    "PUT" => self.agent.put(&url),
                    _ => self.agent.post(&url),
                };
                for (name, value) in headers {
                    request = request.header(name, value);
                }
                request.send(body)
            }
        };
        let mut response = sent.map_err(|error| self.unreachable(&error))?;
        let header = |name: &str| {
            let value = response.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let signed = Signed {
            signature: header("tengen-signature").unwrap_or_default(),
            voice: header("tengen-voice"),
        };
        let retry_after = header("retry-after").and_then(|value| value.parse().ok());
        let status = response.status();
        let bytes = response
            .body_mut()
            .with_config()
            .limit(MOST_ANSWER_BYTES)
            .read_to_vec()
            .map_err(|error| self.unreachable(&error))?;
        if status.is_success() {
            return Ok((bytes, signed));
        }
        let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let why = match answer["error"].as_str() {
            Some(why) => why.to_owned(),
            None => format!("{} answered {status}", self.url),
        };
        match answer["final"].as_bool() {
            Some(true) => Err(WorkError::Refused(why)),
            _ => Err(WorkError::Later {
                why,
                seconds: retry_after,
            }),
        }
    }

    fn unreachable(&self, error: &ureq::Error) -> WorkError {
        WorkError::later(format!("{} does not answer: {error}", self.url))
    }
}

fn nonce() -> Result<String, WorkError> {
    Ok(hex(&random_bytes::<16>()?))
}

fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WorkError> {
    serde_json::from_slice(bytes)
        .map_err(|error| WorkError::later(format!("the server's answer cannot be read: {error}")))
}

/// What an answer is signed with.
struct Signed {
    signature: String,
    /// A key that signs in the server's place, and the server's word for it.
    voice: Option<String>,
}

impl Signed {
    /// Refuses an answer that the server with this key, or somebody it appointed, did not sign for this question.
    fn verify(&self, key: &str, path: &str, nonce: &str, bytes: &[u8]) -> Result<(), WorkError> {
        let mut signed = format!("tengen answer\n{nonce}\n{path}\n").into_bytes();
        signed.extend_from_slice(bytes);
        let signer = match self
            .voice
            .as_deref()
            .and_then(|voice| voice.split_once(':'))
        {
            None => Some(key.to_owned()),
            Some((voice, sig)) => {
                let (voice, sig) = (voice.to_owned(), sig.to_owned());
                let voice = Voice { key: voice, sig };
                voice.is_of(key).then_some(voice.key)
            }
        };
        if signer.is_some_and(|signer| is_signed(&signer, &signed, &self.signature)) {
            return Ok(());
        }
        Err(WorkError::Untrusted(
            "an answer does not carry the server's signature; somebody may be in between. Nothing was taken from it".into(),
        ))
    }
}
