// Draws icon.png: a branch beside a line, its end a tick. Run it after a change: node icon.mjs

import { writeFileSync } from "node:fs";
import { crc32, deflateSync } from "node:zlib";

const SIZE = 128;
const SAMPLES = 4;
const BACK = [31, 41, 55];
const LINE = [148, 163, 184];
const BRANCH = [52, 211, 153];

/** Distance of a point to the segment from a to b. */
function toSegment([x, y], [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)));
  return Math.hypot(x - ax - along * dx, y - ay - along * dy);
}

/** Segments as [from, to, half of the width, colour], the last on top. */
const SHAPES = [
  [[40, 24], [40, 104], 5, LINE],
  [[40, 88], [64, 64], 5, BRANCH],
  [[64, 64], [78, 80], 6, BRANCH],
  [[78, 80], [104, 36], 6, BRANCH],
  [[40, 24], [40, 24.01], 11, LINE],
  [[40, 104], [40, 104.01], 11, LINE],
];

/** Colour of a point, and whether the rounded square covers it. */
function colour(point) {
  const [x, y] = point.map((it) => Math.max(0, Math.abs(it - SIZE / 2) - (SIZE / 2 - 24)));
  if (Math.hypot(x, y) > 24) return [0, 0, 0, 0];
  const shape = SHAPES.findLast(([from, to, width]) => toSegment(point, from, to) <= width);
  return [...(shape?.[3] ?? BACK), 255];
}

function pixel(x, y) {
  const sum = [0, 0, 0, 0];
  for (let i = 0; i < SAMPLES * SAMPLES; i += 1) {
    const point = [x + ((i % SAMPLES) + 0.5) / SAMPLES, y + (Math.floor(i / SAMPLES) + 0.5) / SAMPLES];
    const [r, g, b, a] = colour(point);
    [r * a, g * a, b * a, a].forEach((it, channel) => (sum[channel] += it));
  }
  const [r, g, b, a] = sum;
  return a === 0 ? [0, 0, 0, 0] : [r / a, g / a, b / a, a / (SAMPLES * SAMPLES)].map(Math.round);
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

const rows = Array.from({ length: SIZE }, (_, y) => [0, ...Array.from({ length: SIZE }, (_, x) => pixel(x, y)).flat()]);
const header = Buffer.alloc(13);
header.writeUInt32BE(SIZE, 0);
header.writeUInt32BE(SIZE, 4);
// 8 bits, with red, green, blue and alpha.
header.set([8, 6], 8);
writeFileSync(
  new URL("icon.png", import.meta.url),
  Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.from(rows.flat()), { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]),
);
