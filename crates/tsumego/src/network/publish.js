// Is this group safe? A network in one file, without dependencies.
//
//   import { evaldcnn } from "./safety.mjs";
//   evaldcnn(board, [x, y])              the chance, from 0 to 1, that the block at [x, y] is safe
//   evaldcnn(board, [x, y], defstarts)   the same if the defender starts (1) or the attacker (0)
//
// board.size is the side, board.get(x, y) is positive for black, negative for white, 0 for empty;
// x counts from the left, y from the top, both from 0.

const MODEL = /*MODEL*/;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGITS = new Map([...ALPHABET].map((letter, digit) => [letter, digit]));

// Weights are whole multiples of 1 / steps, written as letters, least significant first.
function weights(text) {
  const { steps, letters } = MODEL;
  const values = new Float32Array(text.length / letters);
  for (let i = 0; i < values.length; i++) {
    let number = 0;
    for (let digit = letters - 1; digit >= 0; digit--) {
      number = number * 64 + DIGITS.get(text[i * letters + digit]);
    }
    values[i] = (number - steps) / steps;
  }
  return values;
}

function unpack(layer) {
  if (layer.body) layer.body.forEach(unpack);
  if (layer.weights !== undefined) {
    layer.weights = weights(layer.weights);
    layer.bias = weights(layer.bias);
  }
}
MODEL.layers.forEach(unpack);

const active = (x, slope) => (x > 0 ? x : slope * x);

function dense(layer, input) {
  const { inputs, outputs, slope } = layer;
  const result = new Float32Array(outputs);
  for (let out = 0; out < outputs; out++) {
    let sum = layer.bias[out];
    for (let i = 0; i < inputs; i++) {
      if (input[i] !== 0) sum += layer.weights[out * inputs + i] * input[i];
    }
    result[out] = active(sum, slope);
  }
  return result;
}

function conv(layer, input) {
  const side = MODEL.window;
  const area = side * side;
  const { kernel, inputs, outputs, slope } = layer;
  const reach = (kernel - 1) / 2;
  const result = new Float32Array(outputs * area);
  for (let out = 0; out < outputs; out++) {
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        let sum = layer.bias[out];
        for (let from = 0; from < inputs; from++) {
          for (let dy = -reach; dy <= reach; dy++) {
            for (let dx = -reach; dx <= reach; dx++) {
              const row = y + dy;
              const column = x + dx;
              if (row < 0 || column < 0 || row >= side || column >= side) continue;
              const weight = ((out * inputs + from) * kernel + dy + reach) * kernel + dx + reach;
              sum += layer.weights[weight] * input[from * area + row * side + column];
            }
          }
        }
        result[out * area + y * side + x] = active(sum, slope);
      }
    }
  }
  return result;
}

function pool(input) {
  const area = MODEL.window * MODEL.window;
  const planes = input.length / area;
  const result = new Float32Array(2 * planes);
  for (let plane = 0; plane < planes; plane++) {
    const cells = input.subarray(plane * area, (plane + 1) * area);
    result[plane] = cells.reduce((sum, x) => sum + x, 0) / area;
    result[planes + plane] = cells.reduce((most, x) => Math.max(most, x), -Infinity);
  }
  return result;
}

function run(layers, input) {
  return layers.reduce((x, layer) => {
    switch (layer.kind) {
      case "dense": return dense(layer, x);
      case "conv": return conv(layer, x);
      case "pool": return pool(x);
      default: return run(layer.body, x).map((y, i) => active(y + x[i], layer.slope));
    }
  }, input);
}

// Blocks and liberties of every stone.
function blocks(board) {
  const size = board.size;
  const found = new Array(size * size).fill(null);
  const beside = (x, y) => [[x + 1, y], [x - 1, y], [x, y + 1], [x, y - 1]]
    .filter(([a, b]) => a >= 0 && b >= 0 && a < size && b < size);
  for (let start = 0; start < size * size; start++) {
    const color = Math.sign(board.get(start % size, Math.floor(start / size)));
    if (color === 0 || found[start]) continue;
    const block = { color, stones: [], liberties: new Set() };
    const open = [start];
    found[start] = block;
    while (open.length) {
      const at = open.pop();
      block.stones.push(at);
      for (const [x, y] of beside(at % size, Math.floor(at / size))) {
        const next = y * size + x;
        const stone = Math.sign(board.get(x, y));
        if (stone === 0) block.liberties.add(next);
        if (stone === color && !found[next]) {
          found[next] = block;
          open.push(next);
        }
      }
    }
  }
  return found;
}

function isSureEye(board, x, y) {
  const size = board.size;
  const inside = (a, b) => a >= 0 && b >= 0 && a < size && b < size;
  const corner = (a, b) => (a === 0 || a === size - 1) && (b === 0 || b === size - 1);
  return [1, -1].some((color) => {
    let own = 0, diagonals = 0, off = 0, corners = 0;
    for (let dy = -1; dy <= 1; dy++) {
      for (let dx = -1; dx <= 1; dx++) {
        if (dx === 0 && dy === 0) continue;
        const [a, b] = [x + dx, y + dy];
        if (!inside(a, b)) { off++; continue; }
        const stone = Math.sign(board.get(a, b));
        if (stone === color) { own++; if (dx !== 0 && dy !== 0) diagonals++; }
        if (stone === 0 && corner(a, b)) corners++;
      }
    }
    return own === 8 || (own === 7 && diagonals === 3) || (own === 6 && corners === 1)
      || (own === 5 && off === 3) || (own === 3 && off === 5);
  });
}

// The planes around the target stone, plane by plane.
function planes(board, [tx, ty], defstarts) {
  const { window: side, planes: count, ring, first } = MODEL;
  const size = board.size;
  const area = side * side;
  const input = new Float32Array(count * area);
  const found = blocks(board);
  const target = found[ty * size + tx];
  const reach = (side - 1) / 2;
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const [x, y] = [tx + column - reach, ty + row - reach];
      const put = (plane) => { input[plane * area + row * side + column] = 1; };
      const inside = x >= 0 && y >= 0 && x < size && y < size;
      if (!inside) {
        if (ring && x >= -1 && y >= -1 && x <= size && y <= size) put(0);
        continue;
      }
      let at = 1;
      if (!ring) {
        put(first ? (defstarts ? 1 : 0) : 1);
        at = 2;
      }
      const block = found[y * size + x];
      if (!block) {
        if (isSureEye(board, x, y)) put(at + 3);
        continue;
      }
      put(block.color === target.color ? at : at + 1);
      if (block === target) put(at + 2);
      put(at + 3 + Math.min(block.liberties.size, 4));
      put(at + 7 + Math.min(block.stones.length, 4));
    }
  }
  return input;
}

/** The chance, from 0 to 1, that the block at [x, y] is safe. */
export function evaldcnn(board, [x, y], defstarts = 0) {
  if (!board.get(x, y)) throw new Error(`there is no stone at [${x}, ${y}]`);
  const [value] = run(MODEL.layers, planes(board, [x, y], defstarts)).slice(MODEL.output);
  return MODEL.reading === "sigmoid" ? 1 / (1 + Math.exp(-value)) : (1 + Math.tanh(value)) / 2;
}

export default evaldcnn;
