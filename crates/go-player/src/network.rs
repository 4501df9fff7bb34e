//! Where the network comes from.

use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use go::BoardSize;
use net::{
    Backend, Evaluator, Gather, Layer, LoadError, Network, NetworkContent, NetworkFile, OpenError,
    ShapeError, katago::KataNetwork, leela::LeelaNetwork,
};
use search::EvaluateError;
use thiserror::Error;

use crate::{
    any_size::AnySize,
    dynamic_komi::Refusal,
    encoder::{Encoder, LeelaEncoder, NotForGo, TengenFeatures},
    judge::Judge,
    options::Options,
    shipped,
};

/// Where Leela Zero keeps its network, below the home directory.
const LEELA_ZERO_PLACE: &str = ".local/share/leela-zero/best-network";
/// How much of a file's name stands for the network in a game record.
const SHORT_NAME: usize = 8;

/// Why there is no network to play with.
#[derive(Debug, Error)]
pub enum NetworkError {
    /// None was named and none was found.
    #[error(
        "no network: give one with --weights FILE, or put it at {}",
        looked_at.display()
    )]
    NotFound {
        /// The place where one would have been found.
        looked_at: PathBuf,
    },
    /// The file cannot be read as a network.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The layers do not fit together.
    #[error("the network does not hold together: {0}")]
    Shape(ShapeError),
    /// What was to run the network is missing or wrong.
    #[error("the network cannot be run: {0}")]
    Open(OpenError),
    /// The network plays another game.
    #[error(transparent)]
    NotForGo(#[from] NotForGo),
    /// A position could not be evaluated.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// The network cannot be told another komi, and was asked for it.
    #[error(transparent)]
    Komi(#[from] Refusal),
}

impl From<OpenError> for NetworkError {
    fn from(error: OpenError) -> NetworkError {
        match error {
            OpenError::Shape(error) => NetworkError::Shape(error),
            error => NetworkError::Open(error),
        }
    }
}

/// Where a network came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    File,
    /// The program itself.
    Shipped,
}

/// A network ready to run, and what to say about it.
#[derive(Clone)]
pub struct LoadedNetwork {
    /// Runs it.
    pub evaluator: Arc<dyn Evaluator>,
    /// What it sees, and how its numbers are read.
    pub encoder: Arc<dyn Encoder>,
    /// The file, as it was named; the name alone if it is not a file.
    pub file: PathBuf,
    /// Where it came from.
    pub origin: Origin,
    /// Residual blocks.
    pub blocks: usize,
    /// Filters of each.
    pub filters: usize,
    /// Bytes of its weights in memory.
    pub bytes: usize,
    /// The same network for other boards, if it plays on all.
    sizes: Option<Arc<AnySize>>,
    /// Whether the positions of several threads are evaluated together.
    is_joined: bool,
}

impl LoadedNetwork {
    /// Loads a network: the file that is named, or the one that is found where Leela Zero looks, or the one inside the
    /// program. It runs on the [chosen](Backend::chosen) backend, as every file that is loaded.
    pub fn find(named: Option<&Path>) -> Result<LoadedNetwork, NetworkError> {
        match LoadedNetwork::find_file(named) {
            Err(NetworkError::NotFound { .. }) => LoadedNetwork::shipped(),
            found => found,
        }
    }

    /// The network inside the program on the chosen backend, for 19x19 at first.
    pub fn shipped() -> Result<LoadedNetwork, NetworkError> {
        shipped::load_on(Backend::chosen())
    }

    /// The network inside the program on the processor, laid out for a board, whatever files there are.
    pub fn inside(size: BoardSize) -> LoadedNetwork {
        shipped::for_size(size)
    }

    /// Loads a network from a file: the one that is named, or the one that is found where Leela Zero looks.
    pub fn find_file(named: Option<&Path>) -> Result<LoadedNetwork, NetworkError> {
        let file = match named {
            Some(file) => file.to_owned(),
            None => default_file()?,
        };
        LoadedNetwork::load(&file)
    }

