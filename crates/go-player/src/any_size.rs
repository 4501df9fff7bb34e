//! One network on boards of every size, KataGo's or our own: an evaluator and an encoder for each, the weights shared.

use std::sync::Arc;

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
}

/// What the network sees.
enum Family {
    KataGo(KataTraits),
    Tengen,
}

impl AnySize {
    pub fn katago(kata: &KataNetwork, backend: Backend) -> AnySize {
        let side = BoardSize::NINETEEN.get();
        AnySize {
            sizes: BoardSizes::new(kata.network(side, side), backend),
            family: Family::KataGo(traits(&kata.header)),
        }
    }

    /// A network of our own, laid out for any board.
    pub fn tengen(network: Network, backend: Backend) -> AnySize {
        AnySize {
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
