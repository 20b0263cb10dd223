import { expect, it } from 'vitest';
import { cover, covered, covers, editOf, farther, type Range, unseen, withEdits } from './seen';

const output = (name: string) => ({ artifact_record_id: `${name}-1`, artifact_name: name, format: 'md' });
const [plan, sums, table, note] = ['plan', 'sums', 'table', 'note'].map(output) as [ReturnType<typeof output>, ReturnType<typeof output>, ReturnType<typeof output>, ReturnType<typeof output>];
const add = (...ranges: Range[]) => ranges.reduce<Range[]>((all, one) => cover(all, one), []);

it('joins what was on the screen', () => {
  expect(add([0, 100], [80, 200])).toEqual([[0, 200]]);
  expect(add([0, 100], [300, 400])).toEqual([[0, 100], [300, 400]]);
  expect(add([0, 100], [300, 400], [100, 300])).toEqual([[0, 400]]);
  expect(add([0, 0])).toEqual([]);
});

it('takes nothing for seen that was jumped over', () => {
  expect(covered(add([0, 400], [600, 1000]), 1000)).toBe(false);
  expect(covered(add([0, 400], [350, 1000]), 1000)).toBe(true);
  expect(covered(add([0, 990]), 1000)).toBe(false);
  expect(covered(add([0.4, 999.2]), 1000)).toBe(true);
  expect(covered([], 0)).toBe(true);
});

it('keeps what was seen whole', () => {
  expect(farther('whole', 'folded')).toBe('whole');
  expect(farther('folded', 'scroll')).toBe('scroll');
  expect(farther(undefined, 'scroll')).toBe('scroll');
});

it('says what has not been seen yet', () => {
  const all = [plan, sums, table, note];
  expect(unseen(all, { 'plan-1': 'whole' })).toBe('3 of 4 outputs have not been opened.');
  expect(unseen([plan], {})).toBe('plan.md has not been on the screen yet.');
  expect(unseen([plan], { 'plan-1': 'scroll' })).toBe('Not all of plan.md has been on the screen: scroll through it.');
  expect(unseen([plan, sums], { 'plan-1': 'whole', 'sums-1': 'folded' })).toBe('Lines of sums.md are folded: see all of it under Rendered or Raw.');
  expect(unseen([plan, sums], { 'plan-1': 'whole', 'sums-1': 'whole' })).toBeUndefined();
  expect(unseen([], {})).toBeUndefined();
});

it('says what an answer covers', () => {
  const all = [plan, sums, table, note];
  expect(covers(all, { 'plan-1': 'whole', 'sums-1': 'scroll' })).toBe('Covers 4 outputs, 1 of them seen whole');
  expect(covers([plan], { 'plan-1': 'whole' })).toBe('Covers plan.md, seen whole');
  expect(covers([plan], {})).toBe('Covers plan.md, not seen whole yet');
  expect(covers([plan], { 'plan-1': 'whole' }, ['plan'])).toBe('Approves your edit of plan.md; edited from');
  expect(covers([plan, sums], { 'sums-1': 'whole' }, ['plan'])).toBe('Approves your edit of plan.md, and 1 output as shown, seen whole; edited from');
  expect(covers([], {})).toBe('Covers the question as it is asked here');
});

it('takes the edit for seen, and not what it replaces', () => {
  const seen = { 'plan-1': 'scroll', [editOf('plan-1')]: 'whole' } as const;
  expect(unseen([plan], withEdits(seen, [plan], ['plan']))).toBeUndefined();
  expect(unseen([plan], withEdits(seen, [plan], []))).toBe('Not all of plan.md has been on the screen: scroll through it.');
  expect(unseen([plan], withEdits({ 'plan-1': 'whole', [editOf('plan-1')]: 'scroll' }, [plan], ['plan']))).toBeUndefined();
});
