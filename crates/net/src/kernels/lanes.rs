//! Several numbers at a time, on whatever the processor offers.

use super::isa::Isa;

/// A piece of work that is the same for every kind of vector.
pub(crate) trait Job {
    /// Must be `#[inline(always)]`, with everything it calls, so that it is compiled for the right processor.
    fn run<L: Lanes>(self);
}

impl Isa {
    /// Runs `job` compiled for this instruction set.
    ///
    /// # Panics
    ///
    /// When the processor does not have it.
    #[inline]
    pub(crate) fn run<J: Job>(self, job: J) {
        match self {
            Self::Portable => job.run::<Portable>(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => super::avx2::run_avx2(job),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => super::avx512::run_avx512(job),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => unreachable!("only offered on x86-64"),
        }
    }

    /// The same for work on bf16, which some processors with AVX-512 multiply at twice the speed of f32.
    #[inline]
    pub(crate) fn run_pairs<J: Job>(self, job: J) {
        #[cfg(target_arch = "x86_64")]
        if self == Self::Avx512 && super::avx512::multiplies_bf16() {
            super::avx512::run_avx512_bf16(job);
            return;
        }
        self.run(job);
    }
}

/// [`WIDTH`](Self::WIDTH) numbers of type f32 side by side.
pub(crate) trait Lanes: Copy {
    /// How many numbers: 8 or 16, so that a block of 16 is one or two vectors.
    const WIDTH: usize;

    /// # Safety
    ///
    /// `WIDTH` numbers can be read at `from`.
    unsafe fn load(from: *const f32) -> Self;
    /// # Safety
    ///
    /// `WIDTH` numbers can be written at `to`.
    unsafe fn store(self, to: *mut f32);
    fn splat(number: f32) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    /// 2 to the power of whole numbers from -126 to 127.
    fn two_to(self) -> Self;
    /// `self * factor + addend`.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// Asks for a cache line that will be read soon.
    fn prefetch(line: *const f32);
    /// A bit for every lane that is not zero, and one for every lane that is 1.
    fn nonzero_and_ones(self) -> (u32, u32);
    /// `positive` where `self > 0`, else `other`.
    fn where_positive(self, positive: Self, other: Self) -> Self;

    /// The upper half of every lane's bits, as f32: the second of two bf16.
    fn upper(self) -> Self;
    /// The lower half of every lane's bits, as f32: the first of two bf16.
    fn lower(self) -> Self;

    /// Adds the products of two pairs: every lane of `a` and `b` holds two bf16, and the sums are f32.
    #[inline(always)]
    fn dot_pairs(self, a: Self, b: Self) -> Self {
        a.upper()
            .mul_add(b.upper(), a.lower().mul_add(b.lower(), self))
    }

    /// Rounds to bf16 and writes half as many bytes.
    ///
    /// # Safety
    ///
    /// `WIDTH / 2` numbers can be written at `to`.
    #[inline(always)]
    unsafe fn store_rounded(self, to: *mut f32) {
        let mut numbers = [0.0f32; 16];
        self.write(&mut numbers);
        let to = to.cast::<u16>();
        for (lane, &number) in numbers.iter().enumerate().take(Self::WIDTH) {
            // SAFETY: two bf16 take the room of one f32.
            unsafe { to.add(lane).write_unaligned(bf16_bits(number)) };
        }
    }

    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }

    /// The first numbers of a slice that is long enough.
    #[inline(always)]
    fn read(numbers: &[f32]) -> Self {
        assert!(numbers.len() >= Self::WIDTH);
        // SAFETY: the slice holds a whole vector.
        unsafe { Self::load(numbers.as_ptr()) }
    }

    /// Overwrites the first numbers of a slice that is long enough.
    #[inline(always)]
    fn write(self, numbers: &mut [f32]) {
        assert!(numbers.len() >= Self::WIDTH);
        // SAFETY: the slice holds a whole vector.
        unsafe { self.store(numbers.as_mut_ptr()) }
    }
}

