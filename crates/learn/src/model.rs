//! Layers in a row, and a model: one trunk that several heads read.

use crate::batch::{Batch, Shape, Workers};
use crate::device::{DeviceError, Engine, Numbers};
use crate::layer::step::{PlainOp, Plan};
use crate::layer::{Layer, Mode};
use crate::optimiser::Optimiser;
use crate::param::Param;

/// Layers one after the other, with what flows between them.
pub struct Chain {
    layers: Vec<Box<dyn Layer>>,
    outputs: Vec<Batch>,
    gradients: Vec<Batch>,
}

impl Chain {
    /// A chain of at least one layer.
    ///
    /// # Panics
    /// Without layers.
    pub fn new(layers: Vec<Box<dyn Layer>>) -> Self {
        assert!(!layers.is_empty(), "a chain has layers");
        Self {
            outputs: layers.iter().map(|_| Batch::default()).collect(),
            gradients: layers.iter().map(|_| Batch::default()).collect(),
            layers,
        }
    }

    fn forward(&mut self, input: &Batch, mode: Mode, workers: &mut Workers) {
        let samples = input.samples();
        for index in 0..self.layers.len() {
            let (before, rest) = self.outputs.split_at_mut(index);
            let input = before.last().unwrap_or(input);
            let output = &mut rest[0];
            output.fit(self.layers[index].output(input.shape), samples);
            self.layers[index].forward(input, output, mode, workers);
        }
    }

    /// The last layer's output.
    pub fn output(&self) -> &Batch {
        self.outputs.last().expect("a chain has layers")
    }

    /// Makes room for the gradient of the last output and lends both.
    pub fn output_and_gradient(&mut self) -> (&Batch, &mut Batch) {
        let output = self.outputs.last().expect("a chain has layers");
        let gradient = self.gradients.last_mut().expect("a chain has layers");
        gradient.fit(output.shape, output.samples());
        (output, gradient)
    }

    fn backward(
        &mut self,
        input: &Batch,
        mut input_gradient: Option<&mut Batch>,
        workers: &mut Workers,
    ) {
        // Nobody asks for gradients before the first layer that learns.
        let first = match input_gradient {
            Some(_) => 0,
            None => self
                .layers
                .iter_mut()
                .position(|layer| !layer.params_mut().is_empty())
                .unwrap_or(self.layers.len()),
        };
        for index in (first..self.layers.len()).rev() {
            let (before, rest) = self.gradients.split_at_mut(index);
            let gradient = &mut rest[0];
            let output = &self.outputs[index];
            match before.last_mut() {
                Some(_) if index == first => {
                    let input = &self.outputs[index - 1];
                    self.layers[index].backward(input, output, gradient, None, workers);
                }
                Some(earlier) => {
                    let input = &self.outputs[index - 1];
                    earlier.fit(input.shape, input.samples());
                    self.layers[index].backward(input, output, gradient, Some(earlier), workers);
                }
                None => {
                    let wanted = input_gradient.as_deref_mut();
                    self.layers[0].backward(input, output, gradient, wanted, workers);
                }
            }
        }
    }

    /// What the chain makes of a sample.
    fn shape(&self, input: Shape) -> Shape {
        self.layers
            .iter()
            .fold(input, |shape, layer| layer.output(shape))
    }

    fn steps(&self) -> Vec<PlainOp> {
        self.layers.iter().flat_map(|layer| layer.steps()).collect()
    }

    /// The layers as plain data for playing.
    pub fn export(&self) -> Vec<net::Layer> {
        self.layers
            .iter()
            .flat_map(|layer| layer.export())
            .collect()
    }

    /// What the chain computes, in f64.
    #[cfg(any(test, feature = "exact"))]
    pub(crate) fn exact(&self, input: &[f64], mut shape: Shape) -> Vec<f64> {
        let mut values = input.to_vec();
        for layer in &self.layers {
            values = layer.exact(&values, shape);
            shape = layer.output(shape);
        }
        values
    }
}

/// A network in training.
pub struct Model {
    input: Shape,
    trunk: Chain,
    heads: Vec<Chain>,
    workers: Workers,
    branch: Batch,
    engine: Option<Box<dyn Engine>>,
    failure: Option<DeviceError>,
}

