//! Eight numbers at a time, on whatever the processor offers.

/// An instruction set the kernels exist for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// Plain Rust, which the compiler turns into what every processor of the target has (NEON on 64-bit ARM).
    Portable,
    /// 256-bit vectors with fused multiply-add, on x86-64.
    Avx2,
}

impl Isa {
    /// The fastest one of this processor.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if avx2::available() {
            return Self::Avx2;
        }
        Self::Portable
    }

    /// Every one this processor can run.
    pub fn available() -> Vec<Self> {
        match Self::detect() {
            Self::Portable => vec![Self::Portable],
            Self::Avx2 => vec![Self::Portable, Self::Avx2],
        }
    }

    /// Runs `job` compiled for this instruction set.
    ///
    /// # Panics
    ///
    /// When the processor does not have it.
    #[inline]
    pub(crate) fn run<J: Job>(self, job: J) {
        match self {
            Self::Portable => job.run::<Portable>(),
            Self::Avx2 => run_avx2(job),
        }
    }
}

/// A piece of work that is the same for every kind of vector.
pub(crate) trait Job {
    /// Must be `#[inline(always)]`, with everything it calls, so that it is compiled for the right processor.
    fn run<L: Lanes>(self);
}

/// Eight f32 side by side.
pub(crate) trait Lanes: Copy {
    /// # Safety
    ///
    /// Eight numbers can be read at `from`.
    unsafe fn load(from: *const f32) -> Self;
    /// # Safety
    ///
    /// Eight numbers can be written at `to`.
    unsafe fn store(self, to: *mut f32);
    fn splat(number: f32) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    /// `self * factor + addend`.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// Asks for a cache line that will be read soon.
    fn prefetch(line: *const f32);
    /// A bit for every lane that is not zero, and one for every lane that is 1.
    fn nonzero_and_ones(self) -> (u32, u32);
    /// `positive` where `self > 0`, else `other`.
    fn where_positive(self, positive: Self, other: Self) -> Self;

    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }

    #[inline(always)]
    fn to_array(self) -> [f32; LANES] {
        let mut array = [0.0; LANES];
        // SAFETY: the array holds exactly eight numbers.
        unsafe { self.store(array.as_mut_ptr()) };
        array
    }
}

/// `LANES_OF[mask]`: the lanes whose bits are set in `mask`, in order, then anything.
pub(crate) static LANES_OF: [[u32; LANES]; 1 << LANES] = lanes_of_masks();

const fn lanes_of_masks() -> [[u32; LANES]; 1 << LANES] {
    let mut table = [[0; LANES]; 1 << LANES];
    let mut mask = 0;
    while mask < table.len() {
        let (mut lane, mut count) = (0, 0);
        while lane < LANES {
            if mask >> lane & 1 == 1 {
                table[mask][count] = lane as u32;
                count += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
}

/// Numbers of a vector, whatever the processor: eight f32.
pub const LANES: usize = 8;

/// Every 64-bit ARM processor has a fused multiply-add; elsewhere it may be a slow function call.
const FUSED: bool = cfg!(target_arch = "aarch64");

/// The kind that needs nothing.
#[derive(Clone, Copy)]
pub(crate) struct Portable([f32; LANES]);

impl Portable {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|lane| f(self.0[lane], other.0[lane])))
    }
}

impl Lanes for Portable {
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller says that eight numbers can be read here; an array needs no more than their alignment.
        Self(unsafe { from.cast::<[f32; LANES]>().read() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller says that eight numbers can be written here.
        unsafe { to.cast::<[f32; LANES]>().write(self.0) }
    }
    #[inline(always)]
    fn splat(number: f32) -> Self {
        Self([number; LANES])
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
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
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

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::run_avx2;

#[cfg(not(target_arch = "x86_64"))]
fn run_avx2<J: Job>(_job: J) {
    unreachable!("Isa::detect offers AVX2 on x86-64 only")
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Job, Lanes};
    use std::arch::x86_64::*;

    /// One AVX register. Values are only made inside [`run_avx2`], after the processor was asked.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256);

    /// Whether the processor has all that the kernels are compiled for.
    pub(super) fn available() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("popcnt")
    }

    pub(crate) fn run_avx2<J: Job>(job: J) {
        assert!(available(), "this processor has no AVX2");
        // SAFETY: the line above.
        unsafe { compiled_for_avx2(job) }
    }

    #[target_feature(enable = "avx2,fma,popcnt")]
    fn compiled_for_avx2<J: Job>(job: J) {
        job.run::<Avx2>();
    }

    impl Lanes for Avx2 {
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: the caller says that eight numbers can be read here; AVX is there, see `Avx2`.
            Self(unsafe { _mm256_loadu_ps(from) })
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: the caller says that eight numbers can be written here; AVX is there, see `Avx2`.
            unsafe { _mm256_storeu_ps(to, self.0) }
        }
        #[inline(always)]
        fn splat(number: f32) -> Self {
            // SAFETY: only called inside `run_avx2`, see `Avx2`.
            Self(unsafe { _mm256_set1_ps(number) })
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: AVX is there, see `Avx2`.
            Self(unsafe { _mm256_add_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            // SAFETY: AVX is there, see `Avx2`.
            Self(unsafe { _mm256_sub_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // SAFETY: AVX is there, see `Avx2`.
            Self(unsafe { _mm256_mul_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            // SAFETY: AVX is there, see `Avx2`.
            Self(unsafe { _mm256_max_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn mul_add(self, factor: Self, addend: Self) -> Self {
            // SAFETY: FMA is there, see `Avx2`.
            Self(unsafe { _mm256_fmadd_ps(self.0, factor.0, addend.0) })
        }
        #[inline(always)]
        fn prefetch(line: *const f32) {
            // SAFETY: a prefetch is a hint and never faults, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(line.cast()) }
        }
        #[inline(always)]
        fn nonzero_and_ones(self) -> (u32, u32) {
            // SAFETY: AVX is there, see `Avx2`.
            unsafe {
                let nonzero = _mm256_cmp_ps::<_CMP_NEQ_UQ>(self.0, _mm256_setzero_ps());
                let ones = _mm256_cmp_ps::<_CMP_EQ_OQ>(self.0, _mm256_set1_ps(1.0));
                (
                    _mm256_movemask_ps(nonzero) as u32,
                    _mm256_movemask_ps(ones) as u32,
                )
            }
        }
        #[inline(always)]
        fn where_positive(self, positive: Self, other: Self) -> Self {
            // SAFETY: AVX is there, see `Avx2`.
            unsafe {
                let mask = _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, _mm256_setzero_ps());
                Self(_mm256_blendv_ps(other.0, positive.0, mask))
            }
        }
    }
}
