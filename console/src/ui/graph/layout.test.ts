import { expect, it } from 'vitest';
import { arrange, neighbour } from './layout';

const places = arrange(['a', 'b', 'c', 'd'], [{ from: 'a', to: 'b' }, { from: 'b', to: 'c' }, { from: 'b', to: 'd' }, { from: 'b', to: 'gone' }]);

it('stands what comes later further on', () => {
  const x = (id: string) => places.get(id)?.x ?? 0;
  expect(x('a') < x('b') && x('b') < x('c') && x('c') === x('d')).toBe(true);
  const down = arrange(['a', 'b'], [{ from: 'a', to: 'b' }], 'TB');
  expect((down.get('a')?.y ?? 0) < (down.get('b')?.y ?? 0)).toBe(true);
});

it('walks by keys, and stays where nothing lies', () => {
  expect([neighbour(places, 'a', 'right'), neighbour(places, 'b', 'left'), neighbour(places, 'a', 'left')]).toEqual(['b', 'a', undefined]);
  const [upper, lower] = ['c', 'd'].sort((a, b) => (places.get(a)?.y ?? 0) - (places.get(b)?.y ?? 0)) as [string, string];
  expect([neighbour(places, upper, 'down'), neighbour(places, lower, 'up')]).toEqual([lower, upper]);
  expect(neighbour(places, 'nobody', 'up')).toBe('a');
});
