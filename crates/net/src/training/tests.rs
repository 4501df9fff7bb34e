//! The convolution kernels against a direct convolution in f64 and its derivatives.

use super::LANES;
use super::conv::{self, Affine, Board, ConvWeights, Scratch, Source, Sums, padded};
use super::gradient::{self, OutputGradient, Sink};
use crate::kernels::Isa;

/// Largest error allowed, relative to the largest number compared.
const TOLERANCE: f64 = 2e-5;

struct Noise(u32);

impl Noise {
    fn numbers(&mut self, length: usize) -> Vec<f32> {
        (0..length)
            .map(|_| {
                self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (self.0 >> 8) as f32 / (1 << 23) as f32 - 1.0
            })
            .collect()
    }
}

/// One case: sizes and a batch in plain `[sample][channel][y][x]` order.
struct Case {
    board: Board,
    samples: usize,
    inputs: usize,
    outputs: usize,
}

const CASES: [Case; 6] = [
    Case {
        board: Board {
            height: 19,
            width: 19,
        },
        samples: 5,
        inputs: 8,
        outputs: 16,
    },
    Case {
        board: Board {
            height: 8,
            width: 16,
        },
        samples: 2,
        inputs: 18,
        outputs: 1,
    },
    Case {
        board: Board {
            height: 9,
            width: 9,
        },
        samples: 9,
        inputs: 16,
        outputs: 24,
    },
    Case {
        board: Board {
            height: 5,
            width: 3,
        },
        samples: 1,
        inputs: 3,
        outputs: 5,
    },
    Case {
        board: Board {
            height: 4,
            width: 4,
        },
        samples: 4,
        inputs: 40,
        outputs: 40,
    },
    Case {
        board: Board {
            height: 11,
            width: 11,
        },
        samples: 3,
        inputs: 5,
        outputs: 10,
    },
];

impl Case {
    fn block(&self, plain: &[f32], channels: usize) -> Vec<f32> {
        let points = self.board.points();
        let mut blocked = vec![0.0; self.samples * self.board.sample(channels)];
        for (index, &value) in plain.iter().enumerate() {
            let (sample, channel, point) = (
                index / points / channels,
                index / points % channels,
                index % points,
            );
            let block = sample * padded(channels) / LANES + channel / LANES;
            blocked[(block * points + point) * LANES + channel % LANES] = value;
        }
        blocked
    }

    fn unblock(&self, blocked: &[f32], channels: usize) -> Vec<f64> {
        let points = self.board.points();
        (0..self.samples * channels * points)
            .map(|index| {
                let (sample, channel, point) = (
                    index / points / channels,
                    index / points % channels,
                    index % points,
                );
                let block = sample * padded(channels) / LANES + channel / LANES;
                f64::from(blocked[(block * points + point) * LANES + channel % LANES])
            })
            .collect()
    }

