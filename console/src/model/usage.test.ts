import { expect, it } from 'vitest';
import { bars, begins, figure, type Group, telling } from './usage';

const group = (key: string | null, cost: number, calls = 1, seconds = 1): Group => ({ key, name: null, seconds, usage: { calls, input_tokens: 10, output_tokens: 5, cache_read_tokens: 0, cache_write_tokens: 0, cost_usd: cost } });

it('has the longest first, and lengths of it', () => {
  expect(bars([group('a', 1), group('b', 4)], 'model', 'cost').map((bar) => [bar.name, bar.length, bar.figure])).toEqual([
    ['b', 1, '$4.00'],
    ['a', 0.25, '$1.00'],
  ]);
});
it('has days in their order, and a name for what has none', () => {
  expect(bars([group('2026-07-08', 9), group('2026-07-09', 1)], 'day', 'cost').map((bar) => bar.key)).toEqual(['2026-07-09', '2026-07-08']);
  expect(bars([group(null, 0)], 'agent', 'tokens')).toMatchObject([{ name: 'No agent by name', length: 1, figure: '15 tok' }]);
});
it('measures nothing as nothing', () => {
  expect(bars([group('a', 0)], 'model', 'cost')[0]?.length).toBe(0);
  expect(figure(61, 'time')).toBe('1 min 01');
});
it('chooses the measure that tells something', () => {
  const total = group('', 0).usage;
  expect(telling({ total: { ...total, cost_usd: 2 }, seconds: 0, items: [] })).toBe('cost');
  expect(telling({ total, seconds: 0, items: [group('a', 0)] })).toBe('calls');
  expect(telling({ total, seconds: 0, items: [group('a', 0, 0)] })).toBe('time');
});
it('begins on the hour', () => {
  expect(begins('7', new Date('2026-07-09T10:42:11Z'))).toBe('2026-07-02T10:00:00.000Z');
  expect(begins('all', new Date())).toBeUndefined();
});
