//! The rules a game is played by, beyond what all Go has in common.
//!
//! Words and names are KataGo's, which every modern client sends: a preset such as `chinese`, or a JSON object with
//! the fields `ko`, `scoring`, `tax`, `suicide`, `hasButton`, `whiteHandicapBonus` and `friendlyPassOk`.

use std::{fmt, str::FromStr};

use serde_json::{Map, Value};
use thiserror::Error;

use crate::Komi;

/// Which repetitions are forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KoRule {
    /// A single stone that was just captured may not be retaken at once. Longer cycles are allowed.
    Simple,
    /// No position of the stones may come back.
    Positional,
    /// No position may come back with the same side to move.
    Situational,
}

/// What is counted at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scoring {
    /// Stones and surrounded points.
    Area,
    /// Surrounded points and prisoners.
    Territory,
}

/// Which surrounded points do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tax {
    /// All count.
    None,
    /// Points of groups in seki do not.
    Seki,
    /// Nor do two points of every other group, as in stone scoring.
    All,
}

/// What White gets for Black's handicap stones beside komi.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HandicapBonus {
    /// Nothing.
    Zero,
    /// A point for each stone.
    Stones,
    /// A point for each stone but the first.
    StonesButOne,
}

impl HandicapBonus {
    /// The points White gets for so many stones.
    pub const fn points(self, stones: usize) -> usize {
        match self {
            HandicapBonus::Zero => 0,
            HandicapBonus::Stones => stones,
            HandicapBonus::StonesButOne => stones.saturating_sub(1),
        }
    }
}

/// A set of rules.
///
/// ```
/// use go::{KoRule, Rules};
///
/// let rules: Rules = "chinese".parse()?;
/// assert_eq!(rules.ko, KoRule::Simple);
/// let again: Rules = rules.to_string().parse()?;
/// assert_eq!(again, rules);
/// # Ok::<(), go::RulesError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// Which repetitions are forbidden.
    pub ko: KoRule,
    /// What is counted at the end.
    pub scoring: Scoring,
    /// Which surrounded points do not count.
    pub tax: Tax,
    /// Whether a move may remove two or more stones of its own. Removing a single one is never allowed.
    pub suicide: bool,
    /// Whether the first to pass takes a button worth half a point.
    pub button: bool,
    /// What White gets for handicap stones.
    pub handicap_bonus: HandicapBonus,
    /// Whether players may pass with dead stones on the board, and agree on them.
    pub friendly_pass: bool,
}

/// Why a text names no rules.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RulesError {
    /// No preset has this name, and it is no JSON object.
    #[error("`{0}` are no known rules: expected one of {names}, or a JSON object", names = preset_names())]
    Name(String),
    /// The JSON is damaged.
    #[error("the rules are no JSON object: {0}")]
    Json(String),
    /// There is no such field.
    #[error(
        "rules have no field `{0}`: expected ko, scoring, tax, suicide, hasButton, whiteHandicapBonus or friendlyPassOk"
    )]
    Field(String),
    /// A field cannot have this value.
    #[error("the rule `{field}` cannot be {value}: expected {expected}")]
    Value {
        /// The name of the field.
        field: String,
        /// What was given.
        value: String,
        /// What could be given.
        expected: &'static str,
    },
}

impl Rules {
    /// Positional superko, area, suicide, no bonus: what computers agree on.
    pub const TROMP_TAYLOR: Rules = Rules {
        ko: KoRule::Positional,
        scoring: Scoring::Area,
        tax: Tax::None,
        suicide: true,
        button: false,
        handicap_bonus: HandicapBonus::Zero,
        friendly_pass: false,
    };

    /// What Leela Zero plays by: Tromp-Taylor without suicide, a point for each handicap stone.
    pub const LEELA_ZERO: Rules = Rules {
        suicide: false,
        handicap_bonus: HandicapBonus::Stones,
        ..Rules::TROMP_TAYLOR
    };

    /// Chinese rules as players use them, with the simple ko rule.
    pub const CHINESE: Rules = Rules {
        ko: KoRule::Simple,
        suicide: false,
        handicap_bonus: HandicapBonus::Stones,
        friendly_pass: true,
        ..Rules::TROMP_TAYLOR
    };

    /// Japanese rules: territory, no points in seki.
    pub const JAPANESE: Rules = Rules {
        ko: KoRule::Simple,
        scoring: Scoring::Territory,
        tax: Tax::Seki,
        suicide: false,
        ..Rules::TROMP_TAYLOR
    };

    /// Rules of the American Go Association.
    pub const AGA: Rules = Rules {
        ko: KoRule::Situational,
        suicide: false,
        handicap_bonus: HandicapBonus::StonesButOne,
        friendly_pass: true,
        ..Rules::TROMP_TAYLOR
    };

    pub const NEW_ZEALAND: Rules = Rules {
        ko: KoRule::Situational,
        friendly_pass: true,
        ..Rules::TROMP_TAYLOR
    };

    /// Stone scoring: only stones count, which costs each group its two eyes.
    pub const STONE_SCORING: Rules = Rules {
        ko: KoRule::Simple,
        tax: Tax::All,
        suicide: false,
        friendly_pass: true,
        ..Rules::TROMP_TAYLOR
    };