impl Model {
    /// A model that reads samples of `input`, on `threads` threads.
    pub fn new(input: Shape, trunk: Chain, heads: Vec<Chain>, threads: usize) -> Self {
        Self {
            input,
            trunk,
            heads,
            workers: Workers::new(threads),
            branch: Batch::default(),
            engine: None,
            failure: None,
        }
    }

    /// What it reads.
    pub fn input(&self) -> Shape {
        self.input
    }

    /// Runs a batch through.
    ///
    /// # Panics
    /// If the batch has another shape than [`Self::input`].
    pub fn forward(&mut self, input: &Batch, mode: Mode) {
        assert_eq!(input.shape, self.input);
        if self.engine.is_some() {
            return self.forward_elsewhere(input, mode);
        }
        self.trunk.forward(input, mode, &mut self.workers);
        for head in &mut self.heads {
            head.forward(self.trunk.output(), mode, &mut self.workers);
        }
    }

    /// Number of heads.
    pub fn heads(&self) -> usize {
        self.heads.len()
    }

    /// The output of a head.
    pub fn output(&self, head: usize) -> &Batch {
        self.heads[head].output()
    }

    /// The output of a head, and the place for its gradient.
    pub fn output_and_gradient(&mut self, head: usize) -> (&Batch, &mut Batch) {
        self.heads[head].output_and_gradient()
    }

    /// Sets the gradients of all parameters from those of the heads' outputs.
    pub fn backward(&mut self, input: &Batch) {
        if let Some(engine) = &mut self.engine {
            let gradients = self.heads.iter_mut();
            let gradients = gradients.map(|head| head.output_and_gradient().1.all_plain());
            return engine.backward(gradients.collect());
        }
        for param in self.params_mut() {
            param.clear();
        }
        let (output, gradient) = self.trunk.output_and_gradient();
        for (index, head) in self.heads.iter_mut().enumerate() {
            if index == 0 {
                head.backward(output, Some(gradient), &mut self.workers);
            } else {
                self.branch.fit(output.shape, output.samples());
                head.backward(output, Some(&mut self.branch), &mut self.workers);
                for (sum, value) in gradient.values.iter_mut().zip(&self.branch.values) {
                    *sum += value;
                }
            }
        }
        self.trunk.backward(input, None, &mut self.workers);
    }

    /// Moves the parameters against their gradients, wherever both are.
    pub fn step(&mut self, optimiser: &mut Optimiser, rate: f32) {
        match &mut self.engine {
            Some(engine) => {
                optimiser.steps += 1;
                engine.step(optimiser, rate);
            }
            None => {
                optimiser.step(&mut self.params_mut(), rate);
            }
        }
    }

    /// Lets an engine compute from now on. The parameters and statistics here are old until [`Self::fetch`].
    pub fn move_to(&mut self, mut engine: Box<dyn Engine>, optimiser: &mut Optimiser) {
        let plan = self.plan();
        let numbers = self.numbers(optimiser);
        engine.start(plan, numbers);
        self.engine = Some(engine);
    }

    /// Lets the layers compute again, with the numbers that are here.
    pub fn leave_engine(&mut self) {
        self.engine = None;
        self.failure = None;
    }

    /// Copies the engine's numbers here; without an engine they are here already.
    pub fn fetch(&mut self, optimiser: &mut Optimiser) -> Result<(), DeviceError> {
        let Some(engine) = &self.engine else {
            return Ok(());
        };
        let numbers = engine.numbers()?;
        for (param, values) in self.params_mut().into_iter().zip(numbers.params) {
            param.values = values;
        }
        for (tensor, values) in self.statistics_mut().into_iter().zip(numbers.statistics) {
            *tensor = values;
        }
        optimiser.memory = numbers.memory;
        Ok(())
    }

    /// Copies the gradients of the engine's last backward pass here; without an engine they are here already.
    pub fn fetch_gradients(&mut self) -> Result<(), DeviceError> {
        let Some(engine) = &self.engine else {
            return Ok(());
        };
        let gradients = engine.gradients()?;
        for (param, gradient) in self.params_mut().into_iter().zip(gradients) {
            param.gradient = gradient;
        }
        Ok(())
    }

