//! The fast evaluator: a network turned into a list of steps over prepacked weights.
//!
//! A plan is made once and shared by all threads. A call takes a workspace from a pool, works through its positions a
//! few at a time and gives the workspace back; with as many workspaces as there are concurrent calls, nothing is
//! allocated any more. A few positions at a time, because a layer's weights are then read from memory once for all of
//! them, while their planes still fit the caches: four boards are enough for the former and few enough for the latter.

mod board;
mod compile;
mod idle;
mod memory;
mod pack;
mod run;
mod step;

use std::sync::{Mutex, PoisonError};

use crate::backend::OpenError;
use crate::evaluator::{EvaluateError, Evaluator, batch_of};
use crate::kernels::tiling::Tiling;
use crate::kernels::{Arithmetic, Isa};
use crate::network::Network;
use crate::shape::IoShape;

use compile::Program;
use run::Workspace;
#[cfg(feature = "gpu")]
pub(crate) use run::read;

/// What may be chosen about a plan; the default is right for nearly everyone.
#[derive(Clone, Copy, Debug)]
pub struct PlanOptions {
    /// The instruction set.
    pub isa: Isa,
    /// Positions worked on together; `None` lets the shape of the network decide.
    pub positions_at_once: Option<usize>,
    /// What 3x3 convolutions multiply.
    pub precision: Arithmetic,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            isa: Isa::detect(),
            positions_at_once: None,
            precision: Arithmetic::Full,
        }
    }
}

/// A network ready to run.
pub struct Plan {
    shape: IoShape,
    isa: Isa,
    positions_at_once: usize,
    program: Program,
    workspaces: Mutex<Vec<Workspace>>,
}

impl Plan {
    /// Checks the network and packs its weights for this processor.
    pub fn new(network: &Network) -> Result<Self, OpenError> {
        Self::with_options(network, PlanOptions::default())
    }

    /// The same for a network that is not needed any more: numbers that nobody else holds are freed as they are packed.
    pub fn of(network: Network) -> Result<Self, OpenError> {
        Self::compiled(network, PlanOptions::default(), None)
    }

    /// A plan of the same network for another board size, which shares its weights where they are the same: all of
    /// them if the tiles of both boards have the same points, as those of 9x9, 13x13 and 19x19 have.
    pub(crate) fn at_other_size(&self, network: Network) -> Result<Self, OpenError> {
        Self::compiled(network, PlanOptions::default(), Some(&self.program))
    }

    /// Whether a board of this size uses the same transformed weights.
    pub(crate) fn shares_points_with(&self, height: usize, width: usize) -> bool {
        let other = Tiling::new(height, width);
        match (&self.program.tiling, &other) {
            (Some(own), Some(other)) => own.coefficients() == other.coefficients(),
            _ => false,
        }
    }

    /// The same, with a say in how.
    pub fn with_options(network: &Network, options: PlanOptions) -> Result<Self, OpenError> {
        Self::compiled(network.clone(), options, None)
    }

    fn compiled(
        network: Network,
        options: PlanOptions,
        donor: Option<&Program>,
    ) -> Result<Self, OpenError> {
        network.check()?;
        let shape = network.io_shape();
        let program = Program::compile(network, options.precision, donor)?;
        let positions_at_once = options
            .positions_at_once
            .unwrap_or(program.positions_at_once)
            .max(1);
        Ok(Self {
            shape,
            isa: options.isa,
            positions_at_once,
            program,
            workspaces: Mutex::new(Vec::new()),
        })
    }

    /// The instruction set it runs on.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Floating-point operations of the 3x3 convolutions for one position: done directly, and as planned here.
    pub fn convolution_flops(&self) -> (f64, f64) {
        self.program.convolution_flops
    }

    fn with_workspace(&self, work: impl FnOnce(&mut Workspace)) {
        let pool = || {
            self.workspaces
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let kept = pool().pop();
        let mut workspace =
            kept.unwrap_or_else(|| Workspace::new(&self.program, self.positions_at_once));
        work(&mut workspace);
        pool().push(workspace);
    }
}

impl Evaluator for Plan {
    fn shape(&self) -> &IoShape {
        &self.shape
    }

    fn preferred_batch(&self) -> usize {
        self.positions_at_once
    }

    fn evaluate(&self, inputs: &[f32], outputs: &mut [f32]) -> Result<(), EvaluateError> {
        batch_of(&self.shape, inputs, outputs);
        let inputs = inputs.chunks(self.positions_at_once * self.shape.input_len());
        let rows = outputs.chunks_mut(self.positions_at_once * self.shape.output_len());
        self.with_workspace(|workspace| {
            for (inputs, rows) in inputs.zip(rows) {
                let batch = inputs.len() / self.shape.input_len();
                self.program.run(self.isa, workspace, batch, inputs, rows);
            }
        });
        Ok(())
    }
}