    /// The name of these rules, if they have one.
    pub fn name(&self) -> Option<&'static str> {
        let found = PRESETS.iter().find(|(_, rules, _)| rules == self);
        found.map(|&(name, ..)| name)
    }

    /// The komi that goes with these rules on a full board.
    pub fn default_komi(&self) -> Komi {
        let found = PRESETS.iter().find(|(_, rules, _)| rules == self);
        let points = found.and_then(|&(_, _, points)| Komi::new(points));
        points.unwrap_or_default()
    }

    /// Sets one field by the name and text that KataGo uses, such as `ko` to `SIMPLE`.
    pub fn set(&mut self, field: &str, value: &str) -> Result<(), RulesError> {
        // A bare word is a string, `true` and `false` are not.
        let value = match value {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            word => Value::String(word.trim_matches('"').to_owned()),
        };
        self.set_value(field, &value)
    }

    /// The same rules with one field changed.
    pub fn with_field(mut self, field: &str, value: &Value) -> Result<Rules, RulesError> {
        self.set_value(field, value)?;
        Ok(self)
    }

    fn set_value(&mut self, field: &str, value: &Value) -> Result<(), RulesError> {
        match field {
            "ko" => self.ko = word(field, value, &KO, "SIMPLE, POSITIONAL or SITUATIONAL")?,
            "scoring" | "score" => {
                self.scoring = word(field, value, &SCORING, "AREA or TERRITORY")?
            }
            "tax" => self.tax = word(field, value, &TAX, "NONE, SEKI or ALL")?,
            "whiteHandicapBonus" => {
                self.handicap_bonus = word(field, value, &BONUS, "0, N or N-1")?
            }
            "suicide" | "multiStoneSuicideLegal" => self.suicide = yes(field, value)?,
            "hasButton" => self.button = yes(field, value)?,
            "friendlyPassOk" => self.friendly_pass = yes(field, value)?,
            _ => return Err(RulesError::Field(field.to_owned())),
        }
        Ok(())
    }

    /// The rules that a JSON value names: a preset, or an object of fields. Fields left out are as in Tromp-Taylor,
    /// `komi` is skipped.
    pub fn from_json(value: &Value) -> Result<Rules, RulesError> {
        match value {
            Value::String(name) => name.parse(),
            Value::Object(fields) => Rules::from_fields(fields),
            other => Err(RulesError::Json(format!("found {other}"))),
        }
    }

    fn from_fields(fields: &Map<String, Value>) -> Result<Rules, RulesError> {
        let mut rules = Rules::TROMP_TAYLOR;
        for (field, value) in fields.iter().filter(|(field, _)| *field != "komi") {
            rules.set_value(field, value)?;
        }
        if !fields.contains_key("tax") && rules.scoring == Scoring::Territory {
            rules.tax = Tax::Seki;
        }
        Ok(rules)
    }
}

impl Default for Rules {
    fn default() -> Rules {
        Rules::LEELA_ZERO
    }
}

/// Names, rules and usual komi. Where two names mean the same rules, the first is printed.
const PRESETS: [(&str, Rules, f32); 15] = [
    ("tromp-taylor", Rules::TROMP_TAYLOR, 7.5),
    ("leela-zero", Rules::LEELA_ZERO, 7.5),
    ("chinese", Rules::CHINESE, 7.5),
    ("chinese-ogs", CHINESE_SUPERKO, 7.5),
    ("chinese-kgs", CHINESE_SUPERKO, 7.5),
    ("japanese", Rules::JAPANESE, 6.5),
    ("korean", Rules::JAPANESE, 6.5),
    ("stone-scoring", Rules::STONE_SCORING, 7.5),
    ("aga", Rules::AGA, 7.5),
    ("bga", Rules::AGA, 7.5),
    ("french", Rules::AGA, 7.5),
    ("new-zealand", Rules::NEW_ZEALAND, 7.0),
    ("aga-button", AGA_BUTTON, 7.0),
    ("goe", GOE, 7.5),
    ("ing", GOE, 7.5),
];

const CHINESE_SUPERKO: Rules = Rules {
    ko: KoRule::Positional,
    ..Rules::CHINESE
};

const AGA_BUTTON: Rules = Rules {
    button: true,
    ..Rules::AGA
};

const GOE: Rules = Rules {
    friendly_pass: true,
    ..Rules::TROMP_TAYLOR
};

const KO: [(&str, KoRule); 3] = [
    ("SIMPLE", KoRule::Simple),
    ("POSITIONAL", KoRule::Positional),
    ("SITUATIONAL", KoRule::Situational),
];

const SCORING: [(&str, Scoring); 2] = [("AREA", Scoring::Area), ("TERRITORY", Scoring::Territory)];

const TAX: [(&str, Tax); 3] = [("NONE", Tax::None), ("SEKI", Tax::Seki), ("ALL", Tax::All)];

const BONUS: [(&str, HandicapBonus); 3] = [
    ("0", HandicapBonus::Zero),
    ("N", HandicapBonus::Stones),
    ("N-1", HandicapBonus::StonesButOne),
];