    /// The network to play on another board with. KataGo's networks and our own play on every board, others from a file
    /// on their own only.
    pub fn for_size(&self, size: BoardSize) -> Option<LoadedNetwork> {
        if self.size() == size {
            return Some(self.clone());
        }
        let (evaluator, encoder) = self.sizes.as_ref()?.at(size).ok()?;
        let other = LoadedNetwork {
            evaluator,
            encoder,
            is_joined: false,
            ..self.clone()
        };
        Some(if self.is_joined {
            other.joined()
        } else {
            other
        })
    }

    /// The network for the threads of a search, and the positions that each gathers if it is free to choose. A device that
    /// is given the next batch while it works has a whole batch of each thread. A processor has one of all threads together,
    /// whose positions are then joined.
    #[must_use]
    pub fn for_threads(self, threads: usize) -> (LoadedNetwork, usize) {
        let wanted = self.evaluator.preferred_batch().max(1);
        let threads = threads.max(1);
        let each = if self.is_on_device() {
            wanted
        } else {
            wanted.div_ceil(threads)
        };
        let each = each.min(Options::MOST_IN_BATCH);
        if wanted == 1 || threads == 1 {
            return (self, each);
        }
        (self.joined(), each)
    }

    /// Whether something other than the cores of the processor runs it, so that small batches are wasted.
    pub fn is_on_device(&self) -> bool {
        self.evaluator.in_flight() > 1
    }

    /// The network for several threads of a search, whose positions are evaluated together. It stays so on other boards.
    #[must_use]
    pub fn joined(self) -> LoadedNetwork {
        if self.is_joined {
            return self;
        }
        let at_once = self.evaluator.in_flight();
        LoadedNetwork {
            evaluator: Arc::new(Gather::while_busy(self.evaluator, at_once)),
            is_joined: true,
            ..self
        }
    }

    /// Loads a file: Leela Zero's, KataGo's or our own compact one.
    pub fn load(file: &Path) -> Result<LoadedNetwork, NetworkError> {
        LoadedNetwork::load_on(file, Backend::chosen())
    }

    /// Loads a file to be run by this backend.
    pub fn load_on(file: &Path, backend: Backend) -> Result<LoadedNetwork, NetworkError> {
        match NetworkFile::load(file)?.content {
            NetworkContent::KataGo(kata) => {
                let (blocks, filters) = (kata.blocks(), kata.channels());
                let sizes = AnySize::katago(*kata, Some(file), backend);
                LoadedNetwork::of_any_size(sizes, file, blocks, filters)
            }
            other => LoadedNetwork::open_network(&other.into_network(), file, backend),
        }
    }

    /// Makes a KataGo network ready for a board of 19x19; [`LoadedNetwork::for_size`] has it for others. `file` is its
    /// name.
    pub fn from_katago(kata: &KataNetwork, file: &Path) -> Result<LoadedNetwork, NetworkError> {
        let sizes = AnySize::katago(kata.clone(), None, Backend::Cpu);
        LoadedNetwork::of_any_size(sizes, file, kata.blocks(), kata.channels())
    }

    fn of_any_size(
        sizes: AnySize,
        file: &Path,
        blocks: usize,
        filters: usize,
    ) -> Result<LoadedNetwork, NetworkError> {
        let (evaluator, encoder) = sizes.at(BoardSize::NINETEEN)?;
        Ok(LoadedNetwork {
            evaluator,
            encoder,
            file: file.to_owned(),
            origin: Origin::File,
            blocks,
            filters,
            bytes: sizes.parameters() * size_of::<f32>(),
            sizes: Some(Arc::new(sizes)),
            is_joined: false,
        })
    }

    /// Makes a Leela Zero network ready that is in memory already; `file` is its name.
    pub fn from_leela(leela: &LeelaNetwork, file: &Path) -> Result<LoadedNetwork, NetworkError> {
        LoadedNetwork::from_network(&leela.to_network(), file)
    }

    /// Makes a network ready that is in memory already; `file` is its name. One of our own for every board is made
    /// ready for 19x19.
    pub fn from_network(network: &Network, file: &Path) -> Result<LoadedNetwork, NetworkError> {
        LoadedNetwork::open_network(network, file, Backend::Cpu)
    }

