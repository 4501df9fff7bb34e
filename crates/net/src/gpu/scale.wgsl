// A factor and an addend for every plane, then an activation. `numbers` holds all factors, then all addends.

struct Params {
    planes: u32,
    cells: u32,
    activation: u32,
    slope: f32,
}
@group(0) @binding(0) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let len = p.planes * p.cells;
    if id.x >= len {
        return;
    }
    let at = id.z * len + id.x;
    let plane = id.x / p.cells;
    let scaled = f32(first[at]) * numbers[plane] + numbers[p.planes + plane];
    target_numbers[at] = Target(activate(scaled, p.activation, p.slope));
}