    /// Gives the engine, if there is one, the numbers that are here.
    pub fn send(&mut self, optimiser: &mut Optimiser) {
        if self.engine.is_none() {
            return;
        }
        let numbers = self.numbers(optimiser);
        if let Some(engine) = &mut self.engine {
            engine.set_numbers(numbers);
        }
    }

    /// Tells why the engine could not run the last batch, if it could not.
    pub fn check_engine(&mut self) -> Result<(), DeviceError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn forward_elsewhere(&mut self, input: &Batch, mode: Mode) {
        let trunk = self.trunk.shape(self.input);
        let Some(engine) = &mut self.engine else {
            return;
        };
        let answer = engine.forward(input, mode);
        let rows = answer.unwrap_or_else(|failure| {
            self.failure = Some(failure);
            Vec::new()
        });
        let mut rows = rows.into_iter();
        for head in &mut self.heads {
            let shape = head.shape(trunk);
            let output = head.outputs.last_mut().expect("a chain has layers");
            output.fit(shape, input.samples());
            let Some(rows) = rows.next() else { continue };
            for (index, row) in rows.chunks_exact(shape.len()).enumerate() {
                output.set_plain(index, row);
            }
        }
    }

    /// What the model computes, as plain steps.
    pub fn plan(&mut self) -> Plan {
        let params = self.params_mut();
        let shapes = params.iter().map(|param| param.shape.clone()).collect();
        let decays = params.iter().map(|param| param.decays).collect();
        Plan {
            trunk: self.trunk.steps(),
            heads: self.heads.iter().map(Chain::steps).collect(),
            shapes,
            decays,
        }
    }

    /// All that training changes, as it is here.
    pub(crate) fn numbers(&mut self, optimiser: &mut Optimiser) -> Numbers {
        let mut params = self.params_mut();
        optimiser.fit(&params);
        Numbers {
            params: params
                .iter_mut()
                .map(|param| param.values.clone())
                .collect(),
            statistics: self
                .statistics_mut()
                .into_iter()
                .map(|tensor| tensor.clone())
                .collect(),
            memory: optimiser.memory.clone(),
        }
    }

    fn layers_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn Layer>> {
        let heads = self.heads.iter_mut().flat_map(|head| &mut head.layers);
        self.trunk.layers.iter_mut().chain(heads)
    }

    /// All parameters: the trunk's, then each head's.
    pub fn params_mut(&mut self) -> Vec<&mut Param> {
        self.layers_mut()
            .flat_map(|layer| layer.params_mut())
            .collect()
    }

    /// All running statistics, in the order of the layers.
    pub fn statistics_mut(&mut self) -> Vec<&mut Vec<f32>> {
        self.layers_mut()
            .flat_map(|layer| layer.statistics_mut())
            .collect()
    }

    /// Lets the following training passes average the running statistics anew.
    pub fn restart_statistics(&mut self) {
        if let Some(engine) = &mut self.engine {
            engine.restart_statistics();
        }
        for layer in self.layers_mut() {
            layer.restart_statistics();
        }
    }

    /// Lets the running statistics move as they did before [`Self::restart_statistics`].
    pub fn resume_statistics(&mut self) {
        if let Some(engine) = &mut self.engine {
            engine.resume_statistics();
        }
        for layer in self.layers_mut() {
            layer.resume_statistics();
        }
    }

    /// Number of learnt numbers.
    pub fn size(&mut self) -> usize {
        self.params_mut()
            .iter()
            .map(|param| param.values.len())
            .sum()
    }

    /// The trunk as plain data.
    pub fn export_trunk(&self) -> Vec<net::Layer> {
        self.trunk.export()
    }

    /// A head as plain data.
    pub fn export_head(&self, head: usize) -> Vec<net::Layer> {
        self.heads[head].export()
    }

    /// What a head computes in training mode, in f64.
    #[cfg(any(test, feature = "exact"))]
    pub fn exact(&self, input: &[f64], head: usize) -> Vec<f64> {
        let trunk = self.trunk.exact(input, self.input);
        self.heads[head].exact(&trunk, self.trunk.output().shape)
    }
}