    pub(crate) fn open_network(
        network: &Network,
        file: &Path,
        backend: Backend,
    ) -> Result<LoadedNetwork, NetworkError> {
        let is_block = |layer: &&Layer| matches!(layer, Layer::Residual { .. });
        let plays_everywhere = network.input.planes == TengenFeatures::PLANES
            && network.globals == TengenFeatures::GLOBALS;
        let (evaluator, encoder, sizes) = if plays_everywhere {
            let sizes = AnySize::tengen(network.clone(), backend);
            let (evaluator, encoder) = sizes.at(BoardSize::NINETEEN)?;
            (evaluator, encoder, Some(Arc::new(sizes)))
        } else {
            let alone = LoadedNetwork::from_evaluator(backend.open(network)?, file)?;
            (alone.evaluator, alone.encoder, None)
        };
        Ok(LoadedNetwork {
            evaluator,
            encoder,
            file: file.to_owned(),
            origin: Origin::File,
            blocks: network.trunk.iter().filter(is_block).count(),
            filters: first_filters(&network.trunk).unwrap_or(0),
            bytes: network.parameters() * size_of::<f32>(),
            sizes,
            is_joined: false,
        })
    }

    /// Takes an evaluator of a network built like Leela Zero's; `file` is its name.
    pub fn from_evaluator(
        evaluator: Arc<dyn Evaluator>,
        file: &Path,
    ) -> Result<LoadedNetwork, NetworkError> {
        Ok(LoadedNetwork {
            encoder: Arc::new(LeelaEncoder::new(evaluator.shape())?),
            evaluator,
            file: file.to_owned(),
            origin: Origin::File,
            blocks: 0,
            filters: 0,
            bytes: 0,
            sizes: None,
            is_joined: false,
        })
    }

    /// The network with a memory of `cache_bytes`.
    pub fn judge(&self, cache_bytes: usize) -> Judge {
        Judge::with_encoder(self.evaluator.clone(), self.encoder.clone(), cache_bytes)
    }

    /// The board it plays on as it is; [`LoadedNetwork::for_size`] may have it play on another.
    pub fn size(&self) -> BoardSize {
        self.encoder.size()
    }

    /// Its layers for the board it plays on, read again.
    pub fn layers(&self) -> Result<Network, NetworkError> {
        if let Some(sizes) = &self.sizes {
            return sizes.layers(self.size());
        }
        Ok(net::load(&self.file)?)
    }

    /// What to call it.
    pub fn name(&self) -> std::borrow::Cow<'_, str> {
        self.file.to_string_lossy()
    }

    /// The first characters of the file's name: how game records call the network.
    pub fn short_name(&self) -> String {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        name.chars().take(SHORT_NAME).collect()
    }
}

/// The filters of the first convolution.
fn first_filters(layers: &[Layer]) -> Option<usize> {
    layers.iter().find_map(|layer| match layer {
        Layer::Conv(conv) => Some(conv.outputs()),
        Layer::AddVector { planes, .. } => first_filters(planes),
        _ => None,
    })
}

/// The file to load when none is named.
pub fn default_file() -> Result<PathBuf, NetworkError> {
    let looked_at = default_place();
    if looked_at.is_file() {
        Ok(looked_at)
    } else {
        Err(NetworkError::NotFound { looked_at })
    }
}

/// Where the network is looked for when none is named.
pub fn default_place() -> PathBuf {
    let home = env::var_os("HOME").unwrap_or_default();
    Path::new(&home).join(LEELA_ZERO_PLACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_stay_joined_on_another_board() {
        let alone = LoadedNetwork::inside(BoardSize::NINE);
        let joined = alone.clone().joined();
        assert!(!Arc::ptr_eq(&alone.evaluator, &joined.evaluator));
        let thirteen = BoardSize::new(13).unwrap();
        let other = joined.for_size(thirteen).unwrap();
        assert_eq!(other.size(), thirteen);
        assert!(other.is_joined);
        let back = other.for_size(BoardSize::NINE).unwrap();
        assert!(back.is_joined, "and back");
        assert!(!alone.for_size(thirteen).unwrap().is_joined);
        // What it says is the same.
        let row = vec![0.5; alone.evaluator.shape().input_len()];
        let outputs = [&alone, &back].map(|network| {
            let mut outputs = vec![0.0; network.evaluator.shape().output_len()];
            network.evaluator.evaluate(&row, &mut outputs).unwrap();
            outputs
        });
        assert_eq!(outputs[0], outputs[1]);
    }
}