/// The functions of [`Lanes`] that are one instruction each, for a vector type that wraps a register.
#[cfg(target_arch = "x86_64")]
macro_rules! one_instruction_each {
    ($load:ident, $store:ident, $splat:ident, $add:ident, $sub:ident, $mul:ident, $div:ident, $min:ident, $max:ident, $mul_add:ident) => {
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: the caller says that a vector can be read here; vectors are only made where the processor has them.
            Self(unsafe { $load(from) })
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: the caller says that a vector can be written here; this vector exists, so the processor has them.
            unsafe { $store(to, self.0) }
        }
        #[inline(always)]
        fn splat(number: f32) -> Self {
            // SAFETY: only called inside a job, which runs after the processor was asked.
            Self(unsafe { $splat(number) })
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: this vector exists, so the processor has the instruction; likewise below.
            Self(unsafe { $add(self.0, other.0) })
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            // SAFETY: see `add`.
            Self(unsafe { $sub(self.0, other.0) })
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // SAFETY: see `add`.
            Self(unsafe { $mul(self.0, other.0) })
        }
        #[inline(always)]
        fn div(self, other: Self) -> Self {
            // SAFETY: see `add`.
            Self(unsafe { $div(self.0, other.0) })
        }
        #[inline(always)]
        fn min(self, other: Self) -> Self {
            // SAFETY: see `add`.
            Self(unsafe { $min(self.0, other.0) })
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            // SAFETY: see `add`.
            Self(unsafe { $max(self.0, other.0) })
        }
        #[inline(always)]
        fn mul_add(self, factor: Self, addend: Self) -> Self {
            // SAFETY: see `add`.
            Self(unsafe { $mul_add(self.0, factor.0, addend.0) })
        }
    };
}
#[cfg(target_arch = "x86_64")]
pub(super) use one_instruction_each;

/// The nearest bf16, which is the upper half of an f32; of two that are equally near the even one.
#[inline(always)]
pub(crate) fn bf16_bits(number: f32) -> u16 {
    let bits = number.to_bits();
    let even = bits >> 16 & 1;
    (bits.wrapping_add(0x7fff + even) >> 16) as u16
}

/// How f32 keeps its exponent.
pub(super) const EXPONENT_BIAS: i32 = 127;
pub(super) const MANTISSA_BITS: u32 = 23;

/// Lanes of the portable kind: two vectors of most processors.
const PORTABLE_WIDTH: usize = 8;

/// Every 64-bit ARM processor has a fused multiply-add; elsewhere it may be a slow function call.
const FUSED: bool = cfg!(target_arch = "aarch64");

/// The kind that needs nothing.
#[derive(Clone, Copy)]
pub(crate) struct Portable([f32; PORTABLE_WIDTH]);

impl Portable {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|lane| f(self.0[lane], other.0[lane])))
    }
}

impl Lanes for Portable {
    const WIDTH: usize = PORTABLE_WIDTH;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller says that a vector can be read here; an array needs no more than their alignment.
        Self(unsafe { from.cast::<[f32; PORTABLE_WIDTH]>().read() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller says that a vector can be written here.
        unsafe { to.cast::<[f32; PORTABLE_WIDTH]>().write(self.0) }
    }
    #[inline(always)]
    fn splat(number: f32) -> Self {
        Self([number; PORTABLE_WIDTH])
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn two_to(self) -> Self {
        Self(
            self.0.map(|power| {
                f32::from_bits(((power as i32 + EXPONENT_BIAS) as u32) << MANTISSA_BITS)
            }),
        )
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        if FUSED {
            return Self(std::array::from_fn(|lane| {
                self.0[lane].mul_add(factor.0[lane], addend.0[lane])
            }));
        }
        self.mul(factor).add(addend)
    }
    #[inline(always)]
    fn upper(self) -> Self {
        Self(
            self.0
                .map(|lane| f32::from_bits(lane.to_bits() & 0xffff_0000)),
        )
    }
    #[inline(always)]
    fn lower(self) -> Self {
        Self(self.0.map(|lane| f32::from_bits(lane.to_bits() << 16)))
    }
    #[inline(always)]
    fn prefetch(_line: *const f32) {}
    #[inline(always)]
    fn nonzero_and_ones(self) -> (u32, u32) {
        let (mut nonzero, mut ones) = (0, 0);
        for (lane, &number) in self.0.iter().enumerate() {
            nonzero |= u32::from(number != 0.0) << lane;
            ones |= u32::from(number == 1.0) << lane;
        }
        (nonzero, ones)
    }
    #[inline(always)]
    fn where_positive(self, positive: Self, other: Self) -> Self {
        Self(std::array::from_fn(|lane| {
            if self.0[lane] > 0.0 {
                positive.0[lane]
            } else {
                other.0[lane]
            }
        }))
    }
}
