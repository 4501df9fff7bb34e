//! Eight floats at a time, as AVX2 registers or as a plain array.
//!
//! A kernel is written once, generic over [`Lanes`], and wrapped in a [`Kernel`]; [`run`] picks the
//! widest instruction set the processor has. Everything below `Kernel::call` must be
//! `#[inline(always)]`, or it would be compiled without that instruction set.

/// Number of floats in one vector, and the channel block of every activation buffer.
pub const LANES: usize = 8;

/// Eight floats and the few operations the training kernels need.
pub(crate) trait Lanes: Copy {
    /// Reads eight floats.
    ///
    /// # Safety
    /// `from` must be valid for reads of eight floats.
    unsafe fn load(from: *const f32) -> Self;
    /// Writes eight floats.
    ///
    /// # Safety
    /// `to` must be valid for writes of eight floats.
    unsafe fn store(self, to: *mut f32);
    fn splat(value: f32) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// `self * factor + addend`.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// `positive` where `self > 0`, else `other`.
    fn where_positive(self, positive: Self, other: Self) -> Self;

    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }

    /// The eight floats as an array.
    #[inline(always)]
    fn to_array(self) -> [f32; LANES] {
        let mut array = [0.0; LANES];
        // SAFETY: the array holds exactly eight floats.
        unsafe { self.store(array.as_mut_ptr()) };
        array
    }
}

/// A piece of work that can be compiled for any [`Lanes`].
pub(crate) trait Kernel {
    /// Does the work; implementations are `#[inline(always)]`.
    fn call<V: Lanes>(self);
}

/// Runs a kernel with the widest instruction set this processor has.
pub(crate) fn run<K: Kernel>(kernel: K) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: both features were just detected.
        unsafe { run_avx2(kernel) };
        return;
    }
    kernel.call::<Portable>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<K: Kernel>(kernel: K) {
    kernel.call::<avx2::Avx2>();
}

/// The plain-array fallback; also what tests compare the AVX2 path with.
#[derive(Clone, Copy)]
pub(crate) struct Portable([f32; LANES]);

impl Portable {
    #[inline(always)]
    fn zip(self, other: Self, operation: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|lane| {
            operation(self.0[lane], other.0[lane])
        }))
    }
}

impl Lanes for Portable {
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller promises eight readable floats.
        Self(unsafe { from.cast::<[f32; LANES]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller promises room for eight floats.
        unsafe { to.cast::<[f32; LANES]>().write_unaligned(self.0) };
    }

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |left, right| left + right)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |left, right| left - right)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |left, right| left * right)
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        self.mul(factor).add(addend)
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
mod avx2 {
    use std::arch::x86_64::*;

    use super::Lanes;

    /// One AVX register. Only ever made inside [`super::run_avx2`].
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256);

    impl Lanes for Avx2 {
        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: the caller promises eight readable floats; AVX2 was detected by `run`.
            Self(unsafe { _mm256_loadu_ps(from) })
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: the caller promises room for eight floats; AVX2 was detected by `run`.
            unsafe { _mm256_storeu_ps(to, self.0) };
        }

        #[inline(always)]
        fn splat(value: f32) -> Self {
            // SAFETY: AVX2 was detected by `run`.
            Self(unsafe { _mm256_set1_ps(value) })
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: AVX2 was detected by `run`.
            Self(unsafe { _mm256_add_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            // SAFETY: AVX2 was detected by `run`.
            Self(unsafe { _mm256_sub_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // SAFETY: AVX2 was detected by `run`.
            Self(unsafe { _mm256_mul_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn mul_add(self, factor: Self, addend: Self) -> Self {
            // SAFETY: FMA was detected by `run`.
            Self(unsafe { _mm256_fmadd_ps(self.0, factor.0, addend.0) })
        }

        #[inline(always)]
        fn where_positive(self, positive: Self, other: Self) -> Self {
            // SAFETY: AVX2 was detected by `run`.
            unsafe {
                let mask = _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, _mm256_setzero_ps());
                Self(_mm256_blendv_ps(other.0, positive.0, mask))
            }
        }
    }
}
