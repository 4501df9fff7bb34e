//! Eight numbers in an AVX register, for x86-64 with AVX2 and fused multiply-add.

use super::lanes::{EXPONENT_BIAS, Job, Lanes, MANTISSA_BITS, one_instruction_each};
use std::arch::x86_64::*;

/// The bits of the second of two bf16.
pub(super) const UPPER_HALF: i32 = 0xffff_0000_u32 as i32;

/// One AVX register. Values are only made inside [`run_avx2`], after the processor was asked.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(__m256);

/// Whether the processor has all that the kernels are compiled for.
pub(crate) fn available() -> bool {
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
    const WIDTH: usize = 8;

    one_instruction_each!(
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_set1_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        _mm256_div_ps,
        _mm256_min_ps,
        _mm256_max_ps,
        _mm256_fmadd_ps
    );

    #[inline(always)]
    fn two_to(self) -> Self {
        // SAFETY: AVX is there, see `Avx2`.
        unsafe {
            let power = _mm256_cvtps_epi32(self.0);
            let biased = _mm256_add_epi32(power, _mm256_set1_epi32(EXPONENT_BIAS));
            Self(_mm256_castsi256_ps(_mm256_slli_epi32::<
                { MANTISSA_BITS as i32 },
            >(biased)))
        }
    }
    #[inline(always)]
    fn upper(self) -> Self {
        // SAFETY: AVX is there, see `Avx2`.
        unsafe {
            let mask = _mm256_castsi256_ps(_mm256_set1_epi32(UPPER_HALF));
            Self(_mm256_and_ps(self.0, mask))
        }
    }
    #[inline(always)]
    fn lower(self) -> Self {
        // SAFETY: AVX2 is there, see `Avx2`.
        unsafe {
            let bits = _mm256_castps_si256(self.0);
            Self(_mm256_castsi256_ps(_mm256_slli_epi32::<16>(bits)))
        }
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
