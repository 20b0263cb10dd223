import { expect, it } from 'vitest';
import { extended, joined, tail } from './tail';

const id = (one: string) => one;

it('turns a page round, and puts earlier ones in front of it', () => {
  const last = tail({ items: ['e', 'd'], next_cursor: 'before d' });
  expect(last).toEqual({ items: ['d', 'e'], earlier: 'before d' });
  const more = extended(last, 'before d', { items: ['c', 'b'], next_cursor: 'before b' });
  expect(more).toEqual({ items: ['b', 'c', 'd', 'e'], earlier: 'before b' });
  // The same page that comes twice stands there once.
  expect(extended(more, 'before d', { items: ['c', 'b'], next_cursor: 'before b' })).toBe(more);
  expect(extended(more, 'before b', { items: ['a'], next_cursor: null })).toEqual({ items: ['a', 'b', 'c', 'd', 'e'], earlier: null });
});

it('keeps what was loaded when the newest items are asked for again', () => {
  const before = { items: ['a', 'b', 'c', 'd'], earlier: 'before a' };
  expect(joined(before, { items: ['c', 'd', 'e'], earlier: 'before c' }, id)).toEqual({ items: ['a', 'b', 'c', 'd', 'e'], earlier: 'before a' });
  // Nobody knows what stands between: the reader asks for it.
  const far = { items: ['x', 'y'], earlier: 'before x' };
  expect(joined(before, far, id)).toBe(far);
  expect(joined(undefined, far, id)).toBe(far);
  const gone = { items: [], earlier: null };
  expect(joined(before, gone, id)).toBe(gone);
});
