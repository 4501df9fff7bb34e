//! What the training loop needs of a network: parameters to move, statistics to keep, and where its arithmetic happens.

use crate::device::{DeviceError, Engine};
use crate::model::Model;
use crate::optimiser::Optimiser;
use crate::param::Param;
use crate::size_free::SizeFree;

/// A network in training. Checkpoints, averages and steps go through this alone.
pub trait Trainable {
    /// All parameters, in a fixed order.
    fn params_mut(&mut self) -> Vec<&mut Param>;

    /// All running statistics, in a fixed order.
    fn statistics_mut(&mut self) -> Vec<&mut Vec<f32>>;

    /// Lets the following training passes average the running statistics anew.
    fn restart_statistics(&mut self);

    /// Lets the running statistics move as they did before [`Self::restart_statistics`].
    fn resume_statistics(&mut self);

    /// Moves the parameters against their gradients, wherever both are.
    fn step(&mut self, optimiser: &mut Optimiser, rate: f32) {
        optimiser.step(&mut self.params_mut(), rate);
    }

    /// Lets an engine compute from now on. The parameters and statistics here are old until [`Self::fetch`].
    fn move_to(
        &mut self,
        _engine: Box<dyn Engine>,
        _optimiser: &mut Optimiser,
    ) -> Result<(), DeviceError> {
        Err(DeviceError::OnlyProcessor)
    }

    /// Lets the layers compute again, with the numbers that are here.
    fn leave_engine(&mut self) {}

    /// Copies the engine's numbers here; without an engine they are here already.
    fn fetch(&mut self, _optimiser: &mut Optimiser) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Copies the gradients of the engine's last backward pass here; without an engine they are here already.
    fn fetch_gradients(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Gives the engine, if there is one, the numbers that are here.
    fn send(&mut self, _optimiser: &mut Optimiser) {}

    /// Tells why the engine could not run the last batch, if it could not.
    fn check_engine(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }
}

impl Trainable for Model {
    fn params_mut(&mut self) -> Vec<&mut Param> {
        self.params_mut()
    }

    fn statistics_mut(&mut self) -> Vec<&mut Vec<f32>> {
        self.statistics_mut()
    }

    fn restart_statistics(&mut self) {
        self.restart_statistics();
    }

    fn resume_statistics(&mut self) {
        self.resume_statistics();
    }

    fn step(&mut self, optimiser: &mut Optimiser, rate: f32) {
        self.step(optimiser, rate);
    }

    fn move_to(
        &mut self,
        engine: Box<dyn Engine>,
        optimiser: &mut Optimiser,
    ) -> Result<(), DeviceError> {
        self.move_to(engine, optimiser);
        Ok(())
    }

    fn leave_engine(&mut self) {
        self.leave_engine();
    }

    fn fetch(&mut self, optimiser: &mut Optimiser) -> Result<(), DeviceError> {
        self.fetch(optimiser)
    }

    fn fetch_gradients(&mut self) -> Result<(), DeviceError> {
        self.fetch_gradients()
    }

    fn send(&mut self, optimiser: &mut Optimiser) {
        self.send(optimiser);
    }

    fn check_engine(&mut self) -> Result<(), DeviceError> {
        self.check_engine()
    }
}

impl Trainable for SizeFree {
    fn params_mut(&mut self) -> Vec<&mut Param> {
        self.params_mut()
    }

    fn statistics_mut(&mut self) -> Vec<&mut Vec<f32>> {
        self.statistics_mut()
    }

    fn restart_statistics(&mut self) {
        self.restart_statistics();
    }

    fn resume_statistics(&mut self) {
        self.resume_statistics();
    }
}
