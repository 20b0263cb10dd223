import { expect, it } from 'vitest';
import { appeared, attempt, began, ended, fresh, type Guard, left, READING } from './guard';

/** A question has been on the screen since 0. */
const shown = appeared(fresh, 0);
const press = (guard: Guard, now: number, key?: string) => attempt(began(guard, now, key), now);

it('accepts a press that began when the question had been there for a moment', () => {
  expect(press(shown, READING, 'KeyA').refused).toBeUndefined();
  expect(press(shown, READING).refused).toBeUndefined();
});

it('refuses a press that began earlier, however late it decides', () => {
  expect(press(shown, READING - 1, 'KeyA').refused).toBe('early');
  expect(attempt(began(shown, 10), 5000).refused).toBe('early');
  expect(press(appeared(shown, 5000), 5100).refused).toBe('early');
});

it('counts the time anew for the next question, and for new content', () => {
  const first = press(shown, 1000, 'KeyA');
  expect(first.refused).toBeUndefined();
  const second = appeared(ended(first.guard, 'KeyA'), 1200);
  expect(press(second, 1650, 'KeyA').refused).toBe('early');
  expect(press(second, 1900, 'KeyA').refused).toBeUndefined();
});

it('lets a held key decide once', () => {
  const first = press(shown, 1000, 'KeyA').guard;
  const next = appeared(first, 1100);
  expect(attempt(next, 9000).refused).toBe('held');
  expect(attempt(first, 1001).refused).toBe('held');
  // Neither another key nor a click decides until it is released.
  expect(press(next, 9000, 'Enter').refused).toBe('held');
  expect(press(next, 9000).refused).toBe('held');
  expect(press(ended(next, 'KeyA'), 9000).refused).toBeUndefined();
});

it('does not take a modifier that stays down for the key of a decision', () => {
  const down = began(shown, 900, 'ControlLeft');
  const first = press(down, 1000, 'Enter').guard;
  const next = appeared(ended(first, 'Enter'), 1100);
  expect(press(next, 1900, 'Enter').refused).toBeUndefined();
});

it('knows keys as released whose release is not reported', () => {
  const first = appeared(press(shown, 1000, 'Enter').guard, 1100);
  expect(press(ended(first, 'MetaLeft'), 2000).refused).toBeUndefined();
  expect(press(left(first), 2000).refused).toBeUndefined();
  expect(press(first, 2000, 'Enter').refused).toBeUndefined();
});

it('lets a click without a press decide, as a screen reader does, and holds it to the same time', () => {
  expect(attempt(shown, READING - 1).refused).toBe('early');
  expect(attempt(shown, READING).refused).toBeUndefined();
  const over = ended(press(shown, 1000).guard);
  expect(attempt(appeared(over, 1100), 2000).refused).toBeUndefined();
});
