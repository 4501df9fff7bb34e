//! Sixteen numbers in an AVX-512 register, for x86-64.

use super::lanes::{EXPONENT_BIAS, Job, Lanes, MANTISSA_BITS};
use std::arch::x86_64::*;

/// One AVX-512 register. Values are only made inside [`run_avx512`], after the processor was asked.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(__m512);

/// Whether the processor has all that the kernels are compiled for.
pub(crate) fn available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && super::avx2::available()
}

pub(crate) fn run_avx512<J: Job>(job: J) {
    assert!(available(), "this processor has no AVX-512");
    // SAFETY: the line above.
    unsafe { compiled_for_avx512(job) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
fn compiled_for_avx512<J: Job>(job: J) {
    job.run::<Avx512>();
}

impl Lanes for Avx512 {
    const WIDTH: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller says that a vector can be read here; AVX-512 is there, see `Avx512`.
        Self(unsafe { _mm512_loadu_ps(from) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller says that a vector can be written here; AVX-512 is there, see `Avx512`.
        unsafe { _mm512_storeu_ps(to, self.0) }
    }
    #[inline(always)]
    fn splat(number: f32) -> Self {
        // SAFETY: only called inside `run_avx512`, see `Avx512`.
        Self(unsafe { _mm512_set1_ps(number) })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: AVX-512 is there, see `Avx512`.
        Self(unsafe { _mm512_add_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: AVX-512 is there, see `Avx512`.
        Self(unsafe { _mm512_sub_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: AVX-512 is there, see `Avx512`.
        Self(unsafe { _mm512_mul_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: AVX-512 is there, see `Avx512`.
        Self(unsafe { _mm512_div_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: AVX-512 is there, see `Avx512`.
        Self(unsafe { _mm512_min_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn two_to(self) -> Self {
        // SAFETY: AVX-512 is there, see `Avx512`.
        unsafe {
            let power = _mm512_cvtps_epi32(self.0);
            let biased = _mm512_add_epi32(power, _mm512_set1_epi32(EXPONENT_BIAS));
            Self(_mm512_castsi512_ps(_mm512_slli_epi32::<{ MANTISSA_BITS }>(
                biased,
            )))
        }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: AVX-512 is there, see `Avx512`.
        Self(unsafe { _mm512_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        // SAFETY: AVX-512 is there, see `Avx512`.
        Self(unsafe { _mm512_fmadd_ps(self.0, factor.0, addend.0) })
    }
    #[inline(always)]
    fn prefetch(line: *const f32) {
        // SAFETY: a prefetch is a hint and never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(line.cast()) }
    }
    #[inline(always)]
    fn nonzero_and_ones(self) -> (u32, u32) {
        // SAFETY: AVX-512 is there, see `Avx512`.
        unsafe {
            let nonzero = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(self.0, _mm512_setzero_ps());
            let ones = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(self.0, _mm512_set1_ps(1.0));
            (u32::from(nonzero), u32::from(ones))
        }
    }
    #[inline(always)]
    fn where_positive(self, positive: Self, other: Self) -> Self {
        // SAFETY: AVX-512 is there, see `Avx512`.
        unsafe {
            let mask = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(self.0, _mm512_setzero_ps());
            Self(_mm512_mask_blend_ps(mask, other.0, positive.0))
        }
    }
}
