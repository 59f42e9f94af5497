// where labels stand on the map: the nearest place to their point that is on no document and on no other label
const MARK = 1, LABEL = 2;  // what takes a cell: a document or a line, or a label
const CELL = 4, LINE = 15, FARTHEST = 96, LONGEST_LINE = 20, MOST_LINES = 2;
const DIRECTIONS = [0, 8, 1, -1, 7, -7, 2, -2, 6, -6, 3, -3, 5, -5].map((turn) => [Math.cos((turn * Math.PI) / 8), Math.sin((turn * Math.PI) / 8)]);
const inLines = (name) => {
  const lines = [""];
  for (const word of name.split(/\s+/)) {
    const line = lines[lines.length - 1];
    if (!line || line.length + word.length < LONGEST_LINE) lines[lines.length - 1] = line ? line + " " + word : word;
    else lines.push(word);
  }
  const cut = (line) => (line.length > LONGEST_LINE ? line.slice(0, LONGEST_LINE - 1) + "…" : line);
  const shown = lines.slice(0, MOST_LINES).map(cut);
  if (lines.length > MOST_LINES) shown[MOST_LINES - 1] = cut(shown[MOST_LINES - 1].replace(/…$/, "") + "…");
  return shown;
};
const makeRoom = (width, height) => {
  const across = Math.ceil(width / CELL), down = Math.ceil(height / CELL);
  const taken = new Uint8Array(across * down);
  const cellsOf = (left, top, right, bottom) => [left, top, right, bottom].map((value, index) => Math.max(0, Math.min((index % 2 ? down : across) - 1, Math.floor(value / CELL))));
  const each = ([left, top, right, bottom], see) => {
    for (let row = top; row <= bottom; row++) for (let column = left; column <= right; column++) if (see(row * across + column)) return true;
    return false;
  };
  const around = (x, y, radius) => cellsOf(x - radius, y - radius, x + radius, y + radius);
  const fill = (x, y, radius) => {
    if (x < -radius || y < -radius || x > width + radius || y > height + radius) return;
    each(around(x, y, radius), (cell) => { taken[cell] = MARK; });
  };
  const take = (x, y, wide, lines) => {
    for (let far = 8; far <= FARTHEST; far += 8) {
      for (const [cosine, sine] of DIRECTIONS) {
        const edge = x + far * cosine, middle = y + far * sine;
        const left = cosine >= 0 ? edge + 3 : edge - 3 - wide;
        const box = [left - 2, middle - (lines * LINE) / 2, left + wide + 2, middle + (lines * LINE) / 2];
        if (box[0] < 0 || box[1] < 0 || box[2] > width || box[3] > height) continue;
        const cells = cellsOf(...box);
        if (each(cells, (cell) => taken[cell])) continue;
        const line = [];  // to the point
        for (let at = CELL; at < far; at += CELL) each(around(x + at * cosine, y + at * sine, 1), (cell) => { line.push(cell); });
        if (line.some((cell) => taken[cell] === LABEL)) continue;
        for (const cell of line) taken[cell] = MARK;
        each(cells, (cell) => { taken[cell] = LABEL; });
        return { edge, middle, left, box };
      }
    }
    return null;
  };
  return { fill, take };
};
