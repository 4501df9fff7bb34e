//! Which instruction set the kernels run on.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use thiserror::Error;

/// An instruction set the kernels exist for, from the slowest to the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// Plain Rust, which the compiler turns into what every processor of the target has (NEON on 64-bit ARM).
    Portable,
    /// 256-bit vectors with fused multiply-add, on x86-64.
    Avx2,
    /// 512-bit vectors, on x86-64.
    Avx512,
}

/// The precision of the numbers that 3x3 convolutions multiply; sums are f32 always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// f32: the result is exact to about six digits.
    #[default]
    Full,
    /// bf16, eight bits of mantissa: much faster where [`is_fast`](Self::is_fast) says so, elsewhere slower.
    Bf16,
}

impl Arithmetic {
    /// Whether `isa` multiplies this precision at full speed on this processor.
    pub fn is_fast(self, isa: Isa) -> bool {
        match self {
            Self::Full => true,
            #[cfg(target_arch = "x86_64")]
            Self::Bf16 => isa == Isa::Avx512 && super::avx512::multiplies_bf16(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Bf16 => {
                let _ = isa;
                false
            }
        }
    }
}

/// An instruction set that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IsaError {
    /// No kernels are written for it.
    #[error("unknown instruction set '{0}': expected portable, avx2 or avx512")]
    Unknown(String),
    /// Named by the environment variable.
    #[error("{INSTRUCTIONS_VARIABLE}: {0}")]
    Variable(Box<Self>),
    /// Something has asked for an instruction set already.
    #[error("the instruction set {0} is in use already")]
    TooLate(Isa),
    /// This processor lacks it.
    #[error("this processor has no {0}: it runs {list}", list = available_list())]
    Missing(Isa),
}

/// The environment variable that overrides the choice of [`Isa::detect`].
pub const INSTRUCTIONS_VARIABLE: &str = "TENGEN_INSTRUCTIONS";

/// What [`Isa::detect`] returns, once it was asked.
static CHOSEN: OnceLock<Isa> = OnceLock::new();

impl Isa {
    /// Every instruction set, from the slowest to the fastest.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512];

    /// What is used unless a caller chooses: the one that the environment variable names, else the fastest.
    ///
    /// A variable that names nothing usable is ignored here; a program reports it with
    /// [`from_environment`](Self::from_environment).
    pub fn detect() -> Self {
        *CHOSEN.get_or_init(|| match Self::from_environment() {
            Ok(Some(isa)) => isa,
            _ => Self::fastest(),
        })
    }

    /// The instruction set that the environment variable names, if it is set.
    pub fn from_environment() -> Result<Option<Self>, IsaError> {
        match std::env::var(INSTRUCTIONS_VARIABLE) {
            Ok(name) if !name.is_empty() => name
                .parse()
                .and_then(Self::checked)
                .map(Some)
                .map_err(|error| IsaError::Variable(Box::new(error))),
            _ => Ok(None),
        }
    }

    /// Makes it what [`detect`](Self::detect) returns from now on, whatever the environment says.
    pub fn choose(self) -> Result<(), IsaError> {
        let isa = self.checked()?;
        match *CHOSEN.get_or_init(|| isa) {
            chosen if chosen == isa => Ok(()),
            chosen => Err(IsaError::TooLate(chosen)),
        }
    }

    /// The fastest one of this processor.
    pub fn fastest() -> Self {
        *Self::available()
            .last()
            .expect("the portable one is always there")
    }

    /// Every one this processor can run.
    pub fn available() -> Vec<Self> {
        let mut all = Self::ALL.to_vec();
        all.retain(|isa| isa.is_available());
        all
    }

    /// Whether this processor has it.
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => super::avx2::available(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => super::avx512::available(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// Itself, if this processor has it.
    pub fn checked(self) -> Result<Self, IsaError> {
        if self.is_available() {
            Ok(self)
        } else {
            Err(IsaError::Missing(self))
        }
    }

    /// The name that [`FromStr`] reads.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Isa {
    type Err = IsaError;

    fn from_str(name: &str) -> Result<Self, IsaError> {
        let known = Self::ALL
            .into_iter()
            .find(|isa| isa.name().eq_ignore_ascii_case(name));
        known.ok_or_else(|| IsaError::Unknown(name.to_owned()))
    }
}

fn available_list() -> String {
    let names: Vec<&str> = Isa::available().into_iter().map(Isa::name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_unknown_ones_are_refused_with_the_list() {
        for isa in Isa::ALL {
            assert_eq!(isa.to_string().parse(), Ok(isa));
        }
        let error = "sse9".parse::<Isa>().unwrap_err();
        assert!(
            error.to_string().contains("'sse9'") && error.to_string().contains("avx512"),
            "{error}"
        );
    }

    #[test]
    fn the_fastest_one_is_available_and_the_portable_one_always_is() {
        assert!(Isa::fastest().checked().is_ok());
        assert_eq!(Isa::available()[0], Isa::Portable);
        println!("instruction sets here: {}", available_list());
    }
}
