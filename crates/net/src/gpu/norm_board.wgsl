// Division by the root of the mean square over all planes and points. `numbers` holds all factors, then all addends.

struct Params {
    planes: u32,
    area: u32,
    activation: u32,
    slope: f32,
    epsilon: f32,
}
@group(0) @binding(0) var<uniform> p: Params;

const THREADS: u32 = 256u;

var<workgroup> sums: array<f32, 256>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let len = p.planes * p.area;
    let base = id.z * len;
    var squares = 0.0;
    for (var at = thread; at < len; at += THREADS) {
        let number = f32(first[base + at]);
        squares += number * number;
    }
    sums[thread] = squares;
    workgroupBarrier();
    for (var half = THREADS / 2u; half > 0u; half /= 2u) {
        if thread < half {
            sums[thread] += sums[thread + half];
        }
        workgroupBarrier();
    }
    let root = sqrt(sums[0] / f32(len) + p.epsilon);
    for (var at = thread; at < len; at += THREADS) {
        let plane = at / p.area;
        let scaled = f32(first[base + at]) / root * numbers[plane] + numbers[p.planes + plane];
        target_numbers[base + at] = Target(activate(scaled, p.activation, p.slope));
    }
}
