//! ONNX Runtime as a backend, with the library of a Python package (its CPU provider). `ORT_DYLIB_PATH` names the library,
//! or `TENGEN_PYTHON` a Python that has it; without either these say so and pass.
#![cfg(feature = "ort")]

use std::process::Command;
use std::sync::OnceLock;

use net::{
    Backend, BoardSizes, Evaluator, Network, OnnxProvider, Reference,
    bench::random_planes,
    katago::{KataNetwork, RandomKind},
    leela::{LeelaNetwork, LeelaShape, LeelaVersion},
    onnx_runtime::{LIBRARY_VARIABLE, OnnxRuntime},
};

const TOLERANCE: f64 = 1e-3;
/// Prints where the package keeps its library.
const SCRIPT: &str = "
import glob, os, onnxruntime
print(glob.glob(os.path.join(os.path.dirname(onnxruntime.__file__), 'capi', 'libonnxruntime.so*'))[0])
";

/// Whether there is a library; the variable names it then.
fn has_library() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| std::env::var_os(LIBRARY_VARIABLE).is_some())
}

/// Runs the tests of this file anew with the library of a Python package in the environment.
#[test]
fn the_library_of_a_python_package_serves() {
    if has_library() {
        return;
    }
    let python = std::env::var("TENGEN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let asked = Command::new(&python).args(["-c", SCRIPT]).output();
    let Some(asked) = asked.ok().filter(|output| output.status.success()) else {
        println!("skipped: {python} has no onnxruntime, and {LIBRARY_VARIABLE} is not set");
        return;
    };
    let library = String::from_utf8(asked.stdout).unwrap();
    let again = Command::new(std::env::current_exe().unwrap())
        .env(LIBRARY_VARIABLE, library.trim())
        .arg("--nocapture")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&again.stdout);
    println!("{said}");
    assert!(
        again.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&again.stderr)
    );
}

fn largest_error(network: &Network, evaluator: &dyn Evaluator, batch: usize) -> f64 {
    let reference = Reference::new(network.clone()).unwrap();
    let shape = evaluator.shape();
    let inputs = random_planes(batch * shape.input_len(), 0.3, 5);
    let mut rows = vec![f32::NAN; batch * shape.output_len()];
    evaluator.evaluate(&inputs, &mut rows).unwrap();
    let positions = inputs.chunks_exact(shape.input_len());
    let expected = positions.flat_map(|row| reference.evaluate_one(row));
    rows.iter()
        .zip(expected)
        .fold(0.0, |largest, (row, expected)| {
            let apart = (f64::from(*row) - expected).abs() / expected.abs().max(1.0);
            assert!(apart.is_finite());
            largest.max(apart)
        })
}

fn networks() -> Vec<Network> {
    let leela = |side, filters| {
        let shape = LeelaShape::stock(side, 2, filters);
        LeelaNetwork::random(LeelaVersion::V1, shape, side as u64).to_network()
    };
    let mut networks = vec![leela(9, 16), leela(19, 8)];
    networks.extend(RandomKind::ALL.map(|kind| KataNetwork::random(kind, 2, 16, 5).network(7, 7)));
    networks
}

#[test]
fn every_family_agrees_with_the_reference() {
    if !has_library() {
        return;
    }
    for network in networks() {
        let runtime = OnnxRuntime::new(&network, OnnxProvider::Auto).unwrap();
        assert_eq!(runtime.provider(), "CPUExecutionProvider");
        for batch in [1, 3, 9] {
            let error = largest_error(&network, &runtime, batch);
            assert!(error <= TOLERANCE, "{error:e}");
        }
    }
}

#[test]
fn a_provider_that_the_library_lacks_is_refused_and_not_replaced() {
    if !has_library() {
        return;
    }
    let network = networks().swap_remove(0);
    let refused = Backend::Onnx(OnnxProvider::Cuda).open(&network);
    let refused = refused.err().unwrap().to_string();
    println!("{refused}");
    assert!(refused.contains("ONNX Runtime"), "{refused}");
    assert_eq!(refused.lines().count(), 1, "{refused}");
}

#[test]
fn board_sizes_and_threads_share_a_network() {
    if !has_library() {
        return;
    }
    let network = KataNetwork::random(RandomKind::Nested, 2, 16, 11).network(19, 19);
    let sizes = BoardSizes::new(network, Backend::Onnx(OnnxProvider::Cpu));
    for (height, width) in [(9, 9), (5, 7)] {
        let network = sizes.network().unwrap().at_size(height, width).unwrap();
        let evaluator = sizes.at(height, width).unwrap();
        std::thread::scope(|scope| {
            for batch in 1..4 {
                let (network, evaluator) = (&network, &evaluator);
                scope.spawn(move || {
                    let error = largest_error(network, evaluator, batch);
                    assert!(error <= TOLERANCE, "{error:e}");
                });
            }
        });
    }
}
