//! Networks of every family as ONNX models, run by ONNX Runtime in a Python that has it and compared with the reference.
//! `TENGEN_PYTHON` names the Python; without ONNX Runtime these say so and pass.

use std::path::Path;
use std::process::Command;

use net::{
    Activation, Conv, Dense, Head, Layer, Network, Output, Perspective, PlaneShape, Pooling,
    Reading, Reference,
    bench::random_planes,
    katago::{KataNetwork, RandomKind},
    leela::{LeelaNetwork, LeelaShape, LeelaVersion},
    onnx,
};

/// Positions of a call: more than one, so that a model that fixes its batch would fail.
const BATCH: usize = 3;
/// Of an output larger than one, its share.
const TOLERANCE: f64 = 2e-5;

/// Reads a model and rows of floats, and prints the outputs of every row, all after one another.
const SCRIPT: &str = "
import sys, numpy, onnxruntime
model, rows, planes, height, width, globals_ = sys.argv[1:]
shape = tuple(map(int, (planes, height, width)))
area, globals_ = shape[0] * shape[1] * shape[2], int(globals_)
rows = numpy.fromfile(rows, numpy.float32).reshape(-1, area + globals_)
session = onnxruntime.InferenceSession(model, providers=['CPUExecutionProvider'])
inputs = {'planes': rows[:, :area].reshape((-1,) + shape)}
if globals_:
    inputs['globals'] = rows[:, area:]
outputs = session.run(None, inputs)
print(*numpy.concatenate([part.reshape(len(rows), -1) for part in outputs], axis=1).flatten())
";

fn python() -> Option<String> {
    let program = std::env::var("TENGEN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let asked = Command::new(&program)
        .args(["-c", "import onnxruntime"])
        .output();
    if asked.is_ok_and(|output| output.status.success()) {
        return Some(program);
    }
    println!("skipped: {program} has no onnxruntime");
    None
}

fn run(python: &str, model: &Path, rows: &Path, network: &Network) -> Vec<f64> {
    let board = network.input;
    let sizes = [board.planes, board.height, board.width, network.globals];
    let output = Command::new(python)
        .args(["-c", SCRIPT])
        .args([model, rows])
        .args(sizes.map(|size| size.to_string()))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let said = String::from_utf8(output.stdout).unwrap();
    said.split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect()
}

/// The largest difference between ONNX Runtime and the reference, as a share of an output larger than one.
fn largest_difference(python: &str, network: &Network) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let (model, rows) = (
        folder.path().join("network.onnx"),
        folder.path().join("rows"),
    );
    std::fs::write(&model, onnx::export(network).unwrap()).unwrap();
    let reference = Reference::new(network.clone()).unwrap();
    let len = network.io_shape().input_len();
    let mut inputs = random_planes(BATCH * len, 0.3, 8);
    for (index, number) in inputs.iter_mut().enumerate() {
        *number *= 1.0 - (index % 7) as f32 * 0.2;
    }
    let bytes: Vec<u8> = inputs.iter().flat_map(|n| n.to_le_bytes()).collect();
    std::fs::write(&rows, bytes).unwrap();
    let found = run(python, &model, &rows, network);
    let expected: Vec<f64> = inputs
        .chunks_exact(len)
        .flat_map(|row| reference.evaluate_one(row))
        .collect();
    assert_eq!(found.len(), expected.len());
    let apart = found
        .iter()
        .zip(&expected)
        .map(|(a, b)| (a - b).abs() / b.abs().max(1.0));
    apart.fold(0.0, f64::max)
}

#[test]
fn onnx_runtime_answers_as_our_reference_does() {
    let Some(python) = python() else { return };
    let leela = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(5, 2, 6), 3);
    let mut networks = vec![
        ("mixed", mixed()),
        ("Leela Zero", leela.to_network()),
        ("globals", with_globals()),
    ];
    for kind in RandomKind::ALL {
        let network = KataNetwork::random(kind, 3, 16, 7).network(5, 7);
        networks.push(("KataGo", network));
    }
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nets/go.net");
    let shipped = net::load(&shipped).unwrap().at_size(6, 6).unwrap();
    networks.push(("go.net", shipped));
    for (name, network) in networks {
        let apart = largest_difference(&python, &network);
        println!("{name}: {apart:.1e}");
        assert!(apart <= TOLERANCE, "{name}: {apart:e}");
    }
}

fn numbers(length: usize, seed: usize) -> Vec<f32> {
    (0..length)
        .map(|index| (((index * 7919 + seed * 104_729) % 2003) as f32 - 1001.0) / 3000.0)
        .collect()
}

fn conv(kernel: usize, inputs: usize, outputs: usize, activation: Activation) -> Layer {
    let mut conv = Conv::new(kernel, inputs, outputs, activation);
    conv.weights = numbers(conv.weights.len(), kernel + outputs).into();
    conv.bias = numbers(outputs, kernel);
    Layer::Conv(conv)
}

fn dense(inputs: usize, outputs: usize) -> Layer {
    let mut dense = Dense::new(inputs, outputs, Activation::Identity);
    dense.weights = numbers(inputs * outputs, inputs).into();
    dense.bias = numbers(outputs, outputs);
    Layer::Dense(dense)
}

fn output(name: &str, len: usize, reading: Reading) -> Output {
    Output {
        name: name.to_owned(),
        len,
        reading,
    }
}

/// Every reading, and layers that none of the families has.
fn mixed() -> Network {
    let leaky = Activation::LeakyRelu(0.1);
    Network {
        input: PlaneShape {
            planes: 3,
            height: 4,
            width: 5,
        },
        globals: 0,
        trunk: vec![
            conv(3, 3, 6, leaky),
            Layer::Residual {
                body: vec![
                    conv(3, 6, 6, Activation::Relu),
                    conv(3, 6, 6, Activation::Identity),
                ],
                activation: leaky,
            },
        ],
        heads: vec![
            Head {
                layers: vec![conv(1, 6, 2, Activation::Relu), dense(40, 7)],
                outputs: vec![
                    output("won", 1, Reading::Tanh),
                    output("cleared", 1, Reading::Softplus),
                    output("moves", 5, Reading::NormalizedSigmoid),
                ],
            },
            Head {
                layers: vec![Layer::GlobalPool(Pooling::MeanMax), dense(12, 2)],
                outputs: vec![
                    output("chance", 1, Reading::Winrate),
                    output("raw", 1, Reading::Raw),
                ],
            },
            Head {
                layers: vec![conv(1, 6, 1, Activation::Identity)],
                outputs: vec![output("map", 20, Reading::Sigmoid)],
            },
        ],
        perspective: Perspective::SideToMove,
    }
}

/// Some of the globals, in the middle of them, added to planes.
fn with_globals() -> Network {
    Network {
        input: PlaneShape {
            planes: 2,
            height: 3,
            width: 4,
        },
        globals: 5,
        trunk: vec![Layer::AddVector {
            planes: vec![conv(5, 2, 4, Activation::Identity)],
            vector: vec![Layer::Globals { start: 1, len: 3 }, dense(3, 4)],
        }],
        heads: vec![Head {
            layers: vec![Layer::WithPass {
                planes: vec![conv(1, 4, 2, Activation::Mish)],
                pass: vec![Layer::GlobalPool(Pooling::MeanScaledSquared), dense(12, 2)],
            }],
            outputs: vec![
                output("policy", 13, Reading::Softmax),
                output("second", 13, Reading::Softmax),
            ],
        }],
        perspective: Perspective::SideToMove,
    }
}