    /// Calls `each(output index, input index, weight index)` for every product of the convolution.
    fn products(&self, mut each: impl FnMut(usize, usize, usize)) {
        let Board { height, width } = self.board;
        for sample in 0..self.samples {
            for output in 0..self.outputs {
                for y in 0..height {
                    for x in 0..width {
                        for input in 0..self.inputs {
                            for tap in 0..9 {
                                let (from_y, from_x) = (y + tap / 3, x + tap % 3);
                                if (1..=height).contains(&from_y) && (1..=width).contains(&from_x) {
                                    each(
                                        ((sample * self.outputs + output) * height + y) * width + x,
                                        ((sample * self.inputs + input) * height + from_y - 1)
                                            * width
                                            + from_x
                                            - 1,
                                        (output * self.inputs + input) * 9 + tap,
                                    );
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn assert_close(what: &str, got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    let scale = expected
        .iter()
        .fold(1e-3_f64, |largest, value| largest.max(value.abs()));
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!(
            (got - expected).abs() <= TOLERANCE * scale,
            "{what} [{index}]: {got} instead of {expected} (scale {scale})"
        );
    }
}

#[test]
fn forward_and_both_gradients_equal_the_direct_convolution_in_f64() {
    for isa in Isa::available() {
        println!("training kernels on {isa}");
        equal_the_direct_convolution(isa);
    }
}

fn equal_the_direct_convolution(isa: Isa) {
    for case in &CASES {
        let mut noise = Noise(7);
        let points = case.board.points();
        let x = noise.numbers(case.samples * case.inputs * points);
        let w = noise.numbers(case.outputs * case.inputs * 9);
        let dz = noise.numbers(case.samples * case.outputs * points);

        let mut z_exact = vec![0.0_f64; dz.len()];
        let mut dx_exact = vec![0.0_f64; x.len()];
        let mut dw_exact = vec![0.0_f64; w.len()];
        case.products(|output, input, weight| {
            z_exact[output] += f64::from(x[input]) * f64::from(w[weight]);
            dx_exact[input] += f64::from(dz[output]) * f64::from(w[weight]);
            dw_exact[weight] += f64::from(dz[output]) * f64::from(x[input]);
        });

        let mut weights = ConvWeights::new(case.board, case.inputs, case.outputs).on(isa);
        weights.set(&w);
        let mut scratch = Scratch::default();
        let blocked_x = case.block(&x, case.inputs);
        let mut z = vec![0.0; case.samples * case.board.sample(case.outputs)];
        let mut sums = Sums::new(case.outputs);
        conv::forward(
            case.board,
            &weights,
            Source::Plain(&blocked_x),
            &mut z,
            &mut sums,
            &mut scratch,
        );
        assert_close("z", &case.unblock(&z, case.outputs), &z_exact);
        for channel in 0..case.outputs {
            let of_channel = |index: &usize| index / points % case.outputs == channel;
            let members: Vec<f64> = (0..z_exact.len())
                .filter(of_channel)
                .map(|index| z_exact[index])
                .collect();
            let (sum, square): (f64, f64) = (
                members.iter().sum(),
                members.iter().map(|value| value * value).sum(),
            );
            assert!((sums.first[channel] - sum).abs() < 1e-3 * square.sqrt().max(1.0));
            assert!((sums.second[channel] - square).abs() < 1e-4 * square.max(1.0));
        }

        let blocked_dz = case.block(&dz, case.outputs);
        let mut dx = vec![0.0; blocked_x.len()];
        let mut du = vec![0.0; weights.gradient_length()];
        gradient::backward(
            case.board,
            &weights,
            OutputGradient::Plain(&blocked_dz),
            Source::Plain(&blocked_x),
            Sink::Plain(&mut dx),
            &mut du,
            &mut scratch,
        );
        assert_close("dx", &case.unblock(&dx, case.inputs), &dx_exact);
        let mut dw = vec![0.0; w.len()];
        weights.add_gradient(&[du], 0..case.outputs, &mut dw);
        let dw: Vec<f64> = dw.into_iter().map(f64::from).collect();
        assert_close("dw", &dw, &dw_exact);
    }
}

#[test]
fn folded_norm_and_activation_equal_the_separate_steps() {
    for isa in Isa::available() {
        println!("training kernels on {isa}");
        equal_the_separate_steps(isa);
    }
}

fn equal_the_separate_steps(isa: Isa) {
    const SLOPE: f32 = 0.1;
    for case in &CASES {
        let mut noise = Noise(11);
        let points = case.board.points();
        let length = case.samples * case.inputs * points;
        let (z_before, skip, g) = (
            noise.numbers(length),
            noise.numbers(length),
            noise.numbers(length),
        );
        let w = noise.numbers(case.outputs * case.inputs * 9);
        let dz = noise.numbers(case.samples * case.outputs * points);
        let affine = |noise: &mut Noise| Affine {
            scale: noise.numbers(padded(case.inputs)),
            shift: noise.numbers(padded(case.inputs)),
        };
        let (mut norm, standard) = (affine(&mut noise), affine(&mut noise));
        // Padding channels must stay zero, as a batch norm of zeros keeps them.
        norm.shift[case.inputs..].fill(0.0);
        let channel = |index: usize| index / points % case.inputs;
        let leak = |value: f32| if value > 0.0 { value } else { SLOPE * value };
        let normed: Vec<f32> = (0..length)
            .map(|index| norm.scale[channel(index)] * z_before[index] + norm.shift[channel(index)])
            .collect();
        let activated: Vec<f32> = normed.iter().map(|&value| leak(value)).collect();
        let summed: Vec<f32> = normed
            .iter()
            .zip(&skip)
            .map(|(value, skip)| leak(value + skip))
            .collect();

        let mut weights = ConvWeights::new(case.board, case.inputs, case.outputs).on(isa);
        weights.set(&w);
        let mut scratch = Scratch::default();
        let run = |source: Source<'_>, scratch: &mut Scratch| {
            let mut z = vec![0.0; case.samples * case.board.sample(case.outputs)];
            conv::forward(
                case.board,
                &weights,
                source,
                &mut z,
                &mut Sums::new(case.outputs),
                scratch,
            );
            case.unblock(&z, case.outputs)
        };
        let blocked = |plain: &[f32]| case.block(plain, case.inputs);
        let (z_blocked, skip_blocked) = (blocked(&z_before), blocked(&skip));
        let folded = run(
            Source::Normalised {
                z: &z_blocked,
                norm: &norm,
                slope: SLOPE,
            },
            &mut scratch,
        );
        assert_close(
            "normalised",
            &folded,
            &run(Source::Plain(&blocked(&activated)), &mut scratch),
        );
        let mut kept = vec![0.0; z_blocked.len()];
        let source = Source::Kept {
            z: &z_blocked,
            norm: &norm,
            skip: Some(&skip_blocked),
            slope: SLOPE,
            out: &mut kept,
        };
        let folded = run(source, &mut scratch);
        assert_close(
            "kept",
            &folded,
            &run(Source::Plain(&blocked(&summed)), &mut scratch),
        );
        let exact: Vec<f64> = summed.iter().map(|&value| f64::from(value)).collect();
        assert_close(
            "kept activations",
            &case.unblock(&kept, case.inputs),
            &exact,
        );

        // Backward: the plain input gradient is the yardstick for both folded sinks.
        let blocked_dz = case.block(&dz, case.outputs);
        let mut du = vec![0.0; weights.gradient_length()];
        let mut dx = vec![0.0; z_blocked.len()];
        gradient::backward(
            case.board,
            &weights,
            OutputGradient::Plain(&blocked_dz),
            Source::Plain(&z_blocked),
            Sink::Plain(&mut dx),
            &mut du,
            &mut scratch,
        );
        let dx = case.unblock(&dx, case.inputs);

        let mut through = vec![0.0; z_blocked.len()];
        let mut sums = Sums::new(case.inputs);
        let sink = Sink::Activation {
            gradient: &mut through,
            z: &z_blocked,
            norm: &norm,
            standard: &standard,
            slope: SLOPE,
            sums: &mut sums,
        };
        gradient::backward(
            case.board,
            &weights,
            OutputGradient::Plain(&blocked_dz),
            Source::Plain(&z_blocked),
            sink,
            &mut du,
            &mut scratch,
        );
        let expected: Vec<f64> = (0..length)
            .map(|index| {
                if normed[index] > 0.0 {
                    dx[index]
                } else {
                    f64::from(SLOPE) * dx[index]
                }
            })
            .collect();
        assert_close(
            "activation sink",
            &case.unblock(&through, case.inputs),
            &expected,
        );
        let mut first = vec![0.0; case.inputs];
        let mut second = vec![0.0; case.inputs];
        for index in 0..length {
            let c = channel(index);
            first[c] += expected[index];
            second[c] += expected[index]
                * f64::from(standard.scale[c] * z_before[index] + standard.shift[c]);
        }
        assert_close("Σg", &sums.first[..case.inputs], &first);
        assert_close("Σg·x̂", &sums.second[..case.inputs], &second);

        let mut branch = blocked(&g);
        let activations = blocked(&summed);
        let sink = Sink::Residual {
            gradient: &mut branch,
            activations: &activations,
            z: &z_blocked,
            standard: &standard,
            slope: SLOPE,
            sums: &mut sums,
        };
        gradient::backward(
            case.board,
            &weights,
            OutputGradient::Plain(&blocked_dz),
            Source::Plain(&z_blocked),
            sink,
            &mut du,
            &mut scratch,
        );
        let expected: Vec<f64> = (0..length)
            .map(|index| {
                (dx[index] + f64::from(g[index]))
                    * if summed[index] > 0.0 {
                        1.0
                    } else {
                        f64::from(SLOPE)
                    }
            })
            .collect();
        assert_close(
            "residual sink",
            &case.unblock(&branch, case.inputs),
            &expected,
        );
    }
}

#[test]
fn gradient_through_batch_norm_is_the_line_it_was_given() {
    for isa in Isa::available() {
        println!("training kernels on {isa}");
        is_the_line_it_was_given(isa);
    }
}

fn is_the_line_it_was_given(isa: Isa) {
    let case = &CASES[0];
    let mut noise = Noise(13);
    let points = case.board.points();
    let length = case.samples * case.outputs * points;
    let (g, z) = (noise.numbers(length), noise.numbers(length));
    let x = noise.numbers(case.samples * case.inputs * points);
    let line = Affine {
        scale: noise.numbers(case.outputs),
        shift: noise.numbers(case.outputs),
    };
    let by_output = noise.numbers(case.outputs);
    let dz: Vec<f32> = (0..length)
        .map(|index| {
            let channel = index / points % case.outputs;
            line.scale[channel] * g[index] + by_output[channel] * z[index] + line.shift[channel]
        })
        .collect();
    let mut weights = ConvWeights::new(case.board, case.inputs, case.outputs).on(isa);
    weights.set(&noise.numbers(case.outputs * case.inputs * 9));
    let blocked_x = case.block(&x, case.inputs);
    let run = |output: OutputGradient<'_>| {
        let mut dx = vec![0.0; blocked_x.len()];
        let mut du = vec![0.0; weights.gradient_length()];
        gradient::backward(
            case.board,
            &weights,
            output,
            Source::Plain(&blocked_x),
            Sink::Plain(&mut dx),
            &mut du,
            &mut Scratch::default(),
        );
        let mut dw = vec![0.0; case.outputs * case.inputs * 9];
        weights.add_gradient(&[du], 0..case.outputs, &mut dw);
        (
            case.unblock(&dx, case.inputs),
            dw.into_iter().map(f64::from).collect::<Vec<_>>(),
        )
    };
    let (g, z) = (case.block(&g, case.outputs), case.block(&z, case.outputs));
    let folded = run(OutputGradient::Normalised {
        gradient: &g,
        z: &z,
        line: &line,
        by_output: &by_output,
    });
    let plain = run(OutputGradient::Plain(&case.block(&dz, case.outputs)));
    assert_close("dx", &folded.0, &plain.0);
    assert_close("dw", &folded.1, &plain.1);
}
