//! A line of input: a query, an action, or what is wrong with it.

use serde_json::{Map, Value, json};

use crate::{fields::Fields, query::Query};

/// A line that cannot be done, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Whose it was, if that could be read.
    pub id: Option<String>,
    /// The field at fault.
    pub field: Option<&'static str>,
    /// What is wrong with it.
    pub error: String,
}

impl Refusal {
    pub(crate) fn to_json(&self) -> Value {
        let mut object = Map::from_iter([("error".to_owned(), json!(self.error))]);
        if let Some(field) = self.field {
            object.insert("field".into(), json!(field));
        }
        if let Some(id) = &self.id {
            object.insert("id".into(), json!(id));
        }
        Value::Object(object)
    }
}

/// A part of a query that is ignored; the rest of it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The field that is ignored.
    pub field: String,
    pub warning: String,
}

impl Warning {
    pub(crate) fn to_json(&self, id: &str) -> Value {
        json!({ "field": self.field, "id": id, "warning": self.warning })
    }
}

/// What a client asks for.
pub enum Request {
    /// Positions to analyse.
    Query(Box<Query>),
    /// `query_version`: the version of the program. The object is sent back with the answer in it.
    Version(Map<String, Value>),
    /// `query_models`: the networks in use.
    Models(Map<String, Value>),
    /// `clear_cache`: forget evaluations.
    ClearCache(Map<String, Value>),
    /// `terminate`: stop the queries of an id, all turns or those listed.
    Terminate {
        /// The queries to stop.
        target: String,
        /// Which of their turns; all if none are listed.
        turns: Option<Vec<usize>>,
        /// Sent back when it is done.
        echo: Map<String, Value>,
    },
    /// `terminate_all`: the same for every query.
    TerminateAll {
        /// Which turns; all if none are listed.
        turns: Option<Vec<usize>>,
        /// Sent back when it is done.
        echo: Map<String, Value>,
    },
}

/// Reads one line.
pub fn read_request(line: &str) -> Result<Request, Refusal> {
    let refuse = |error: String| Refusal {
        id: None,
        field: None,
        error,
    };
    let value: Value = serde_json::from_str(line).map_err(|error| {
        refuse(format!(
            "{error} - could not parse input line as json request: {line}"
        ))
    })?;
    let Value::Object(map) = value else {
        return Err(refuse(format!(
            "Request line was valid json but was not an object, ignoring: {line}"
        )));
    };
    let Some(Value::String(id)) = map.get("id").cloned() else {
        return Err(refuse("Request must have a string \"id\" field".into()));
    };
    if map.contains_key("action") {
        return read_action(id, map);
    }
    Query::read(id, map).map(|query| Request::Query(Box::new(query)))
}

fn read_action(id: String, echo: Map<String, Value>) -> Result<Request, Refusal> {
    const LAST_TURN: i64 = 1 << 20;
    let mut fields = Fields::new(Some(id), echo.clone());
    let action = fields.text("action")?.unwrap_or_default();
    let turns = |fields: &mut Fields| -> Result<Option<Vec<usize>>, Refusal> {
        let turns = fields.integers("turnNumbers", 0..=LAST_TURN)?;
        Ok(turns.map(|turns| turns.into_iter().map(|turn| turn as usize).collect()))
    };
    match action.as_str() {
        "query_version" => Ok(Request::Version(echo)),
        "query_models" => Ok(Request::Models(echo)),
        "clear_cache" => Ok(Request::ClearCache(echo)),
        "terminate" => {
            let Some(target) = fields.text("terminateId")? else {
                return Err(
                    fields.refuse("terminateId", "Requests for action terminate must have it")
                );
            };
            Ok(Request::Terminate {
                target,
                turns: turns(&mut fields)?,
                echo,
            })
        }
        "terminate_all" => Ok(Request::TerminateAll {
            turns: turns(&mut fields)?,
            echo,
        }),
        _ => Err(fields.refuse(
            "action",
            "'action' field must be 'query_version', 'query_models', 'clear_cache', 'terminate' or 'terminate_all'",
        )),
    }
}
