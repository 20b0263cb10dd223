/** Two texts as lines that stayed, went and came, with the changed words inside changed lines, and folds between. */
import { diffArrays, diffWordsWithSpace } from 'diff';

export interface Piece {
  text: string;
  changed: boolean;
}

export interface Line {
  sign: ' ' | '+' | '-';
  before: number | undefined;
  after: number | undefined;
  pieces: Piece[];
}

export interface Hunk {
  /** The heading that the change stands under, where the text has headings. */
  where: string | undefined;
  /** The first line of the new text that is shown. */
  from: number;
  /** How many lines before it are folded away. */
  folded: number;
  lines: Line[];
}

export interface Difference {
  hunks: Hunk[];
  /** Lines folded away after the last hunk. */
  rest: number;
  added: number;
  removed: number;
  wordsAdded: number;
  wordsRemoved: number;
}

const plain = (text: string): Piece[] => [{ text, changed: false }];
const words = (text: string) => text.split(/\s+/).filter(Boolean).length;
const split = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** How two texts differ; `context` unchanged lines stay around each change. */
export function difference(before: string, after: string, context = 2): Difference {
  const lines = align(split(before), split(after));
  const total = { added: 0, removed: 0, wordsAdded: 0, wordsRemoved: 0 };
  for (const line of lines) {
    const changed = line.pieces.filter((piece) => piece.changed).reduce((sum, piece) => sum + words(piece.text), 0);
    if (line.sign === '+') {
      total.added += 1;
      total.wordsAdded += changed;
    } else if (line.sign === '-') {
      total.removed += 1;
      total.wordsRemoved += changed;
    }
  }
  return { ...fold(lines, context), ...total };
}

function align(before: string[], after: string[]): Line[] {
  const lines: Line[] = [];
  let old = 0;
  let now = 0;
  const parts = diffArrays(before, after);
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at];
    if (!part) continue;
    const next = parts[at + 1];
    if (!part.added && !part.removed) {
      for (const text of part.value) lines.push({ sign: ' ', before: (old += 1), after: (now += 1), pieces: plain(text) });
    } else if (part.removed && next?.added) {
      const pairs = Math.max(part.value.length, next.value.length);
      const went: Line[] = [];
      const came: Line[] = [];
      for (let pair = 0; pair < pairs; pair += 1) {
        const [from, to] = marked(part.value[pair], next.value[pair]);
        if (from) went.push({ sign: '-', before: (old += 1), after: undefined, pieces: from });
        if (to) came.push({ sign: '+', before: undefined, after: (now += 1), pieces: to });
      }
      // Lines that belong together stand together, as long as both sides have one.
      if (went.length === came.length) for (let pair = 0; pair < went.length; pair += 1) lines.push(went[pair] as Line, came[pair] as Line);
      else lines.push(...went, ...came);
      at += 1;
    } else {
      for (const text of part.value) {
        const pieces = [{ text, changed: true }];
        if (part.removed) lines.push({ sign: '-', before: (old += 1), after: undefined, pieces });
        else lines.push({ sign: '+', before: undefined, after: (now += 1), pieces });
      }
    }
  }
  return lines;
}

/** The changed words of a line that was replaced by another. */
function marked(from: string | undefined, to: string | undefined): [Piece[] | undefined, Piece[] | undefined] {
  if (from === undefined || to === undefined) {
    return [from === undefined ? undefined : [{ text: from, changed: true }], to === undefined ? undefined : [{ text: to, changed: true }]];
  }
  const parts = diffWordsWithSpace(from, to);
  const side = (keep: 'added' | 'removed') => {
    const kept = parts.filter((part) => part[keep] || (!part.added && !part.removed)).map((part) => ({ text: part.value, changed: Boolean(part[keep]) }));
    // A space between two changed words belongs to the change.
    return kept.map((piece, at) => (piece.text.trim() === '' && kept[at - 1]?.changed && kept[at + 1]?.changed ? { ...piece, changed: true } : piece));
  };
  return [side('removed'), side('added')];
}

function fold(lines: Line[], context: number): Pick<Difference, 'hunks' | 'rest'> {
  const near = new Array<boolean>(lines.length).fill(false);
  lines.forEach((line, at) => {
    if (line.sign === ' ') return;
    for (let other = Math.max(0, at - context); other <= Math.min(lines.length - 1, at + context); other += 1) near[other] = true;
  });
  const hunks: Hunk[] = [];
  let folded = 0;
  let heading: string | undefined;
  let open: Hunk | undefined;
  lines.forEach((line, at) => {
    const text = line.pieces.map((piece) => piece.text).join('');
    const title = line.sign === '-' ? null : /^#{1,6}\s+(.*)$/.exec(text);
    if (title) heading = title[1];
    if (!near[at]) {
      folded += 1;
      open = undefined;
      return;
    }
    if (!open) {
      open = { where: heading, from: line.after ?? line.before ?? 1, folded, lines: [] };
      hunks.push(open);
      folded = 0;
    }
    open.lines.push(line);
  });
  return { hunks, rest: folded };
}

/** A unified diff, as the API gives it, as hunks. */
export function parseUnified(text: string): Difference {
  const hunks: Hunk[] = [];
  const total = { added: 0, removed: 0, wordsAdded: 0, wordsRemoved: 0 };
  let open: Hunk | undefined;
  let old = 0;
  let now = 0;
  let last = 0;
  for (const line of text.split('\n')) {
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (head) {
      old = Number(head[1]) - 1;
      now = Number(head[2]) - 1;
      open = { where: undefined, from: now + 1, folded: Math.max(0, now - last), lines: [] };
      hunks.push(open);
      continue;
    }
    if (!open || line.startsWith('\\')) continue;
    const [sign, rest] = [line[0], line.slice(1)];
    if (sign === '+') {
      open.lines.push({ sign, before: undefined, after: (now += 1), pieces: [{ text: rest, changed: true }] });
      total.added += 1;
      total.wordsAdded += words(rest);
    } else if (sign === '-') {
      open.lines.push({ sign, before: (old += 1), after: undefined, pieces: [{ text: rest, changed: true }] });
      total.removed += 1;
      total.wordsRemoved += words(rest);
    } else if (sign === ' ') {
      open.lines.push({ sign, before: (old += 1), after: (now += 1), pieces: plain(rest) });
    }
    last = now;
  }
  return { hunks, rest: 0, ...total };
}
