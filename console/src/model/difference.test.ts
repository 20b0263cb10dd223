import { expect, it } from 'vitest';
import { difference, parseUnified } from './difference';

const text = (lines: string[]) => `${lines.join('\n')}\n`;

it('marks the changed words inside a changed line', () => {
  const found = difference(text(['Rates rose about 9 per cent.']), text(['Rates rose 6.8 per cent.']));
  const [went, came] = found.hunks[0]!.lines;
  expect(went!.pieces.filter((piece) => piece.changed).map((piece) => piece.text.trim()).join(' ')).toContain('about');
  expect(came!.pieces.map((piece) => piece.text).join('')).toBe('Rates rose 6.8 per cent.');
  expect([went!.before, went!.after, came!.before, came!.after]).toEqual([1, undefined, undefined, 1]);
});

it('folds what did not change, and says under which heading a change stands', () => {
  const many = (name: string) => Array.from({ length: 9 }, (_, at) => `${name} ${at}`);
  const before = text(['# Prices', ...many('a'), '# Energy', ...many('b')]);
  const after = before.replace('b 5', 'b five');
  const { hunks, rest, added, removed } = difference(before, after);
  expect(hunks.length).toBe(1);
  expect([hunks[0]!.where, hunks[0]!.from, hunks[0]!.folded, rest]).toEqual(['Energy', 15, 14, 1]);
  expect([added, removed]).toEqual([1, 1]);
});

it('counts nothing where nothing changed, and everything of a new text', () => {
  expect(difference('a\nb\n', 'a\nb\n').hunks).toEqual([]);
  const made = difference('', 'one two\nthree\n');
  expect([made.added, made.wordsAdded, made.removed]).toEqual([2, 3, 0]);
});

it('reads a unified diff', () => {
  const found = parseUnified('--- a\n+++ b\n@@ -3,3 +3,3 @@\n same\n-old\n+new\n same\n');
  expect(found.hunks[0]!.lines.map((line) => [line.sign, line.before, line.after])).toEqual([
    [' ', 3, 3],
    ['-', 4, undefined],
    ['+', undefined, 4],
    [' ', 5, 5],
  ]);
});
