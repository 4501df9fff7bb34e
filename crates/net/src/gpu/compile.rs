//! A network as a list of steps.

use super::device::GpuError;
use super::step::{Dispatch, Grid, Kernel, Place, Storage, activation_params};
use super::winograd;
use crate::network::{
    Activation, Attention, Conv, Dense, Group, Layer, Network, NormOver, Pooling, RmsNorm, Scale,
};
use crate::weights::Weights;

/// Cells of the largest board that `attention.wgsl` has memory for.
const MOST_CELLS: usize = 1024;
/// Threads of a workgroup that works number by number.
const THREADS: usize = 64;

/// A compiled network.
#[derive(Debug)]
pub(crate) struct Program {
    pub steps: Vec<Dispatch>,
    /// Numbers of one position in each value between steps.
    pub values: Vec<usize>,
}

/// Compiles a network that has been checked, for batches of up to `positions`.
/// `transformed` gives the weights of a 3x3 convolution for Winograd's method, which is used where numbers are in f32.
pub(crate) fn compile(
    network: &Network,
    positions: usize,
    storage: Storage,
    transformed: &dyn Fn(&Conv) -> Weights,
) -> Result<Program, GpuError> {
    let mut compiler = Compiler {
        network,
        positions,
        storage,
        transformed,
        input_len: network.input.len() + network.globals,
        steps: Vec::new(),
        values: Vec::new(),
    };
    let planes = compiler.input_value(0, network.input.len());
    let trunk = compiler.layers(&network.trunk, planes)?;
    let output_len = network.io_shape().output_len();
    let mut start = 0;
    for head in &network.heads {
        let row = compiler.layers(&head.layers, trunk)?;
        let len = compiler.values[row];
        compiler.copy(
            Place::Value(row),
            Place::Output,
            Rows {
                rows: 1,
                len,
                source: [len, 0, 0],
                target: [output_len, start, 0],
            },
        );
        start += len;
    }
    Ok(Program {
        steps: compiler.steps,
        values: compiler.values,
    })
}

struct Compiler<'a> {
    network: &'a Network,
    positions: usize,
    storage: Storage,
    transformed: &'a dyn Fn(&Conv) -> Weights,
    input_len: usize,
    steps: Vec<Dispatch>,
    values: Vec<usize>,
}

/// What `copy.wgsl` copies: numbers of a position, the first place, numbers from row to row.
struct Rows {
    rows: usize,
    len: usize,
    source: [usize; 3],
    target: [usize; 3],
}

