// The mean of every plane, the mean by a factor of the board's size, and the maximum or the mean by another factor.

struct Params {
    planes: u32,
    area: u32,
    kind: u32,
    scaled: f32,
    squared: f32,
}
@group(0) @binding(0) var<uniform> p: Params;

const MEAN_MAX: u32 = 0u;
const MEAN_SCALED_MAX: u32 = 1u;
const THREADS: u32 = 64u;

var<workgroup> sums: array<f32, 64>;
var<workgroup> maxima: array<f32, 64>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let plane = id.x;
    let base = (id.z * p.planes + plane) * p.area;
    var sum = 0.0;
    // Every thread starts from a number that is there.
    var largest = f32(first[base]);
    for (var cell = thread; cell < p.area; cell += THREADS) {
        let number = f32(first[base + cell]);
        sum += number;
        largest = max(largest, number);
    }
    sums[thread] = sum;
    maxima[thread] = largest;
    workgroupBarrier();
    for (var half = THREADS / 2u; half > 0u; half /= 2u) {
        if thread < half {
            sums[thread] += sums[thread + half];
            maxima[thread] = max(maxima[thread], maxima[thread + half]);
        }
        workgroupBarrier();
    }
    if thread != 0u {
        return;
    }
    let mean = sums[0] / f32(p.area);
    if p.kind == MEAN_MAX {
        let to = id.z * 2u * p.planes + plane;
        target_numbers[to] = Target(mean);
        target_numbers[to + p.planes] = Target(maxima[0]);
        return;
    }
    let to = id.z * 3u * p.planes + plane;
    target_numbers[to] = Target(mean);
    target_numbers[to + p.planes] = Target(mean * p.scaled);
    let last = select(mean * p.squared, maxima[0], p.kind == MEAN_SCALED_MAX);
    target_numbers[to + 2u * p.planes] = Target(last);
}
