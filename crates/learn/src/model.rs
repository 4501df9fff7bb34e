//! Layers in a row, and a model: one trunk that several heads read.

use crate::batch::{Batch, Shape, Workers};
use crate::layer::{Layer, Mode};
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

    /// The layers as plain data for playing.
    pub fn export(&self) -> Vec<net::network::Layer> {
        self.layers
            .iter()
            .flat_map(|layer| layer.export())
            .collect()
    }

    /// What the chain computes, in f64.
    #[cfg(test)]
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
        for layer in self.layers_mut() {
            layer.restart_statistics();
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
    pub fn export_trunk(&self) -> Vec<net::network::Layer> {
        self.trunk.export()
    }

    /// A head as plain data.
    pub fn export_head(&self, head: usize) -> Vec<net::network::Layer> {
        self.heads[head].export()
    }

    /// What a head computes in training mode, in f64.
    #[cfg(test)]
    pub(crate) fn exact(&self, input: &[f64], head: usize) -> Vec<f64> {
        let trunk = self.trunk.exact(input, self.input);
        self.heads[head].exact(&trunk, self.trunk.output().shape)
    }
}
