// From the products of transformed tiles back to planes, with bias and activation: see winograd_in.wgsl.

struct Params {
    planes: u32,
    height: u32,
    width: u32,
    tiles_down: u32,
    tiles_across: u32,
    activation: u32,
    slope: f32,
}
@group(0) @binding(0) var<uniform> p: Params;

const SIDE: u32 = 6u;
const STEP: u32 = 4u;

fn cells(x: array<f32, 6>) -> array<f32, 4> {
    let sum = x[1] + x[2];
    let difference = x[1] - x[2];
    let sum_of_two = x[3] + x[4];
    let difference_of_two = x[3] - x[4];
    return array<f32, 4>(
        x[0] + sum + sum_of_two,
        difference + 2.0 * difference_of_two,
        sum + 4.0 * sum_of_two,
        difference + 8.0 * difference_of_two + x[5],
    );
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let tiles = p.tiles_down * p.tiles_across;
    if id.x >= p.planes * tiles {
        return;
    }
    let plane = id.x / tiles;
    let tile = id.x % tiles;
    let top = (tile / p.tiles_across) * STEP;
    let left = (tile % p.tiles_across) * STEP;
    let base = (id.z * p.planes + plane) * p.height * p.width;
    let bias = numbers[plane];
    var rows: array<array<f32, 4>, 6>;
    for (var i = 0u; i < SIDE; i++) {
        var row: array<f32, 6>;
        for (var j = 0u; j < SIDE; j++) {
            let point = i * SIDE + j;
            row[j] = f32(first[((id.z * SIDE * SIDE + point) * p.planes + plane) * tiles + tile]);
        }
        rows[i] = cells(row);
    }
    for (var j = 0u; j < STEP; j++) {
        let column = cells(array<f32, 6>(
            rows[0][j], rows[1][j], rows[2][j], rows[3][j], rows[4][j], rows[5][j],
        ));
        for (var i = 0u; i < STEP; i++) {
            let y = top + i;
            let x = left + j;
            if y < p.height && x < p.width {
                let number = activate(column[i] + bias, p.activation, p.slope);
                target_numbers[base + y * p.width + x] = Target(number);
            }
        }
    }
}
