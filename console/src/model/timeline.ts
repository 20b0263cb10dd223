/**
 * Where bars stand. Time runs evenly, but every bar gets room to be seen, and, with waits folded, long stretches in
 * which nothing but waiting happened get a fixed width. One scale for all rows: what stands below each other
 * happened at the same time.
 */
import type { Bar, BarKind, Row } from './timeline-rows';

/** Stretches of waiting above this are folded. */
export const FOLD = 10 * 60_000;
/** Rows with more bars are drawn on a canvas. */
export const MANY = 200;

const WAIT = 54;
const IDLE = 24;
const GAP = 1.5;
const LEAST: Record<BarKind, number> = { turn: 5, tool: 5, work: 6, check: 4.5, wait: 8, delay: 5 };

export interface Fold {
  from: number;
  to: number;
  x: number;
  width: number;
}

export interface Scale {
  from: number;
  to: number;
  /** Where a moment stands. */
  x: (at: number) => number;
  folds: Fold[];
}

export interface Placed {
  bar: Bar;
  x: number;
  width: number;
}

interface Piece {
  from: number;
  to: number;
  /** How wide it must be, if anything happened in it. */
  least: number;
  waits: boolean;
  busy: boolean;
  fold: number | undefined;
}

/** The scale of all rows in a width. */
export function scale(all: readonly Row[], width: number, now: number, fold: boolean): Scale {
  const bars = all.flatMap((row) => row.bars);
  const from = Math.min(...bars.map((bar) => bar.from), now);
  const to = Math.max(...bars.map((bar) => bar.to ?? now), from + 1);
  const pieces = cut(bars, from, to, now);
  if (fold) folding(pieces);
  const widths = share(pieces, width);
  const starts: number[] = [];
  const folds: Fold[] = [];
  let x = 0;
  let group = -1;
  pieces.forEach((piece, at) => {
    starts.push(x);
    const wide = widths[at] ?? 0;
    if (piece.fold !== undefined) {
      const last = folds.at(-1);
      if (piece.fold === group && last) {
        last.to = piece.to;
        last.width += wide;
      } else folds.push({ from: piece.from, to: piece.to, x, width: wide });
      group = piece.fold;
    }
    x += wide;
  });
  const place = (at: number): number => {
    if (at <= from) return 0;
    if (at >= to) return x;
    let low = 0;
    let high = pieces.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((pieces[middle] as Piece).from <= at) low = middle;
      else high = middle - 1;
    }
    const piece = pieces[low] as Piece;
    return (starts[low] as number) + ((at - piece.from) / (piece.to - piece.from)) * (widths[low] as number);
  };
  return { from, to, x: place, folds };
}

/** The time between all moments at which something began or ended. */
function cut(bars: readonly Bar[], from: number, to: number, now: number): Piece[] {
  const moments = [...new Set([from, to, ...bars.flatMap((bar) => [bar.from, bar.to ?? now])])].filter((at) => at >= from && at <= to).sort((a, b) => a - b);
  const at = new Map(moments.map((moment, index) => [moment, index]));
  const pieces: Piece[] = moments.slice(0, -1).map((moment, index) => ({ from: moment, to: moments[index + 1] as number, least: 0, waits: false, busy: false, fold: undefined }));
  // A bar's room is given to its first piece and not to each: what many bars have in common is not counted twice.
  const busy = new Array<number>(pieces.length + 1).fill(0);
  const waits = new Array<number>(pieces.length + 1).fill(0);
  for (const bar of bars) {
    const first = at.get(bar.from) as number;
    const last = at.get(bar.to ?? now) as number;
    const piece = pieces[first];
    if (!piece || last <= first) continue;
    const counts = bar.kind === 'wait' || bar.kind === 'delay' ? waits : busy;
    counts[first] = (counts[first] ?? 0) + 1;
    counts[last] = (counts[last] ?? 0) - 1;
    piece.least = Math.max(piece.least, LEAST[bar.kind]);
  }
  let working = 0;
  let waiting = 0;
  pieces.forEach((piece, index) => {
    working += busy[index] ?? 0;
    waiting += waits[index] ?? 0;
    piece.busy = working > 0;
    piece.waits = waiting > 0;
  });
  return pieces;
}

