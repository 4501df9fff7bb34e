// Division by the root of the mean square over all planes of a point. `numbers` holds all factors, then all addends.

struct Params {
    planes: u32,
    area: u32,
    activation: u32,
    slope: f32,
    epsilon: f32,
}
@group(0) @binding(0) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.area {
        return;
    }
    let base = id.z * p.planes * p.area + id.x;
    var squares = 0.0;
    for (var plane = 0u; plane < p.planes; plane++) {
        let number = f32(first[base + plane * p.area]);
        squares += number * number;
    }
    let root = sqrt(squares / f32(p.planes) + p.epsilon);
    for (var plane = 0u; plane < p.planes; plane++) {
        let at = base + plane * p.area;
        let scaled = f32(first[at]) / root * numbers[plane] + numbers[p.planes + plane];
        target_numbers[at] = Target(activate(scaled, p.activation, p.slope));
    }
}
