import { expect, it } from 'vitest';
import { ariaKeys } from './Button';
import { caps } from './Keys';
import { pressed } from './shortcuts';

const key = (name: string, more = {}) => ({ key: name, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...more });

it('names keys as shortcuts write them', () => {
  expect(pressed(key('a'))).toBe('a');
  expect(pressed(key('Y', { shiftKey: true }))).toBe('shift+y');
  expect(pressed(key('?', { shiftKey: true }))).toBe('?');
  expect(pressed(key('k', { metaKey: true }))).toBe('mod+k');
  expect(pressed(key('Enter', { ctrlKey: true }))).toBe('mod+enter');
  expect(pressed(key('ArrowUp', { altKey: true }))).toBe('alt+arrowup');
});

it('draws and announces them', () => {
  expect([caps('mod+k'), caps('g i'), caps('escape'), caps('alt+arrowup'), caps('a')]).toEqual([['⌘K'], ['g', 'i'], ['esc'], ['⌥↑'], ['a']]);
  expect(ariaKeys('mod+enter')).toBe('Control+Enter');
});
