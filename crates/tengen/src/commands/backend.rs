//! What runs the network, for every command that runs one.

use clap::ValueEnum;
use net::{Backend, GpuOptions, GpuPrecision, OnnxProvider};

/// The options that choose what runs a network.
#[derive(Clone, clap::Args)]
pub struct BackendArgs {
    /// What runs the network [default: cpu, or gpu if --gpu is given]
    #[arg(long, value_enum, value_name = "BACKEND")]
    backend: Option<Kind>,
    /// The graphics processor to use, as `tengen doctor` numbers them [default: the first that is no emulation]
    #[arg(long, value_name = "N", overrides_with = "gpu")]
    gpu: Option<usize>,
    /// How numbers are stored on a graphics processor
    #[arg(long, value_enum, value_name = "P", default_value_t = Precision::Auto)]
    precision: Precision,
    /// What ONNX Runtime computes with
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Provider::Auto)]
    provider: Provider,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// The fast code for this processor
    Cpu,
    /// A graphics processor; compared with the processor at the start
    Gpu,
    /// ONNX Runtime, whose library ORT_DYLIB_PATH names; compared with the processor at the start
    Onnx,
    /// Plain loops in f64: slow, to compare with
    Reference,
}

#[derive(Clone, Copy, ValueEnum)]
enum Precision {
    /// 16 bits where the device can and the result is right
    Auto,
    /// 32 bits
    Single,
    /// 16 bits
    Half,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Provider {
    /// The first that works, the processor last
    Auto,
    Tensorrt,
    Cuda,
    Migraphx,
    Coreml,
    Directml,
    Openvino,
    Cpu,
}

impl From<Provider> for OnnxProvider {
    fn from(provider: Provider) -> OnnxProvider {
        match provider {
            Provider::Auto => OnnxProvider::Auto,
            Provider::Tensorrt => OnnxProvider::TensorRt,
            Provider::Cuda => OnnxProvider::Cuda,
            Provider::Migraphx => OnnxProvider::MiGraphX,
            Provider::Coreml => OnnxProvider::CoreMl,
            Provider::Directml => OnnxProvider::DirectMl,
            Provider::Openvino => OnnxProvider::OpenVino,
            Provider::Cpu => OnnxProvider::Cpu,
        }
    }
}

impl BackendArgs {
    /// Makes what was asked for run every network of this process.
    pub fn choose(&self) {
        self.backend().choose();
    }

    /// What was asked for.
    pub fn backend(&self) -> Backend {
        let gpu = Backend::Gpu(GpuOptions {
            adapter: self.gpu,
            precision: match self.precision {
                Precision::Auto => GpuPrecision::Auto,
                Precision::Single => GpuPrecision::F32,
                Precision::Half => GpuPrecision::F16,
            },
        });
        match self.backend {
            Some(Kind::Gpu) => gpu,
            None if self.gpu.is_some() => gpu,
            Some(Kind::Onnx) => Backend::Onnx(self.provider.into()),
            Some(Kind::Reference) => Backend::Reference,
            Some(Kind::Cpu) | None => Backend::Cpu,
        }
    }

    /// The same options for another call of this program.
    pub fn words(&self) -> Vec<String> {
        let name = |value: &dyn Fn() -> Option<clap::builder::PossibleValue>| {
            value().map_or_else(String::new, |value| value.get_name().to_owned())
        };
        let mut words = Vec::new();
        if let Some(kind) = self.backend {
            words.extend(["--backend".to_owned(), name(&|| kind.to_possible_value())]);
        }
        if let Some(index) = self.gpu {
            words.extend(["--gpu".to_owned(), index.to_string()]);
        }
        if !matches!(self.precision, Precision::Auto) {
            let precision = name(&|| self.precision.to_possible_value());
            words.extend(["--precision".to_owned(), precision]);
        }
        if self.provider != Provider::Auto {
            let provider = name(&|| self.provider.to_possible_value());
            words.extend(["--provider".to_owned(), provider]);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        backend: BackendArgs,
    }

    fn read(words: &[String]) -> BackendArgs {
        let words = ["tengen".to_owned()].into_iter().chain(words.to_vec());
        Program::try_parse_from(words).unwrap().backend
    }

    #[test]
    fn options_become_a_backend_and_are_handed_on_as_they_were_given() {
        let gpu = |adapter, precision| Backend::Gpu(GpuOptions { adapter, precision });
        for (words, expected) in [
            ("", Backend::Cpu),
            ("--backend cpu", Backend::Cpu),
            ("--backend cpu --gpu 1", Backend::Cpu),
            ("--backend reference", Backend::Reference),
            ("--backend gpu", gpu(None, GpuPrecision::Auto)),
            ("--gpu 2", gpu(Some(2), GpuPrecision::Auto)),
            ("--backend onnx", Backend::Onnx(OnnxProvider::Auto)),
            (
                "--backend onnx --provider cuda",
                Backend::Onnx(OnnxProvider::Cuda),
            ),
            // Leela Zero's users name several.
            ("--gpu 0 --gpu 1", gpu(Some(1), GpuPrecision::Auto)),
            ("--gpu 0 --precision half", gpu(Some(0), GpuPrecision::F16)),
            (
                "--backend gpu --precision single",
                gpu(None, GpuPrecision::F32),
            ),
        ] {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            let args = read(&words);
            assert_eq!(args.backend(), expected, "{words:?}");
            assert_eq!(read(&args.words()).backend(), expected, "{words:?}");
        }
    }
}
