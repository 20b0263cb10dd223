import { expect, it } from 'vitest';
import { ariaKeys } from './Button';
import { caps } from './Keys';
import { acting, pressed, type Shortcut } from './shortcuts';

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
  const drawn = (mac: boolean) => ['mod+k', 'g i', 'escape', 'alt+arrowup', 'a'].map((one) => caps(one, mac));
  expect(drawn(true)).toEqual([['⌘K'], ['g', 'i'], ['esc'], ['⌥↑'], ['a']]);
  expect(drawn(false)).toEqual([['Ctrl+K'], ['g', 'i'], ['esc'], ['Alt+↑'], ['a']]);
  expect(ariaKeys('mod+enter')).toBe('Control+Enter');
});

it('gives a key to the toast that shows it, else to the screen, else to what is done anywhere', () => {
  const one = (label: string, group: string, over = false): Shortcut => ({ keys: 'u', label, group, hint: true, order: 50, over, repeats: false, run: () => {} });
  const [screen, anywhere, standing] = [one('undo the last', 'On this screen'), one('undo', 'Anywhere'), one('undo', 'Anywhere', true)];
  expect(acting([anywhere, screen], 'u')).toBe(screen);
  expect(acting([screen, anywhere], 'u')).toBe(screen);
  expect(acting([standing, screen], 'u')).toBe(standing);
  expect(acting([anywhere], 'u')).toBe(anywhere);
  expect(acting([anywhere], 'x')).toBeUndefined();
});
