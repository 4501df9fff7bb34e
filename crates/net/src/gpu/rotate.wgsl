// Turns neighbouring planes of queries or keys by angles that depend on the point.
// `numbers` holds [kv head][pair][cell] cosines, then as many sines.

struct Params {
    heads: u32,
    // Heads that share one row of angles.
    shared_by: u32,
    pairs: u32,
    area: u32,
    angles: u32,
}
@group(0) @binding(0) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let len = p.heads * p.pairs * p.area;
    if id.x >= len {
        return;
    }
    let cell = id.x % p.area;
    let pair = (id.x / p.area) % p.pairs;
    let head = id.x / (p.area * p.pairs);
    let angle = ((head / p.shared_by) * p.pairs + pair) * p.area + cell;
    let cosine = numbers[angle];
    let sine = numbers[p.angles + angle];
    let at = (id.z * p.heads * p.pairs * 2u + (head * p.pairs + pair) * 2u) * p.area + cell;
    let a = f32(first[at]);
    let b = f32(first[at + p.area]);
    target_numbers[at] = Target(a * cosine - b * sine);
    target_numbers[at + p.area] = Target(a * sine + b * cosine);
}
