//! Messages: what a tab may ask, and how it is answered.
//!
//! Text frames of JSON. A request has an `id` and a `do`; its answer has `re` and either `ok` or `err`; what nobody asked
//! for has `on`.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The version of the protocol; the page says which one it speaks.
pub const PROTOCOL: u64 = 1;

/// Why a request was refused: a code for the page, a sentence for people.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{say}")]
pub struct Failure {
    /// A short word the page may translate by.
    pub code: &'static str,
    /// One sentence: what was wrong, where, and what to do.
    pub say: String,
    /// The point of the board it is about.
    pub at: Option<String>,
}

impl Failure {
    /// A refusal.
    pub fn new(code: &'static str, say: impl Into<String>) -> Failure {
        Failure {
            code,
            say: say.into(),
            at: None,
        }
    }

    /// The same, about a point.
    pub fn at(mut self, point: impl ToString) -> Failure {
        self.at = Some(point.to_string());
        self
    }

    /// As the page reads it.
    pub fn to_json(&self) -> Value {
        json!({ "code": self.code, "say": self.say, "at": self.at })
    }
}

/// How a request is answered.
pub enum Reply {
    /// At once.
    Now(Value),
    /// By a job, when it is done.
    Later,
}

/// The outcome of a request.
pub type Answer = Result<Reply, Failure>;

/// An answer without content.
pub fn done() -> Answer {
    Ok(Reply::Now(json!({})))
}

/// A request as it came in.
pub struct Request {
    /// The page's number for it.
    pub id: u64,
    /// What to do, `topic.verb`.
    pub verb: String,
    /// The whole message.
    pub body: Value,
}

impl Request {
    /// Reads a frame.
    pub fn parse(text: &str) -> Result<Request, Failure> {
        let body: Value = serde_json::from_str(text)
            .map_err(|error| Failure::new("syntax", format!("the message is not JSON: {error}")))?;
        let id = body.get("id").and_then(Value::as_u64).unwrap_or(0);
        let Some(verb) = body.get("do").and_then(Value::as_str) else {
            return Err(Failure::new(
                "syntax",
                "the message does not say what to `do`",
            ));
        };
        Ok(Request {
            id,
            verb: verb.to_owned(),
            body,
        })
    }

    /// The fields of the request; unknown ones are ignored.
    pub fn fields<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        T::deserialize(&self.body)
            .map_err(|error| Failure::new("fields", format!("`{}`: {error}", self.verb)))
    }
}

/// An answer as text.
pub fn answer(id: u64, outcome: Result<Value, &Failure>) -> String {
    match outcome {
        Ok(value) => json!({ "re": id, "ok": value }).to_string(),
        Err(failure) => json!({ "re": id, "err": failure.to_json() }).to_string(),
    }
}

/// A number that must lie in a range.
pub fn in_range<T: PartialOrd + std::fmt::Display + Copy>(
    name: &str,
    value: T,
    least: T,
    most: T,
) -> Result<T, Failure> {
    if value >= least && value <= most {
        return Ok(value);
    }
    Err(Failure::new(
        "range",
        format!("`{name}` is {value}, but must be from {least} to {most}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_a_verb_is_refused_with_a_sentence() {
        for text in ["", "[", "{}", "[]", "null", r#"{"id":1}"#, r#"{"do":7}"#] {
            let failure = Request::parse(text).err().expect("refused");
            assert_eq!(failure.code, "syntax", "{text}");
        }
    }

    #[test]
    fn unknown_fields_are_ignored_and_missing_ones_are_named() {
        #[derive(serde::Deserialize)]
        struct Fields {
            doc: String,
        }
        let request = Request::parse(r#"{"id":1,"do":"see","doc":"a","more":[1]}"#).unwrap();
        assert_eq!(request.fields::<Fields>().unwrap().doc, "a");
        let request = Request::parse(r#"{"id":1,"do":"see"}"#).unwrap();
        let failure = request.fields::<Fields>().err().unwrap();
        assert!(failure.say.contains("doc"), "{failure}");
    }
}
