// SPDX-License-Identifier: Apache-2.0
// Groups are told apart by colour and by shape; each further eight by hollow marks and another dash as well. All points
// of a kind are one path, which keeps thousands of them quick.
import {svg} from './dom.mjs';
import {tenth} from './scale.mjs';

// Pixels to a tenth.
const path = (parts, ...values) => String.raw({raw: parts}, ...values.map(tenth));

const kShapes = [
  (x, y, r) => path`M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${- 2 * r} 0z`,
  (x, y, r) => path`M${x - r * 0.9} ${y - r * 0.9}h${1.8 * r}v${1.8 * r}h${- 1.8 * r}z`,
  (x, y, r) => path`M${x} ${y - 1.2 * r}l${1.15 * r} ${2 * r}h${- 2.3 * r}z`,
  (x, y, r) => path`M${x} ${y - 1.25 * r}l${1.25 * r} ${1.25 * r}l${- 1.25 * r} ${1.25 * r}l${- 1.25 * r} ${- 1.25 * r}z`,
  (x, y, r) => path`M${x} ${y + 1.2 * r}l${1.15 * r} ${- 2 * r}h${- 2.3 * r}z`,
  (x, y, r) => path`M${x - r} ${y - 0.4 * r}h${0.6 * r}v${- 0.6 * r}h${0.8 * r}v${0.6 * r}h${0.6 * r}v${0.8 * r}h${
      - 0.6 * r}v${0.6 * r}h${- 0.8 * r}v${- 0.6 * r}h${- 0.6 * r}z`,
  (x, y, r) => path`M${x - 1.1 * r} ${y}l${0.55 * r} ${- r}h${1.1 * r}l${0.55 * r} ${r}l${- 0.55 * r} ${r}h${- 1.1 * r}z`,
];
const kColours = 8, kRounds = 3;

export const markerPath = (group, x, y, r) => kShapes[group % kShapes.length](x, y, r);
export const crossPath = (x, y, r) => path`M${x - r} ${y - r}l${2 * r} ${2 * r}m0 ${- 2 * r}l${- 2 * r} ${2 * r}`;
export const groupClass = (group) => `c${group % kColours} round-${Math.floor(group / kColours) % kRounds}`;

export const legendMark = (group) =>
    svg('svg', {class: `mark ${groupClass(group)}`, viewBox: '-8 -8 16 16', 'aria-hidden': 'true'},
        svg('path', {d: markerPath(group, 0, 0, 5.5)}));
