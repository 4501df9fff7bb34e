// One point of one head: the softmax of query times keys over all points, then the mean of the values it weighs.

struct Params {
    area: u32,
    heads: u32,
    kv_heads: u32,
    query_len: u32,
    value_len: u32,
}
@group(0) @binding(0) var<uniform> p: Params;

const THREADS: u32 = 64u;

// As many cells as a board may have: see MOST_CELLS.
var<workgroup> scores: array<f32, 1024>;
var<workgroup> partial: array<f32, 64>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let cell = id.x;
    let head = id.y;
    let kv_head = head / (p.heads / p.kv_heads);
    let query = (id.z * p.heads + head) * p.query_len * p.area + cell;
    let keys = (id.z * p.kv_heads + kv_head) * p.query_len * p.area;
    let values = (id.z * p.kv_heads + kv_head) * p.value_len * p.area;
    let shrink = 1.0 / sqrt(f32(p.query_len));

    // No score is this low.
    var largest = -3.0e38;
    for (var source_at = thread; source_at < p.area; source_at += THREADS) {
        var score = 0.0;
        for (var k = 0u; k < p.query_len; k++) {
            score += f32(first[query + k * p.area]) * f32(second[keys + k * p.area + source_at]);
        }
        score *= shrink;
        scores[source_at] = score;
        largest = max(largest, score);
    }
    partial[thread] = largest;
    workgroupBarrier();
    for (var half = THREADS / 2u; half > 0u; half /= 2u) {
        if thread < half {
            partial[thread] = max(partial[thread], partial[thread + half]);
        }
        workgroupBarrier();
    }
    largest = partial[0];
    workgroupBarrier();

    var sum = 0.0;
    for (var source_at = thread; source_at < p.area; source_at += THREADS) {
        let weight = exp(max(scores[source_at] - largest, -80.0));
        scores[source_at] = weight;
        sum += weight;
    }
    partial[thread] = sum;
    workgroupBarrier();
    for (var half = THREADS / 2u; half > 0u; half /= 2u) {
        if thread < half {
            partial[thread] += partial[thread + half];
        }
        workgroupBarrier();
    }
    sum = partial[0];

    for (var plane = thread; plane < p.value_len; plane += THREADS) {
        var mean = 0.0;
        for (var source_at = 0u; source_at < p.area; source_at++) {
            mean += scores[source_at] * f32(third[values + plane * p.area + source_at]);
        }
        let to = ((id.z * p.heads + head) * p.value_len + plane) * p.area + cell;
        target_numbers[to] = Target(mean / sum);
    }
}
