//! One KataGo network on boards of every size: an evaluator and an encoder for each, the weights shared.

use std::sync::Arc;

use go::BoardSize;
use net::{
    Backend, BoardSizes, Evaluator, Network, OpenError,
    katago::{Header, KataNetwork},
};

use crate::{
    encoder::{Encoder, KataEncoder, KataScales, KataTraits},
    network::NetworkError,
};

/// What runs a network on one board size, and what it sees there.
type Opened = (Arc<dyn Evaluator>, Arc<dyn Encoder>);

/// A KataGo network that opens itself for boards as they are asked for.
pub(crate) struct KataSizes {
    sizes: BoardSizes,
    traits: KataTraits,
}

impl KataSizes {
    pub fn new(kata: &KataNetwork, backend: Backend) -> KataSizes {
        let side = BoardSize::NINETEEN.get();
        KataSizes {
            sizes: BoardSizes::new(kata.network(side, side), backend),
            traits: traits(&kata.header),
        }
    }

    /// What runs the network on a board of this size.
    pub fn at(&self, size: BoardSize) -> Result<Opened, NetworkError> {
        let evaluator = self.sizes.at(size.get(), size.get())?;
        let encoder = KataEncoder::new(evaluator.shape(), self.traits)?;
        Ok((evaluator, Arc::new(encoder)))
    }

    /// The layers for a board of this size.
    pub fn layers(&self, size: BoardSize) -> Result<Network, NetworkError> {
        let network = self.sizes.network().at_size(size.get(), size.get());
        Ok(network.map_err(OpenError::from)?)
    }

    pub fn parameters(&self) -> usize {
        self.sizes.network().parameters()
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
