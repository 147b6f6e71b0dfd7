// SPDX-License-Identifier: Apache-2.0
// Texts beside the points of a chart, as many as find room.

const kCharacter = 6.5, kLine = 13, kGap = 9;  // pixels of a label of 11 px

const overlaps = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

export class LabelPlaces {
  #box;
  #taken;

  // `points` are pairs of pixels that no text may cover.
  constructor(box, points) {
    this.#box = box;
    this.#taken = points.map(([x, y]) => ({left: x - 4, right: x + 4, top: y - 4, bottom: y + 4}));
  }

  // Where a text beside a point may stand: {x, y, 'text-anchor'} of the text; undefined where there is no room.
  find(text, [x, y]) {
    const width = kCharacter * text.length;
    for (const [dx, dy, anchor] of [[kGap, 4, 'start'], [0, -kGap, 'middle'], [-kGap, 4, 'end'], [0, kGap + 9, 'middle'],
                                    [kGap, -5, 'start'], [kGap, 13, 'start'], [-kGap, -5, 'end'], [-kGap, 13, 'end']]) {
      const left = x + dx - (anchor === 'start' ? 0 : anchor === 'end' ? width : width / 2);
      const place = {left, right: left + width, top: y + dy - kLine + 3, bottom: y + dy + 3};
      const inside = place.left >= this.#box.left && place.right <= this.#box.right && place.top >= this.#box.top &&
          place.bottom <= this.#box.bottom;
      if (!inside || this.#taken.some((other) => overlaps(other, place))) continue;
      this.#taken.push(place);
      return {x: Math.round(x + dx), y: Math.round(y + dy), 'text-anchor': anchor};
    }
    return undefined;
  }
}
