/** A text as it reads now, with what was taken out and put in since an earlier one marked in place. */
import { diffArrays, diffWordsWithSpace } from 'diff';

export interface Marked {
  text: string;
  mark: 'same' | 'in' | 'out';
}

export interface Block {
  kind: 'heading' | 'item' | 'paragraph';
  /** What stands before an item: "1." or "•". */
  bullet?: string;
  pieces: Marked[];
}

const lines = (text: string) => text.split('\n').filter((line) => line.trim() !== '');

/** Prose as blocks. Without an earlier text nothing is marked. */
export function excerpt(now: string, before?: string): Block[] {
  if (before === undefined) return lines(now).map((line) => block([{ text: line, mark: 'same' }]));
  const blocks: Block[] = [];
  const parts = diffArrays(lines(before), lines(now));
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at];
    const next = parts[at + 1];
    if (!part) continue;
    if (part.removed && next?.added) {
      const pairs = Math.max(part.value.length, next.value.length);
      for (let pair = 0; pair < pairs; pair += 1) blocks.push(merged(part.value[pair], next.value[pair]));
      at += 1;
      continue;
    }
    const mark = part.added ? 'in' : part.removed ? 'out' : 'same';
    for (const text of part.value) blocks.push(block([{ text, mark }]));
  }
  return blocks;
}

function merged(before: string | undefined, now: string | undefined): Block {
  if (now === undefined) return block([{ text: before ?? '', mark: 'out' }]);
  if (before === undefined) return block([{ text: now, mark: 'in' }]);
  return block(together(diffWordsWithSpace(before, now).map((part) => ({ text: part.value, mark: part.added ? 'in' : part.removed ? 'out' : 'same' }))));
}

/** Changes with nothing but a space between them are one change: all that went, then all that came. */
function together(pieces: Marked[]): Marked[] {
  const joined: Marked[] = [];
  let out = '';
  let came = '';
  const flush = () => {
    if (out) joined.push({ text: out, mark: 'out' });
    if (out && came && !/\s$/.test(out) && !/^\s/.test(came)) joined.push({ text: ' ', mark: 'same' });
    if (came) joined.push({ text: came, mark: 'in' });
    out = '';
    came = '';
  };
  pieces.forEach((piece, at) => {
    const bridge = piece.mark === 'same' && piece.text.trim() === '' && (out || came) && at + 1 < pieces.length;
    if (piece.mark === 'out' || bridge) out += piece.text;
    if (piece.mark === 'in' || bridge) came += piece.text;
    if (piece.mark === 'same' && !bridge) {
      flush();
      joined.push(piece);
    }
  });
  flush();
  return joined;
}

/** Takes the Markdown sign off the beginning and says what it meant. */
function block(pieces: Marked[]): Block {
  const [first, ...rest] = pieces;
  if (!first) return { kind: 'paragraph', pieces };
  const heading = /^#{1,6}\s+/.exec(first.text);
  if (heading) return { kind: 'heading', pieces: [{ ...first, text: first.text.slice(heading[0].length) }, ...rest] };
  const item = /^\s*(?:[-*]|(\d+\.))\s+/.exec(first.text);
  if (item) return { kind: 'item', bullet: item[1] ?? '•', pieces: [{ ...first, text: first.text.slice(item[0].length) }, ...rest] };
  return { kind: 'paragraph', pieces };
}

/** The block at which the first change stands, so that it can be shown first. */
export const firstChange = (blocks: readonly Block[]) => Math.max(0, blocks.findIndex((one) => one.pieces.some((piece) => piece.mark !== 'same')));

/** How many words came and went. */
export function changedWords(blocks: readonly Block[]): { added: number; removed: number; places: number } {
  const total = { added: 0, removed: 0, places: 0 };
  for (const { pieces } of blocks) {
    let before: Marked['mark'] = 'same';
    for (const { text, mark } of pieces) {
      const words = text.split(/\s+/).filter(Boolean).length;
      if (mark === 'in') total.added += words;
      if (mark === 'out') total.removed += words;
      if (mark !== 'same' && before === 'same') total.places += 1;
      before = mark;
    }
  }
  return total;
}