/** Marks what is folded, each stretch with a number of its own. */
function folding(pieces: Piece[]): void {
  let first = 0;
  for (let at = 0; at <= pieces.length; at += 1) {
    const piece = pieces[at];
    if (piece && !piece.busy) continue;
    const stretch = pieces.slice(first, at);
    const begin = stretch[0];
    const end = stretch.at(-1);
    if (begin && end && end.to - begin.from > FOLD) for (const one of stretch) one.fold = first;
    first = at + 1;
  }
}

/** How wide each piece is. */
function share(pieces: readonly Piece[], width: number): number[] {
  const widths = new Array<number>(pieces.length).fill(0);
  let left = width;
  const groups = new Map<number, Piece[]>();
  for (const piece of pieces) if (piece.fold !== undefined) groups.set(piece.fold, [...(groups.get(piece.fold) ?? []), piece]);
  const most = width * 0.75;
  const wanted = [...groups.values()].reduce((sum, group) => sum + (group.some((one) => one.waits) ? WAIT : IDLE), 0);
  const squeeze = wanted > most ? most / wanted : 1;
  pieces.forEach((piece, at) => {
    const group = piece.fold === undefined ? undefined : groups.get(piece.fold);
    if (!group) return;
    const whole = (group.some((one) => one.waits) ? WAIT : IDLE) * squeeze;
    const time = (group.at(-1) as Piece).to - (group[0] as Piece).from;
    widths[at] = (whole * (piece.to - piece.from)) / time;
    left -= widths[at] as number;
  });
  let free = pieces.flatMap((piece, at) => (piece.fold === undefined ? [at] : []));
  const least = free.reduce((sum, at) => sum + (pieces[at] as Piece).least, 0);
  if (least >= left) {
    for (const at of free) widths[at] = ((pieces[at] as Piece).least / least) * left;
    return widths;
  }
  for (;;) {
    const time = free.reduce((sum, at) => sum + (pieces[at] as Piece).to - (pieces[at] as Piece).from, 0);
    const rate = time > 0 ? left / time : 0;
    const small = free.filter((at) => ((pieces[at] as Piece).to - (pieces[at] as Piece).from) * rate < (pieces[at] as Piece).least);
    if (small.length === 0 || small.length === free.length) {
      for (const at of free) widths[at] = ((pieces[at] as Piece).to - (pieces[at] as Piece).from) * rate;
      return widths;
    }
    for (const at of small) {
      widths[at] = (pieces[at] as Piece).least;
      left -= widths[at] as number;
    }
    const gone = new Set(small);
    free = free.filter((at) => !gone.has(at));
  }
}

/** The bars of a row where they stand. */
export const place = (row: Row, on: Scale, now: number): Placed[] =>
  row.bars.map((bar) => {
    const x = on.x(bar.from);
    return { bar, x, width: Math.max(2, on.x(bar.to ?? now) - x - GAP) };
  });

export interface Tick {
  at: number;
  x: number;
}

/** The times that the axis prints: where a row or, after a fold, time begins, as far as they have room. */
export function ticks(all: readonly Row[], on: Scale, room: number, now: number | undefined): Tick[] {
  const inFold = (at: number) => on.folds.some((fold) => at > fold.from && at < fold.to);
  const moments = [...new Set([on.from, ...all.flatMap((row) => row.bars.slice(0, 1).map((bar) => bar.from)), ...on.folds.map((fold) => fold.to)])].filter((at) => !inFold(at)).sort((a, b) => a - b);
  const end = now === undefined ? Number.POSITIVE_INFINITY : on.x(now);
  const kept: Tick[] = [];
  for (const at of moments) {
    const x = on.x(at);
    const before = kept.at(-1);
    if (x + room * 0.75 <= end && (!before || x - before.x >= room)) kept.push({ at, x });
  }
  return kept;
}
