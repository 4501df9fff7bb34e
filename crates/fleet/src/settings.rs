//! The settings file of a run, written from a table that has a sentence for every setting.

use std::{
    fs,
    path::{Path, PathBuf},
};

use base::write_whole;
use serde::{Serialize, de::DeserializeOwned};
use toml_edit::{DocumentMut, Item, TableLike};

use crate::{Game, RunError};

/// A setting and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its place in the file, such as `selfplay.games`; a whole section such as `selfplay` may have a sentence, too.
    pub path: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
}

/// The file of a run.
pub(crate) const FILE: &str = "settings.toml";
/// Comments of one section begin in one column, unless a value is longer than this.
const WIDEST: usize = 28;

/// The settings file of a game: every value with its comment.
///
/// # Panics
/// If the settings have no TOML form, which no settings file could then describe.
pub fn settings_file<G: Game>(settings: &G::Settings) -> String {
    let mut document = document(settings);
    let about = |path: &str| G::SETTINGS.iter().find(|setting| setting.path == path);
    comment(document.as_table_mut(), "", &|path| {
        about(path).map(|setting| setting.about)
    });
    let name = G::NAME;
    format!(
        "# Settings of a run of `tengen zero {name}`. Values may be changed between two starts of the run,\n\
         # except those that the networks already made depend on: their board and their shape.\n\n{document}"
    )
}

/// The settings with values by path put on top, in TOML's own notation.
pub(crate) fn with_values<S: Serialize + DeserializeOwned>(
    settings: &S,
    values: &[(String, String)],
) -> Result<S, String> {
    let mut document = document(settings);
    for (path, value) in values {
        let parsed: toml_edit::Value = value
            .parse()
            .or_else(|_| format!("{value:?}").parse())
            .map_err(|error: toml_edit::TomlError| error.to_string())?;
        let mut item = document.as_item_mut();
        for key in path.split('.') {
            item = item
                .get_mut(key)
                .ok_or_else(|| format!("there is no setting {path}"))?;
        }
        *item = Item::Value(parsed);
    }
    toml::from_str(&document.to_string()).map_err(|error| error.to_string())
}

/// A value by its path, in TOML's own notation.
pub(crate) fn value_of<S: Serialize>(settings: &S, path: &str) -> Option<String> {
    let document = document(settings);
    let item = path
        .split('.')
        .try_fold(document.as_item(), |item, key| item.get(key))?;
    Some(item.to_string().trim().to_owned())
}

/// Values by path, such as `size = 9, blocks = 6`.
pub(crate) fn value_list<S: Serialize>(settings: &S, paths: &[String]) -> String {
    let value =
        |path: &String| format!("{path} = {}", value_of(settings, path).unwrap_or_default());
    paths.iter().map(value).collect::<Vec<_>>().join(", ")
}

/// The paths of all settings, in the order of the file.
pub(crate) fn paths<S: Serialize>(settings: &S) -> Vec<String> {
    fn walk(table: &dyn TableLike, prefix: &str, paths: &mut Vec<String>) {
        for (key, item) in table.iter() {
            let path = format!("{prefix}{key}");
            match item.as_table() {
                Some(inner) => walk(inner, &format!("{path}."), paths),
                None => paths.push(path),
            }
        }
    }
    let mut all = Vec::new();
    walk(document(settings).as_table(), "", &mut all);
    all
}

/// Reads and checks the settings in a run's folder; nothing if there are none.
pub fn read_settings<G: Game>(dir: &Path) -> Result<Option<G::Settings>, RunError> {
    let path = dir.join(FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(RunError::File { path, source }),
    };
    let settings = toml::from_str(&text).map_err(|error| RunError::Content {
        path: path.clone(),
        message: error.to_string(),
    })?;
    G::check(&settings).map_err(|source| RunError::Setting { path, source })?;
    Ok(Some(settings))
}

/// Writes the settings of a new run. They must have passed the game's check: a bad file would spoil the next start.
pub(crate) fn write<G: Game>(dir: &Path, settings: &G::Settings) -> Result<(), RunError> {
    let path: PathBuf = dir.join(FILE);
    write_whole(&path, settings_file::<G>(settings).as_bytes())
        .map_err(|source| RunError::File { path, source })
}

fn document<S: Serialize>(settings: &S) -> DocumentMut {
    let text = toml::to_string(settings).expect("settings of plain values");
    text.parse().expect("what was just written")
}

fn comment(
    table: &mut toml_edit::Table,
    prefix: &str,
    about: &dyn Fn(&str) -> Option<&'static str>,
) {
    let line = |key: &str, item: &Item| format!("{key} = {}", item.to_string().trim());
    let lines = table.iter().filter(|(_, item)| item.is_value());
    let width = lines
        .map(|(key, item)| line(key, item).len())
        .filter(|length| *length <= WIDEST)
        .max()
        .unwrap_or(0);
    for (key, item) in table.iter_mut() {
        let path = format!("{prefix}{}", key.get());
        let said = about(&path);
        if let Some(inner) = item.as_table_mut() {
            if let Some(said) = said {
                inner.decor_mut().set_suffix(format!("  # {said}"));
            }
            comment(inner, &format!("{path}."), about);
            continue;
        }
        let length = line(key.get(), item).len();
        if let (Some(value), Some(said)) = (item.as_value_mut(), said) {
            let gap = width.saturating_sub(length) + 2;
            value.decor_mut().set_suffix(format!("{:gap$}# {said}", ""));
        }
    }
}

/// Fails unless a game's table explains every setting once and nothing else; for the tests of a game.
///
/// # Panics
/// If it does not.
pub fn check_settings_table<G: Game>() {
    let mut explained: Vec<&str> = G::SETTINGS.iter().map(|setting| setting.path).collect();
    let paths = paths(&G::Settings::default());
    for path in &paths {
        let place = explained.iter().position(|known| known == path);
        explained.swap_remove(place.unwrap_or_else(|| panic!("{path} is not explained")));
    }
    // What is left must be sections.
    for path in explained {
        let inner = format!("{path}.");
        assert!(
            paths.iter().any(|known| known.starts_with(&inner)),
            "there is no {path}"
        );
    }
    let text = settings_file::<G>(&G::Settings::default());
    for setting in G::SETTINGS {
        assert!(
            text.contains(setting.about),
            "{} has no comment in {text}",
            setting.path
        );
    }
}
