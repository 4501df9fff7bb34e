// What all kernels share. The program puts `Source` and `Target`, f32 or f16, in front: what numbers are stored in.
// Sums are always f32. Numbers lie as [position][plane][cell] or [position][number].

@group(0) @binding(1) var<storage, read> first: array<Source>;
@group(0) @binding(2) var<storage, read> second: array<Source>;
@group(0) @binding(3) var<storage, read> third: array<Source>;
@group(0) @binding(4) var<storage, read> numbers: array<f32>;
@group(0) @binding(5) var<storage, read_write> target_numbers: array<Target>;

const SLOPE: u32 = 0u;
const MISH: u32 = 1u;

// Exponents are cut off where nothing changes any more, since overflow is not defined here.
fn activate(x: f32, kind: u32, slope: f32) -> f32 {
    if kind == SLOPE {
        return max(x, slope * x);
    }
    if kind == MISH {
        let e = exp(min(x, 20.0));
        let n = e * (e + 2.0);
        return x * (n / (n + 2.0));
    }
    return x / (1.0 + exp(min(-x, 80.0)));
}
