// Two stretches added or multiplied number by number, then an activation. The second may be one number per plane.

struct Params {
    len: u32,
    // Numbers of the first for one of the second.
    repeat: u32,
    multiply: u32,
    activation: u32,
    slope: f32,
}
@group(0) @binding(0) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.len {
        return;
    }
    let at = id.z * p.len + id.x;
    let a = f32(first[at]);
    let b = f32(second[at / p.repeat]);
    let both = select(a + b, a * b, p.multiply == 1u);
    target_numbers[at] = Target(activate(both, p.activation, p.slope));
}