fn preset_names() -> String {
    PRESETS.map(|(name, ..)| name).join(", ")
}

fn word<T: Copy>(
    field: &str,
    value: &Value,
    words: &[(&str, T)],
    expected: &'static str,
) -> Result<T, RulesError> {
    let text = match value {
        Value::String(text) => text.to_uppercase(),
        other => other.to_string(),
    };
    let found = words.iter().find(|(name, _)| *name == text);
    found.map(|&(_, meaning)| meaning).ok_or(RulesError::Value {
        field: field.to_owned(),
        value: value.to_string(),
        expected,
    })
}

fn yes(field: &str, value: &Value) -> Result<bool, RulesError> {
    value.as_bool().ok_or(RulesError::Value {
        field: field.to_owned(),
        value: value.to_string(),
        expected: "true or false",
    })
}

impl FromStr for Rules {
    type Err = RulesError;

    fn from_str(text: &str) -> Result<Rules, RulesError> {
        let text = text.trim();
        if text.starts_with('{') {
            let damaged = |error: serde_json::Error| RulesError::Json(error.to_string());
            let fields = serde_json::from_str(text).map_err(damaged)?;
            return Rules::from_fields(&fields);
        }
        let name = text.to_lowercase().replace([' ', '_'], "-");
        let plain = |name: &str| name.replace('-', "");
        let found = PRESETS
            .iter()
            .find(|(preset, ..)| plain(preset) == plain(&name));
        found
            .map(|&(_, rules, _)| rules)
            .ok_or_else(|| RulesError::Name(text.to_owned()))
    }
}

/// One line of JSON with sorted keys, as `kata-get-rules` prints it.
impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{{\"friendlyPassOk\":{},\"hasButton\":{},\"ko\":\"{}\",\"scoring\":\"{}\",\"suicide\":{},\"tax\":\"{}\",\
             \"whiteHandicapBonus\":\"{}\"}}",
            self.friendly_pass,
            self.button,
            name_of(&KO, self.ko),
            name_of(&SCORING, self.scoring),
            self.suicide,
            name_of(&TAX, self.tax),
            name_of(&BONUS, self.handicap_bonus)
        )
    }
}

fn name_of<T: PartialEq>(words: &[(&'static str, T)], meaning: T) -> &'static str {
    words
        .iter()
        .find(|(_, other)| *other == meaning)
        .map_or("", |&(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_say_what_clients_expect_of_them() {
        let json = |name: &str| name.parse::<Rules>().unwrap().to_string();
        assert_eq!(
            json("tromp-taylor"),
            "{\"friendlyPassOk\":false,\"hasButton\":false,\"ko\":\"POSITIONAL\",\"scoring\":\"AREA\",\"suicide\":true,\
             \"tax\":\"NONE\",\"whiteHandicapBonus\":\"0\"}"
        );
        assert_eq!(
            json("Japanese"),
            "{\"friendlyPassOk\":false,\"hasButton\":false,\"ko\":\"SIMPLE\",\"scoring\":\"TERRITORY\",\"suicide\":false,\
             \"tax\":\"SEKI\",\"whiteHandicapBonus\":\"0\"}"
        );
        assert_eq!(json("New Zealand"), json("new_zealand"));
        assert_eq!(json("stone_scoring"), json("stone-scoring"));
        assert_eq!(json("trompTaylor"), json("tromp-taylor"));
    }

    #[test]
    fn every_preset_reads_back_from_its_name_and_its_json() {
        for (name, rules, _) in PRESETS {
            assert_eq!(name.parse(), Ok(rules));
            assert_eq!(rules.to_string().parse(), Ok(rules));
            assert_eq!(rules.name().unwrap().parse(), Ok(rules));
        }
    }

    #[test]
    fn fields_left_out_are_tromp_taylor_and_tax_follows_scoring() {
        assert_eq!("{}".parse(), Ok(Rules::TROMP_TAYLOR));
        let territory: Rules = r#"{"ko":"simple","score":"TERRITORY","suicide":false}"#
            .parse()
            .unwrap();
        assert_eq!(territory, Rules::JAPANESE);
        let mut rules = Rules::CHINESE;
        rules.set("ko", "POSITIONAL").unwrap();
        assert_eq!(rules.name(), Some("chinese-ogs"));
        rules.set("suicide", "true").unwrap();
        assert!(rules.suicide);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |text: &str| text.parse::<Rules>().unwrap_err().to_string();
        assert!(
            message("martian")
                .starts_with("`martian` are no known rules: expected one of tromp-taylor, ")
        );
        assert!(message("{\"ko\":}").starts_with("the rules are no JSON object: "));
        assert_eq!(
            message("{\"ko\":\"SPIGHT\"}"),
            "the rule `ko` cannot be \"SPIGHT\": expected SIMPLE, POSITIONAL or SITUATIONAL"
        );
        assert!(message("{\"koo\":1}").starts_with("rules have no field `koo`"));
        assert_eq!(
            message("{\"suicide\":1}"),
            "the rule `suicide` cannot be 1: expected true or false"
        );
    }
}
