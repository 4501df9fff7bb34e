//! Other programs read what we write: TensorBoard our event files, ONNX Runtime our models.
//!
//! `TENGEN_PYTHON` names the Python to ask (else `python3`); `scripts/interop-python` makes one with both packages, and
//! `scripts/test` uses it. Without them the tests say so and pass.

use std::path::Path;
use std::process::Command;

use learn::{EventFile, onnx};
use net::{
    Activation, Conv, Dense, Evaluator, Head, Layer, Network, Output, Perspective, PlaneShape,
    Reading, Reference,
    leela::{LeelaNetwork, LeelaShape, LeelaVersion},
};

fn python(package: &str) -> Option<Command> {
    let program = std::env::var("TENGEN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let known = Command::new(&program)
        .args(["-c", &format!("import {package}")])
        .output();
    if !known.is_ok_and(|output| output.status.success()) {
        println!("skipped: {program} has no {package}");
        return None;
    }
    Some(Command::new(program))
}

fn run(mut command: Command, script: &str, arguments: &[&Path]) -> String {
    let output = command
        .arg("-c")
        .arg(script)
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn tensorboard_reads_the_event_files_and_drops_what_a_crash_left() {
    let Some(python) = python("tensorboard") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut first = EventFile::create(folder.path(), 0).unwrap();
    for step in [10, 20, 30] {
        first
            .scalars(step, &[("train/loss", 1.0 / step as f64)])
            .unwrap();
    }
    // Resumed from step 20: what was written about step 30 is void. TensorBoard orders files by the second.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let mut second = EventFile::create(folder.path(), 21).unwrap();
    second.scalars(30, &[("train/loss", 0.5)]).unwrap();
    let script = "
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1]).Reload()
for event in events.Scalars('train/loss'):
    print(event.step, round(event.value, 6))
";
    let said = run(python, script, &[folder.path()]);
    assert_eq!(said, "10 0.1\n20 0.05\n30 0.5\n");
}

/// A network with every layer and reading that ONNX must express.
fn mixed() -> Network {
    let numbers = |length: usize, seed: usize| -> Vec<f32> {
        (0..length)
            .map(|index| (((index * 7919 + seed * 104_729) % 2003) as f32 - 1001.0) / 3000.0)
            .collect()
    };
    let conv = |kernel, inputs, outputs, activation, seed| {
        let mut conv = Conv::new(kernel, inputs, outputs, activation);
        conv.weights = numbers(conv.weights.len(), seed).into();
        conv.bias = numbers(outputs, seed + 1);
        Layer::Conv(conv)
    };
    let dense = |inputs, outputs, seed| {
        let mut dense = Dense::new(inputs, outputs, Activation::Identity);
        dense.weights = numbers(inputs * outputs, seed).into();
        dense.bias = numbers(outputs, seed + 1);
        Layer::Dense(dense)
    };
    let output = |name: &str, len, reading| Output {
        name: name.to_owned(),
        len,
        reading,
    };
    let leaky = Activation::LeakyRelu(0.1);
    Network {
        input: PlaneShape {
            planes: 3,
            height: 4,
            width: 5,
        },
        globals: 0,
        trunk: vec![
            conv(3, 3, 6, leaky, 1),
            Layer::Residual {
                body: vec![
                    conv(3, 6, 6, Activation::Relu, 3),
                    conv(3, 6, 6, Activation::Identity, 5),
                ],
                activation: leaky,
            },
        ],
        heads: vec![
            Head {
                layers: vec![conv(1, 6, 2, Activation::Relu, 7), dense(40, 7, 9)],
                outputs: vec![
                    output("won", 1, Reading::Tanh),
                    output("cleared", 1, Reading::Softplus),
                    output("moves", 5, Reading::NormalizedSigmoid),
                ],
            },
            Head {
                layers: vec![Layer::GlobalPool(net::Pooling::MeanMax), dense(12, 2, 11)],
                outputs: vec![
                    output("chance", 1, Reading::Winrate),
                    output("raw", 1, Reading::Raw),
                ],
            },
            Head {
                layers: vec![conv(1, 6, 1, Activation::Identity, 13)],
                outputs: vec![output("map", 20, Reading::Sigmoid)],
            },
        ],
        perspective: Perspective::SideToMove,
    }
}

#[test]
fn onnx_runtime_answers_as_our_reference_does() {
    let leela = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(5, 2, 6), 3);
    for network in [mixed(), leela.to_network()] {
        let Some(python) = python("onnxruntime") else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("network.onnx");
        std::fs::write(&file, onnx::export(&network).unwrap()).unwrap();
        let reference = Reference::new(network).unwrap();
        let shape = reference.shape().clone();
        let length = shape.input_len();
        let planes: Vec<f32> = (0..2 * length)
            .map(|index| (index * 31 % 17) as f32 / 17.0)
            .collect();
        let mut outputs = vec![0.0; 2 * shape.output_len()];
        reference.evaluate(&planes, &mut outputs).unwrap();
        let script = format!(
            "
import sys, numpy, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1], providers=['CPUExecutionProvider'])
count = 2 * {length}
planes = ((numpy.arange(count) * 31 % 17) / 17).astype(numpy.float32).reshape(2, {}, {}, {})
rows = numpy.concatenate([part.reshape(2, -1) for part in session.run(None, {{'planes': planes}})], axis=1)
print(*rows.flatten())
",
            shape.input.planes, shape.input.height, shape.input.width
        );
        let said = run(python, &script, &[&file]);
        let theirs: Vec<f32> = said
            .split_whitespace()
            .map(|word| word.parse().unwrap())
            .collect();
        assert_eq!(theirs.len(), outputs.len());
        for (mine, theirs) in outputs.iter().zip(&theirs) {
            assert!((mine - theirs).abs() < 1e-5, "{mine} {theirs}");
        }
    }
}
