// @ts-check
// Pixel art of our own: 8x8 letters, `.` nothing, `a` colour, `b` lighter, `c` darker, `k` outline, `w` white.

/** Three colours, each with a light and a dark tone; told apart by lightness as well. */
export const COLORS = [
  { a: '#d8452e', b: '#ff9a80', c: '#8f2414' },
  { a: '#e8b820', b: '#fff0a0', c: '#9a7000' },
  { a: '#3a6fd8', b: '#a0c4ff', c: '#1a3a86' },
];

const ART = {
  // Viruses of three silhouettes: round, square with horns, triangle. Two frames each.
  virus0: ['..kkkk..', '.kaaaak.', 'kawkawak', 'kaaaaaak', 'kaabbaak', '.kakkak.', '..kaak..', '.k.kk.k.'],
  virus0b: ['..kkkk..', '.kaaaak.', 'kakwakwk', 'kaaaaaak', 'kakkkkak', '.kabbak.', '..kaak..', 'k..kk..k'],
  virus1: ['k......k', 'kkkkkkkk', 'kaaaaaak', 'kawkkwak', 'kaaaaaak', 'kakkkkak', 'kaaaaaak', '.kk..kk.'],
  virus1b: ['.k....k.', 'kkkkkkkk', 'kaaaaaak', 'kakwwkak', 'kaaaaaak', 'kaabbaak', 'kaaaaaak', 'kk....kk'],
  virus2: ['...kk...', '..kaak..', '..kaak..', '.kwkkwk.', '.kaaaak.', 'kaabbaak', 'kaaaaaak', 'kkk..kkk'],
  virus2b: ['...kk...', '..kaak..', '..kaak..', '.kkwwkk.', '.kaaaak.', 'kaakkaak', 'kaaaaaak', '.kkkkkk.'],
  left: ['..kkkkkk', '.kbbaaaa', 'kbbaaaaa', 'kbaaaaaa', 'kaaaaaaa', 'kaaaaaac', '.kaaaacc', '..kkkkkk'],
  right: ['kkkkkk..', 'aabaaak.', 'aaaaaaak', 'aaaaaaak', 'aaaaaaak', 'aaaaaack', 'caaaack.', 'kkkkkk..'],
  top: ['..kkkk..', '.kbbaak.', 'kbbaaaak', 'kbaaaaak', 'kaaaaaak', 'kaaaaaak', 'kaaaaaak', 'kaaaaaak'],
  bottom: ['kbaaaaak', 'kbaaaaak', 'kaaaaaak', 'kaaaaaak', 'kaaaaaak', 'kaaaaack', '.kaaack.', '..kkkk..'],
  single: ['..kkkk..', '.kbbaak.', 'kbbaaaak', 'kbaaaaak', 'kaaaaaak', 'kaaaaack', '.kaaack.', '..kkkk..'],
  pop: ['...aa...', '.a.bb.a.', '..b..b..', 'ab....ba', 'ab....ba', '..b..b..', '.a.bb.a.', '...aa...'],
};

/** Shapes in the order of the wire: virus, left, right, bottom, top, single. */
const SHAPES = ['virus', 'left', 'right', 'bottom', 'top', 'single'];

/** @type {Map<string, HTMLCanvasElement>} */
const made = new Map();

/** @param {string} name @param {number} color @returns {HTMLCanvasElement} */
export function sprite(name, color) {
  const key = `${name}${color}`;
  const known = made.get(key);
  if (known) return known;
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 8;
  const pen = canvas.getContext('2d');
  const tones = { ...COLORS[color], k: '#14120f', w: '#ffffff' };
  (ART[/** @type {'pop'} */ (name)] ?? ART.single).forEach((row, y) => [...row].forEach((letter, x) => {
    if (letter === '.' || !pen) return;
    pen.fillStyle = tones[/** @type {'a'} */ (letter)];
    pen.fillRect(x, y, 1, 1);
  }));
  made.set(key, canvas);
  return canvas;
}

/** The picture of a cell of the wire. @param {number} code @param {boolean} second which frame of a virus */
export function cellSprite(code, second) {
  const [color, shape] = [(code - 1) % 3, Math.floor((code - 1) / 3)];
  return shape === 0 ? sprite(`virus${color}${second ? 'b' : ''}`, color) : sprite(SHAPES[shape], color);
}
