import { expect, it } from 'vitest';
import { isWork, placeOf } from './places';

it('gives work the room, and shows which place it belongs to', () => {
  expect(['/review/x', '/runs/x', '/runs/x/rollback', '/pipelines/x/edit', '/compare'].every(isWork)).toBe(true);
  expect(['/inbox', '/pipelines', '/pipelines/x', '/sessions', '/events'].some(isWork)).toBe(false);
  expect(['/review/x', '/runs/x', '/pipelines/x/history', '/events'].map(placeOf)).toEqual(['/inbox', '/pipelines', '/pipelines', '/events']);
});