impl Compiler<'_> {
    fn value(&mut self, len: usize) -> usize {
        self.values.push(len);
        self.values.len() - 1
    }

    fn layers(&mut self, layers: &[Layer], input: usize) -> Result<usize, GpuError> {
        layers
            .iter()
            .try_fold(input, |value, layer| self.layer(layer, value))
    }

    fn layer(&mut self, layer: &Layer, input: usize) -> Result<usize, GpuError> {
        let area = self.network.input.area();
        Ok(match layer {
            Layer::Conv(conv) => self.conv(conv, input),
            Layer::Dense(dense) => self.dense(dense, input),
            Layer::Residual { body, activation } => {
                let sum = self.layers(body, input)?;
                self.combine(sum, input, 1, false, *activation)
            }
            Layer::GlobalPool(pooling) => self.pool(*pooling, input),
            Layer::Scale(scale) => self.scale(scale, input),
            Layer::RmsNorm(norm) => self.norm(norm, input),
            Layer::Attention(attention) => self.attention(attention, input)?,
            Layer::Gated(gated) => {
                let value = self.conv(&gated.value, input);
                let gate = self.conv(&gated.gate, input);
                self.combine(value, gate, 1, true, Activation::Identity)
            }
            Layer::AddVector { planes, vector } => {
                let planes = self.layers(planes, input)?;
                let vector = self.layers(vector, input)?;
                self.combine(planes, vector, area, false, Activation::Identity)
            }
            Layer::WithPass { planes, pass } => {
                let planes = self.layers(planes, input)?;
                let pass = self.layers(pass, input)?;
                self.with_pass(planes, pass)
            }
            Layer::Globals { start, len } => {
                self.input_value(self.network.input.len() + start, *len)
            }
        })
    }

    fn input_value(&mut self, start: usize, len: usize) -> usize {
        let to = self.value(len);
        let rows = Rows {
            rows: 1,
            len,
            source: [self.input_len, start, 0],
            target: [len, 0, 0],
        };
        self.copy(Place::Input, Place::Value(to), rows);
        to
    }

    fn with_pass(&mut self, planes: usize, pass: usize) -> usize {
        let (area, count) = (self.network.input.area(), self.values[pass]);
        let len = count * (area + 1);
        let to = self.value(len);
        let rows = Rows {
            rows: count,
            len: area,
            source: [count * area, 0, area],
            target: [len, 0, area + 1],
        };
        self.copy(Place::Value(planes), Place::Value(to), rows);
        let rows = Rows {
            rows: count,
            len: 1,
            source: [count, 0, 1],
            target: [len, area, area + 1],
        };
        self.copy(Place::Value(pass), Place::Value(to), rows);
        to
    }

    fn copy(&mut self, from: Place, to: Place, rows: Rows) {
        let mut params = vec![rows.rows, rows.len];
        params.extend(rows.source);
        params.extend(rows.target);
        self.steps.push(Dispatch {
            kernel: Kernel::Copy,
            params: words(&params),
            sources: vec![from],
            weights: None,
            numbers: Vec::new(),
            target: to,
            grid: for_each_number(rows.rows * rows.len),
        });
    }

    fn conv(&mut self, conv: &Conv, input: usize) -> usize {
        let (height, width) = (self.network.input.height, self.network.input.width);
        if winograd::pays(conv, self.storage, height, width) {
            return self.winograd(conv, [height, width], input);
        }
        self.product(conv, [height, width], input)
    }

    /// A 3x3 convolution by way of tiles.
    fn winograd(&mut self, conv: &Conv, [height, width]: [usize; 2], input: usize) -> usize {
        let (inputs, outputs) = (conv.inputs(), conv.outputs());
        let down = height.div_ceil(winograd::TILE);
        let across = width.div_ceil(winograd::TILE);
        let tiles = down * across;
        let board = |planes| words(&[planes, height, width, down, across]);
        let tiled = self.of_one(
            Kernel::WinogradIn,
            board(inputs),
            Vec::new(),
            input,
            winograd::POINTS * inputs * tiles,
            for_each_number(inputs * tiles),
        );
        let group = Group { inputs, outputs };
        let products = Conv {
            kernel: 1,
            groups: vec![group; winograd::POINTS],
            weights: (self.transformed)(conv),
            bias: vec![0.0; winograd::POINTS * outputs],
            activation: Activation::Identity,
        };
        let products = self.product(&products, [down, across], tiled);
        let mut params = board(outputs);
        params.extend(activation_params(conv.activation));
        self.of_one(
            Kernel::WinogradOut,
            params,
            conv.bias.clone(),
            products,
            outputs * height * width,
            for_each_number(outputs * tiles),
        )
    }

    /// A dense layer is a 1x1 convolution on a board of one cell.
    fn dense(&mut self, dense: &Dense, input: usize) -> usize {
        let conv = Conv {
            kernel: 1,
            groups: vec![Group {
                inputs: dense.inputs,
                outputs: dense.outputs,
            }],
            weights: dense.weights.clone(),
            bias: dense.bias.clone(),
            activation: dense.activation,
        };
        self.product(&conv, [1, 1], input)
    }

    fn product(&mut self, conv: &Conv, [height, width]: [usize; 2], input: usize) -> usize {
        let (inputs, outputs, area) = (conv.inputs(), conv.outputs(), height * width);
        let to = self.value(outputs * area);
        let (mut first_input, mut first_output, mut first_weight) = (0, 0, 0);
        let mut left = conv.groups.as_slice();
        while let Some(&group) = left.first() {
            // Groups of one size run at once.
            let alike = left.iter().take_while(|&&other| other == group).count();
            left = &left[alike..];
            let mut params = words(&[
                group.inputs,
                group.outputs,
                conv.kernel,
                height,
                width,
                inputs,
                outputs,
                first_input,
                first_output,
                first_weight,
                self.positions,
            ]);
            params.extend(activation_params(conv.activation));
            self.steps.push(Dispatch {
                kernel: Kernel::Conv,
                params,
                sources: vec![Place::Value(input)],
                weights: Some(conv.weights.clone()),
                numbers: conv.bias.clone(),
                target: Place::Value(to),
                grid: Grid::Tiles {
                    columns: area,
                    rows: group.outputs,
                    groups: alike,
                },
            });
            first_input += alike * group.inputs;
            first_output += alike * group.outputs;
            first_weight += alike * group.inputs * group.outputs * conv.kernel * conv.kernel;
        }
        to
    }

    fn combine(
        &mut self,
        first: usize,
        second: usize,
        repeat: usize,
        multiply: bool,
        activation: Activation,
    ) -> usize {
        let len = self.values[first];
        let to = self.value(len);
        let mut params = words(&[len, repeat, usize::from(multiply)]);
        params.extend(activation_params(activation));
        self.steps.push(Dispatch {
            kernel: Kernel::Combine,
            params,
            sources: vec![Place::Value(first), Place::Value(second)],
            weights: None,
            numbers: Vec::new(),
            target: Place::Value(to),
            grid: for_each_number(len),
        });
        to
    }

    fn scale(&mut self, scale: &Scale, input: usize) -> usize {
        let (len, planes) = (self.values[input], scale.scale.len());
        let mut params = words(&[planes, len / planes]);
        params.extend(activation_params(scale.activation));
        let numbers = scale.scale.iter().chain(&scale.bias).copied().collect();
        self.of_one(
            Kernel::Scale,
            params,
            numbers,
            input,
            len,
            for_each_number(len),
        )
    }

    fn norm(&mut self, norm: &RmsNorm, input: usize) -> usize {
        let (len, area) = (self.values[input], self.network.input.area());
        let mut params = words(&[len / area, area]);
        params.extend(activation_params(norm.activation));
        params.push(norm.epsilon.to_bits());
        let numbers = norm.scale.iter().chain(&norm.bias).copied().collect();
        let (kernel, grid) = match norm.over {
            NormOver::Point => (Kernel::NormPoint, for_each_number(area)),
            NormOver::Board => (Kernel::NormBoard, Grid::Each { x: 1, y: 1 }),
        };
        self.of_one(kernel, params, numbers, input, len, grid)
    }

    fn pool(&mut self, pooling: Pooling, input: usize) -> usize {
        let area = self.network.input.area();
        let planes = self.values[input] / area;
        let kind = match pooling {
            Pooling::MeanMax => 0,
            Pooling::MeanScaledMax => 1,
            Pooling::MeanScaledSquared => 2,
        };
        let (scaled, squared) = Pooling::size_factors(area);
        let mut params = words(&[planes, area, kind]);
        params.extend([scaled, squared].map(|factor| (factor as f32).to_bits()));
        let len = planes * pooling.numbers_per_plane();
        let grid = Grid::Each { x: planes, y: 1 };
        self.of_one(Kernel::Pool, params, Vec::new(), input, len, grid)
    }

    fn attention(&mut self, attention: &Attention, input: usize) -> Result<usize, GpuError> {
        let area = self.network.input.area();
        if area > MOST_CELLS {
            return Err(GpuError::BoardTooLarge {
                cells: area,
                most: MOST_CELLS,
            });
        }
        let query = self.conv(&attention.query, input);
        let key = self.conv(&attention.key, input);
        let value = self.conv(&attention.value, input);
        let (heads, kv_heads) = (attention.heads, attention.kv_heads);
        let query = self.rotate(attention, heads, heads / kv_heads, query);
        let key = self.rotate(attention, kv_heads, 1, key);
        let to = self.value(attention.outputs() * area);
        self.steps.push(Dispatch {
            kernel: Kernel::Attention,
            params: words(&[
                area,
                heads,
                kv_heads,
                attention.query_len(),
                attention.value_len(),
            ]),
            sources: [query, key, value].map(Place::Value).to_vec(),
            weights: None,
            numbers: Vec::new(),
            target: Place::Value(to),
            grid: Grid::Each { x: area, y: heads },
        });
        Ok(to)
    }

    fn rotate(
        &mut self,
        attention: &Attention,
        heads: usize,
        shared_by: usize,
        input: usize,
    ) -> usize {
        let Some(frequencies) = &attention.rotation else {
            return input;
        };
        let (area, width) = (self.network.input.area(), self.network.input.width);
        let pairs = attention.query_len() / 2;
        let angles: Vec<f64> = frequencies
            .chunks_exact(2)
            .flat_map(|pair| {
                let (across, down) = (f64::from(pair[0]), f64::from(pair[1]));
                (0..area)
                    .map(move |cell| (cell % width) as f64 * across + (cell / width) as f64 * down)
            })
            .collect();
        let cosines = angles.iter().map(|angle| angle.cos() as f32);
        let sines = angles.iter().map(|angle| angle.sin() as f32);
        let len = self.values[input];
        let params = words(&[heads, shared_by, pairs, area, angles.len()]);
        let grid = for_each_number(len / 2);
        let numbers = cosines.chain(sines).collect();
        self.of_one(Kernel::Rotate, params, numbers, input, len, grid)
    }

    /// A step that reads one value and writes one of `len` numbers.
    fn of_one(
        &mut self,
        kernel: Kernel,
        params: Vec<u32>,
        numbers: Vec<f32>,
        input: usize,
        len: usize,
        grid: Grid,
    ) -> usize {
        let to = self.value(len);
        self.steps.push(Dispatch {
            kernel,
            params,
            sources: vec![Place::Value(input)],
            weights: None,
            numbers,
            target: Place::Value(to),
            grid,
        });
        to
    }
}

fn for_each_number(len: usize) -> Grid {
    Grid::Each {
        x: len.div_ceil(THREADS),
        y: 1,
    }
}

fn words(params: &[usize]) -> Vec<u32> {
    params.iter().map(|&param| param as u32).collect()
}
