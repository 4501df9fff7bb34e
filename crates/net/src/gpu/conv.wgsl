// A convolution as the product of the weights [output][input, tap] and a matrix [input, tap][position, cell] that is
// never stored: its tiles are gathered into the workgroup's memory. A 1x1 convolution is the same with one tap, and a
// dense layer is one on a board of a single cell. Groups of equal size, one after another, are the third dimension of
// the workgroups.

struct Params {
    inputs: u32,
    outputs: u32,
    kernel: u32,
    height: u32,
    width: u32,
    input_planes: u32,
    output_planes: u32,
    first_input: u32,
    first_output: u32,
    first_weight: u32,
    positions: u32,
    activation: u32,
    slope: f32,
}
@group(0) @binding(0) var<uniform> p: Params;

const TILE: u32 = 32u;
const DEPTH: u32 = 16u;
const THREADS: u32 = 64u;
const LOADS: u32 = 8u;
// Each thread has 4x4 of the tile.
const OWN: u32 = 4u;

var<workgroup> weight_tile: array<f32, 512>;
var<workgroup> input_tile: array<f32, 512>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) tile: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let area = p.height * p.width;
    let taps = p.kernel * p.kernel;
    let reach = i32(p.kernel / 2u);
    let depth = p.inputs * taps;
    let first_input = p.first_input + tile.z * p.inputs;
    let first_output = p.first_output + tile.z * p.outputs;
    let first_weight = p.first_weight + tile.z * p.outputs * depth;
    let columns = p.positions * area;
    let first_row = tile.y * TILE;
    let first_column = tile.x * TILE;

    // The column of the gathered matrix that this thread loads.
    let column = first_column + thread % TILE;
    let column_is_real = column < columns;
    let cell = column % area;
    let y = i32(cell / p.width);
    let x = i32(cell % p.width);
    let base = ((column / area) * p.input_planes + first_input) * area;

    let own_row = (thread / 8u) * OWN;
    let own_column = (thread % 8u) * OWN;
    var sums: array<vec4<f32>, 4>;

    for (var start = 0u; start < depth; start += DEPTH) {
        for (var load = 0u; load < LOADS; load++) {
            let index = thread + load * THREADS;
            let row = index / DEPTH;
            let k = index % DEPTH;
            var weight = 0.0;
            if first_row + row < p.outputs && start + k < depth {
                weight = f32(second[first_weight + (first_row + row) * depth + start + k]);
            }
            weight_tile[k * TILE + row] = weight;
        }
        for (var load = 0u; load < LOADS; load++) {
            let k = thread / TILE + load * (THREADS / TILE);
            let at = start + k;
            var number = 0.0;
            if column_is_real && at < depth {
                let tap = at % taps;
                let row = y + i32(tap / p.kernel) - reach;
                let col = x + i32(tap % p.kernel) - reach;
                if row >= 0 && row < i32(p.height) && col >= 0 && col < i32(p.width) {
                    let source_at = base + (at / taps) * area + u32(row) * p.width + u32(col);
                    number = f32(first[source_at]);
                }
            }
            input_tile[k * TILE + thread % TILE] = number;
        }
        workgroupBarrier();
        for (var k = 0u; k < DEPTH; k++) {
            let w = k * TILE + own_row;
            let i = k * TILE + own_column;
            let across = vec4<f32>(
                input_tile[i], input_tile[i + 1u], input_tile[i + 2u], input_tile[i + 3u],
            );
            sums[0] += weight_tile[w] * across;
            sums[1] += weight_tile[w + 1u] * across;
            sums[2] += weight_tile[w + 2u] * across;
            sums[3] += weight_tile[w + 3u] * across;
        }
        workgroupBarrier();
    }

    for (var i = 0u; i < OWN; i++) {
        let row = first_row + own_row + i;
        if row >= p.outputs {
            continue;
        }
        let plane = first_output + row;
        let bias = numbers[plane];
        for (var j = 0u; j < OWN; j++) {
            let at = first_column + own_column + j;
            if at < columns {
                let to = ((at / area) * p.output_planes + plane) * area + at % area;
                let number = activate(sums[i][j] + bias, p.activation, p.slope);
                target_numbers[to] = Target(number);
            }
        }
    }
}
