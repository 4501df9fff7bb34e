//! How a run begins: its settings, its first network, its first state.

use std::path::{Path, PathBuf};

use crate::{Learner, NewNetwork, RunError, State, Store, settings};

/// How a new run begins.
#[derive(Clone, Debug, Default)]
pub struct Beginning {
    /// A network to begin with instead of the game's own.
    pub from: Option<PathBuf>,
    /// Settings by path, such as `("size", "9")`. A run that has begun must have them already.
    pub values: Vec<(String, String)>,
}

/// The settings of a new run, checked.
pub(crate) fn new_settings<L: Learner>(
    values: &[(String, String)],
) -> Result<L::Settings, RunError> {
    let settings = settings::with_values(&L::Settings::default(), values)
        .map_err(|message| RunError::Game(message.into()))?;
    L::check(&settings).map_err(RunError::NewSetting)?;
    Ok(settings)
}

/// Refuses settings that differ from those of a run that has begun.
pub(crate) fn check_same<L: Learner>(
    dir: &Path,
    found: &L::Settings,
    values: &[(String, String)],
) -> Result<(), RunError> {
    let wanted =
        settings::with_values(found, values).map_err(|message| RunError::Game(message.into()))?;
    for (name, _) in values {
        let [found, asked] =
            [found, &wanted].map(|settings| settings::value_of(settings, name).unwrap_or_default());
        if found != asked {
            return Err(RunError::OtherSetting {
                dir: dir.to_owned(),
                name: name.clone(),
                found,
                asked,
            });
        }
    }
    Ok(())
}

/// A network to begin with. The settings of a folder must fit it; those of a new one follow it.
pub(crate) fn adopt<L: Learner>(
    file: &Path,
    settings: &mut L::Settings,
    had_settings: bool,
) -> Result<NewNetwork, RunError> {
    let before = settings::paths(settings);
    let values: Vec<Option<String>> = before
        .iter()
        .map(|path| settings::value_of(settings, path))
        .collect();
    let network = L::adopt(file, settings).map_err(RunError::Game)?;
    let changed: Vec<String> = before
        .iter()
        .zip(&values)
        .filter(|(path, value)| settings::value_of(settings, path) != **value)
        .map(|(path, _)| path.clone())
        .collect();
    if had_settings && !changed.is_empty() {
        let wanted = settings::value_list(settings, &changed);
        return Err(RunError::Game(
            format!("{} has {wanted}; so must the settings", file.display()).into(),
        ));
    }
    Ok(network)
}

/// The state a run begins with.
pub(crate) fn begin<L: Learner>(
    store: &dyn Store,
    settings: &L::Settings,
    given: Option<(&PathBuf, NewNetwork)>,
) -> Result<State, RunError> {
    let (network, begun_from) = match given {
        Some((file, network)) => (Some(network), Some(file.display().to_string())),
        None => (L::first_network(settings), None),
    };
    let mut first = String::new();
    if let Some(network) = network {
        store.put_network(&network)?;
        first = network.name;
    }
    let state = State {
        begun_from,
        first: first.clone(),
        best: first.clone(),
        newest: first,
        ..State::default()
    };
    store.save_state(&state)?;
    Ok(state)
}
