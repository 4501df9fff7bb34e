// Rows of numbers from one place to another, for every position.

struct Params {
    rows: u32,
    len: u32,
    source_position: u32,
    source_start: u32,
    source_row: u32,
    target_position: u32,
    target_start: u32,
    target_row: u32,
}
@group(0) @binding(0) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= p.rows * p.len {
        return;
    }
    let row = id.x / p.len;
    let at = id.x % p.len;
    let source_at = id.z * p.source_position + p.source_start + row * p.source_row + at;
    let to = id.z * p.target_position + p.target_start + row * p.target_row + at;
    target_numbers[to] = Target(f32(first[source_at]));
}
