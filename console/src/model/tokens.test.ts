import { expect, it } from 'vitest';
import { isOver, scope, seconds, tokenCommand } from './tokens';

it('says what a token is good for', () => {
  const names = new Map([['p1', 'Brief']]);
  expect([scope([], names), scope(['p1'], names), scope(['p1', 'p2'], names), scope(['p3'], names)]).toEqual(['all pipelines', 'Brief', '2 pipelines', '1 pipeline']);
});
it('says how long', () => {
  expect([seconds('7'), seconds('')]).toEqual([604_800, undefined]);
  const now = new Date('2026-07-09T10:00:00Z');
  expect([isOver({ expires_at: null }, now), isOver({ expires_at: '2026-07-09T09:00:00Z' }, now), isOver({ expires_at: '2026-07-09T11:00:00Z' }, now)]).toEqual([false, true, false]);
});
it('is the same as a command', () => {
  expect(tokenCommand("Jonas O'Kafor", 'approver', '30', false, ['p1'])).toBe("holdpoint token create 'Jonas O'\\''Kafor' --role approver --days 30 --pipeline p1");
  expect(tokenCommand('ci', 'operator', '', true, [])).toBe('holdpoint token create ci --role operator --agent');
});
