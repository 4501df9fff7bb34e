//! The fields of a JSON object, taken one by one; what is left over was misspelt.

use serde_json::{Map, Value};

use crate::request::Refusal;

/// The fields of a request that nobody has asked for yet.
pub(crate) struct Fields {
    id: Option<String>,
    map: Map<String, Value>,
}

impl Fields {
    pub(crate) fn new(id: Option<String>, map: Map<String, Value>) -> Fields {
        Fields { id, map }
    }

    /// The value of a field as it stands; `null` counts as absent.
    pub(crate) fn take(&mut self, field: &'static str) -> Option<Value> {
        self.map.remove(field).filter(|value| !value.is_null())
    }

    pub(crate) fn bool(&mut self, field: &'static str) -> Result<bool, Refusal> {
        match self.take(field) {
            None => Ok(false),
            Some(Value::Bool(is_set)) => Ok(is_set),
            Some(_) => Err(self.refuse(field, "Must be a boolean")),
        }
    }

    /// A whole number in `range`.
    pub(crate) fn integer(
        &mut self,
        field: &'static str,
        range: std::ops::RangeInclusive<i64>,
    ) -> Result<Option<i64>, Refusal> {
        let Some(value) = self.take(field) else {
            return Ok(None);
        };
        match whole(&value).filter(|number| range.contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(self.refuse(
                field,
                format!(
                    "Must be an integer from {} to {}",
                    range.start(),
                    range.end()
                ),
            )),
        }
    }

    /// A finite number in `range`.
    pub(crate) fn number(
        &mut self,
        field: &'static str,
        range: std::ops::RangeInclusive<f64>,
    ) -> Result<Option<f64>, Refusal> {
        let Some(value) = self.take(field) else {
            return Ok(None);
        };
        match value.as_f64().filter(|number| range.contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(self.refuse(
                field,
                format!("Must be a number from {} to {}", range.start(), range.end()),
            )),
        }
    }

    pub(crate) fn text(&mut self, field: &'static str) -> Result<Option<String>, Refusal> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.refuse(field, "Must be a string")),
        }
    }

    pub(crate) fn list(&mut self, field: &'static str) -> Result<Option<Vec<Value>>, Refusal> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(_) => Err(self.refuse(field, "Must be an array")),
        }
    }

    /// A list of whole numbers in `range`.
    pub(crate) fn integers(
        &mut self,
        field: &'static str,
        range: std::ops::RangeInclusive<i64>,
    ) -> Result<Option<Vec<i64>>, Refusal> {
        let Some(list) = self.list(field)? else {
            return Ok(None);
        };
        let numbers = list.iter().map(|value| {
            whole(value)
                .filter(|number| range.contains(number))
                .ok_or_else(|| {
                    let (start, end) = (range.start(), range.end());
                    self.refuse(
                        field,
                        format!("Must be an array of integers from {start} to {end}"),
                    )
                })
        });
        numbers.collect::<Result<_, _>>().map(Some)
    }

    pub(crate) fn refuse(&self, field: &'static str, error: impl Into<String>) -> Refusal {
        Refusal {
            id: self.id.clone(),
            field: Some(field),
            error: error.into(),
        }
    }

    /// The names nobody asked for.
    pub(crate) fn left_over(self) -> Vec<String> {
        self.map.into_iter().map(|(name, _)| name).collect()
    }
}

/// A number without a fraction, however it was spelt.
fn whole(value: &Value) -> Option<i64> {
    let is_whole = |number: &f64| number.fract() == 0.0 && number.abs() < 1e15;
    value
        .as_i64()
        .or_else(|| value.as_f64().filter(is_whole).map(|number| number as i64))
}
