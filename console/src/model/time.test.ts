import { expect, it } from 'vitest';
import { ago, clock, date, moment, since, span, took } from './time';

const now = new Date(2026, 6, 14, 11, 58, 0);
const before = (minutes: number) => new Date(now.getTime() - minutes * 60_000);

it('says how long ago in the shortest true words', () => {
  const said = [0.5, 16, 65, 140, 26 * 60, 5 * 24 * 60].map((minutes) => ago(before(minutes), now));
  expect(said).toEqual(['now', '16 min', '1 h 05', '2 h 20', '26 h', '5 d']);
  expect(ago(new Date(now.getTime() + 5000), now)).toBe('now');
  expect([since(before(16), now), since(now, now)]).toEqual(['16 min ago', 'just now']);
  expect(span(11 * 3600_000)).toBe('11 h');
});

it('says how long something took', () => {
  expect([3100, 41_000, 124_000, 3_900_000].map(took)).toEqual(['3.1 s', '41 s', '2 min 04', '1 h 05']);
});

it('gives the clock within a day and the date beyond', () => {
  expect(clock(before(16))).toBe('11:42');
  expect(moment(before(16), now)).toBe('11:42');
  expect(moment(new Date(2026, 6, 9, 9, 5), now)).toBe('9 July, 09:05');
  expect(date(new Date(2025, 0, 2), now)).toBe('2 January 2025');
});
