// Planes to transformed tiles, for 3x3 convolutions by Winograd's method F(4x4, 3x3) with the points 0, 1, -1, 2, -2 and
// infinity (Lavin and Gray 2015). A tile is 6x6 cells around 4x4 of the board, zero outside it. The result has 36 times as
// many planes of one number a tile: [point][plane][tile].

struct Params {
    planes: u32,
    height: u32,
    width: u32,
    tiles_down: u32,
    tiles_across: u32,
}
@group(0) @binding(0) var<uniform> p: Params;

const SIDE: u32 = 6u;
const STEP: u32 = 4u;

fn transformed(x: array<f32, 6>) -> array<f32, 6> {
    let even = x[4] - 4.0 * x[2];
    let odd = x[3] - 4.0 * x[1];
    let even_of_two = x[4] - x[2];
    let odd_of_two = 2.0 * (x[3] - x[1]);
    return array<f32, 6>(
        4.0 * x[0] - 5.0 * x[2] + x[4],
        even + odd,
        even - odd,
        even_of_two + odd_of_two,
        even_of_two - odd_of_two,
        4.0 * x[1] - 5.0 * x[3] + x[5],
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
    let top = i32((tile / p.tiles_across) * STEP) - 1;
    let left = i32((tile % p.tiles_across) * STEP) - 1;
    let base = (id.z * p.planes + plane) * p.height * p.width;
    var rows: array<array<f32, 6>, 6>;
    for (var i = 0u; i < SIDE; i++) {
        var row: array<f32, 6>;
        let y = top + i32(i);
        for (var j = 0u; j < SIDE; j++) {
            let x = left + i32(j);
            row[j] = 0.0;
            if y >= 0 && y < i32(p.height) && x >= 0 && x < i32(p.width) {
                row[j] = f32(first[base + u32(y) * p.width + u32(x)]);
            }
        }
        rows[i] = transformed(row);
    }
    for (var j = 0u; j < SIDE; j++) {
        let column = transformed(array<f32, 6>(
            rows[0][j], rows[1][j], rows[2][j], rows[3][j], rows[4][j], rows[5][j],
        ));
        for (var i = 0u; i < SIDE; i++) {
            let point = i * SIDE + j;
            let to = ((id.z * SIDE * SIDE + point) * p.planes + plane) * tiles + tile;
            target_numbers[to] = Target(column[i]);
        }
    }
}
