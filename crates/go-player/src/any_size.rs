//! One network on boards of every size, KataGo's or our own: an evaluator and an encoder for each, the weights shared.

use std::{path::Path, sync::Arc};

use go::BoardSize;
use net::{
    Backend, BoardSizes, Evaluator, Network, OpenError,
    katago::{Header, KataNetwork},
};

use crate::{
    encoder::{Encoder, KataEncoder, KataScales, KataTraits, TengenEncoder},
    network::NetworkError,
};

/// What runs a network on one board size, and what it sees there.
type Opened = (Arc<dyn Evaluator>, Arc<dyn Encoder>);

/// A network that opens itself for boards as they are asked for.
pub(crate) struct AnySize {
    sizes: BoardSizes,
    family: Family,
    parameters: usize,
}

/// What the network sees.
enum Family {
    KataGo(KataTraits),
    Tengen,
}

/// Weights larger than this are not kept beside what is made of them, but read again for another board.
const LARGEST_KEPT_BYTES: usize = 64 << 20;

impl AnySize {
    /// A network of a file, or of memory alone.
    pub fn katago(kata: KataNetwork, file: Option<&Path>, backend: Backend) -> AnySize {
        let family = Family::KataGo(traits(&kata.header));
        let side = BoardSize::NINETEEN.get();
        let network = kata.into_network(side, side);
        let parameters = network.parameters();
        let large = file.filter(|_| parameters * size_of::<f32>() > LARGEST_KEPT_BYTES);
        let sizes = match large {
            None => BoardSizes::new(network, backend),
            Some(file) => {
                let file = file.to_owned();
                BoardSizes::read_again(network, backend, move || {
                    net::load(&file).map_err(|error| OpenError::Failed(error.to_string()))
                })
            }
        };
        AnySize {
            sizes,
            family,
            parameters,
        }
    }

    /// A network of our own, laid out for any board.
    pub fn tengen(network: Network, backend: Backend) -> AnySize {
        AnySize {
            parameters: network.parameters(),
            sizes: BoardSizes::new(network, backend),
            family: Family::Tengen,
        }
    }

    /// What runs the network on a board of this size.
    pub fn at(&self, size: BoardSize) -> Result<Opened, NetworkError> {
        let evaluator = self.sizes.at(size.get(), size.get())?;
        let shape = evaluator.shape();
        let encoder: Arc<dyn Encoder> = match self.family {
            Family::KataGo(traits) => Arc::new(KataEncoder::new(shape, traits)?),
            Family::Tengen => Arc::new(TengenEncoder::new(shape)?),
        };
        Ok((evaluator, encoder))
    }

    /// The layers for a board of this size.
    pub fn layers(&self, size: BoardSize) -> Result<Network, NetworkError> {
        let network = self.sizes.network()?.at_size(size.get(), size.get());
        Ok(network.map_err(OpenError::from)?)
    }

    pub fn parameters(&self) -> usize {
        self.parameters
    }
}

fn traits(header: &Header) -> KataTraits {
    let scales = &header.multipliers;
    KataTraits {
        version: header.version,
        scales: KataScales {
            score_mean: scales.score_mean(),
            score_stdev: scales.score_stdev(),
            lead: scales.lead(),
            variance_time: scales.variance_time(),
            value_error: scales.shortterm_value_error(),
            score_error: scales.shortterm_score_error(),
        },
        area_under_suicide: header.pass_alive_under_suicide,
        has_metadata: header.meta_encoder,
    }
}
