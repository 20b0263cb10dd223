import { expect, it } from 'vitest';
import { changedWords, excerpt, firstChange } from './excerpt';

it('marks in place what came and went', () => {
  const blocks = excerpt('# Prices\n\nRates rose 6.8 per cent.\n\n1. New item\n', '# Prices\n\nRates rose about 9 per cent.\n');
  expect(blocks.map((block) => block.kind)).toEqual(['heading', 'paragraph', 'item']);
  expect(blocks[0]!.pieces).toEqual([{ text: 'Prices', mark: 'same' }]);
  expect(blocks[2]).toMatchObject({ bullet: '1.', pieces: [{ text: 'New item', mark: 'in' }] });
  const text = (mark: string) => blocks[1]!.pieces.filter((piece) => piece.mark === mark).map((piece) => piece.text).join('');
  expect([text('out').trim(), text('in').trim()]).toEqual(['about 9', '6.8']);
  expect(firstChange(blocks)).toBe(1);
  expect(changedWords(blocks)).toEqual({ added: 3, removed: 2, places: 2 });
});

it('marks nothing where there is nothing to compare with', () => {
  const blocks = excerpt('one\ntwo');
  expect([changedWords(blocks), firstChange(blocks)]).toEqual([{ added: 0, removed: 0, places: 0 }, 0]);
});
