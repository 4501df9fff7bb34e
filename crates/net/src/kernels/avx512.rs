//! Sixteen numbers in an AVX-512 register, for x86-64.

use super::avx2::UPPER_HALF;
use super::lanes::{EXPONENT_BIAS, Job, Lanes, MANTISSA_BITS, one_instruction_each};
use std::arch::x86_64::*;
use std::mem;

/// One AVX-512 register; with `BF16` on a processor that multiplies bf16. Values are only made inside [`run_avx512`], after the processor was asked.
#[derive(Clone, Copy)]
pub(crate) struct Avx512<const BF16: bool>(__m512);

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
    job.run::<Avx512<false>>();
}

/// Whether the processor also multiplies pairs of bf16.
pub(crate) fn multiplies_bf16() -> bool {
    available() && is_x86_feature_detected!("avx512bf16")
}

pub(crate) fn run_avx512_bf16<J: Job>(job: J) {
    assert!(multiplies_bf16(), "this processor has no AVX512_BF16");
    // SAFETY: the line above.
    unsafe { compiled_for_avx512_bf16(job) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma,popcnt")]
fn compiled_for_avx512_bf16<J: Job>(job: J) {
    job.run::<Avx512<true>>();
}

impl<const BF16: bool> Lanes for Avx512<BF16> {
    const WIDTH: usize = 16;

    one_instruction_each!(
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_set1_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_mul_ps,
        _mm512_div_ps,
        _mm512_min_ps,
        _mm512_max_ps,
        _mm512_fmadd_ps
    );

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
    fn upper(self) -> Self {
        // SAFETY: AVX-512 is there, see `Avx512`.
        unsafe {
            let mask = _mm512_castsi512_ps(_mm512_set1_epi32(UPPER_HALF));
            Self(_mm512_and_ps(self.0, mask))
        }
    }
    #[inline(always)]
    fn lower(self) -> Self {
        // SAFETY: AVX-512 is there, see `Avx512`.
        unsafe {
            let bits = _mm512_castps_si512(self.0);
            Self(_mm512_castsi512_ps(_mm512_slli_epi32::<16>(bits)))
        }
    }
    #[inline(always)]
    fn dot_pairs(self, a: Self, b: Self) -> Self {
        if BF16 {
            // SAFETY: a register of 32 bf16 has the bits of one of 16 f32, and `BF16` says that they are multiplied.
            return Self(unsafe {
                let (a, b) = (
                    mem::transmute::<__m512, __m512bh>(a.0),
                    mem::transmute::<__m512, __m512bh>(b.0),
                );
                _mm512_dpbf16_ps(self.0, a, b)
            });
        }
        a.upper()
            .mul_add(b.upper(), a.lower().mul_add(b.lower(), self))
    }
    #[inline(always)]
    unsafe fn store_rounded(self, to: *mut f32) {
        // SAFETY: the caller says that half a vector can be written here; AVX-512 is there, see `Avx512`.
        unsafe {
            let rounded = if BF16 {
                mem::transmute::<__m256bh, __m256i>(_mm512_cvtneps_pbh(self.0))
            } else {
                // To nearest, of two the even one, by adding a little less than half of the last digit kept.
                let bits = _mm512_castps_si512(self.0);
                let even = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
                let half = _mm512_add_epi32(even, _mm512_set1_epi32(0x7fff));
                let sum = _mm512_add_epi32(bits, half);
                _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(sum))
            };
            _mm256_storeu_si256(to.cast(), rounded);
        }
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
