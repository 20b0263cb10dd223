/**
 * The keys of what is on the screen. Who draws an action registers its key; the hint bar, the sheet of all keys and
 * the palette read from here. Single letters are off while somebody types, and can be turned off altogether.
 */
import { useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'react';

export interface Shortcut {
  /** `a`, `g i`, `mod+enter`, `shift+y`, `escape`. */
  keys: string;
  /** What it does, as a short verb: it stands in the hint bar and on the sheet. */
  label: string;
  /** What the sheet and the palette say instead, where there is more to say. */
  long?: string | undefined;
  group: string;
  /** Whether the hint bar shows it, and where: lower numbers come first. */
  hint: boolean;
  order: number;
  /** Whether it goes before every other action with the same key. */
  over: boolean;
  /** Whether it goes on while the key is held: for moving alone, never for what decides or changes something. */
  repeats: boolean;
  run: () => void;
}

export interface Options {
  /** Where the sheet lists it; "On this screen" by default. */
  group?: string;
  hint?: boolean;
  /** A short word for the hint bar, where the label is longer. */
  as?: string | undefined;
  long?: string | undefined;
  /** Its place in the hint bar; 50 where nothing is said. */
  order?: number;
  over?: boolean;
  repeats?: boolean;
}

let registered: readonly Shortcut[] = [];
const listeners = new Set<() => void>();

function change(next: readonly Shortcut[]): void {
  registered = next;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useShortcuts = (): readonly Shortcut[] => useSyncExternalStore(subscribe, () => registered);

/** The action that a key does: what goes before everything, else what the screen says, else what is done anywhere. */
export function acting(all: readonly Shortcut[], keys: string): Shortcut | undefined {
  const same = all.filter((one) => one.keys === keys);
  return same.findLast((one) => one.over) ?? same.findLast((one) => one.group !== 'Anywhere') ?? same.at(-1);
}

/** Registers a key while the component is on the page; without `keys`, nothing. */
export function useShortcut(keys: string | undefined, label: string, run: () => void, options: Options = {}): void {
  const latest = useRef(run);
  useLayoutEffect(() => {
    latest.current = run;
  });
  const { group = 'On this screen', hint = true, as: shown = label, long, order = 50, over = false, repeats = false } = options;
  // Before anything is drawn: what can be seen can be pressed.
  useLayoutEffect(() => {
    if (!keys) return;
    const shortcut: Shortcut = { keys, label: shown, long, group, hint, order, over, repeats, run: () => latest.current() };
    change([...registered, shortcut]);
    return () => change(registered.filter((other) => other !== shortcut));
  }, [keys, shown, long, group, hint, order, over, repeats]);
}

const LETTERS_OFF = 'holdpoint.letters';

export const lettersOn = () => localStorage.getItem(LETTERS_OFF) !== 'off';
export const setLetters = (on: boolean) => localStorage.setItem(LETTERS_OFF, on ? 'on' : 'off');

/** How long the second key of two may take. */
const SECOND = 900;
const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform);

/** The name of a pressed key, as shortcuts write it. */
export function pressed(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>): string {
  const key = event.key.length === 1 ? event.key : event.key.toLowerCase();
  const parts: string[] = [];
  if (event.metaKey || event.ctrlKey) parts.push('mod');
  if (event.altKey) parts.push('alt');
  const letter = /^[a-z]$/i.test(key);
  if (event.shiftKey && (letter || key.length > 1)) parts.push('shift');
  parts.push(letter ? key.toLowerCase() : key);
  return parts.join('+');
}

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && !/^(checkbox|radio|button)$/.test((target as HTMLInputElement).type)));

/** Listens to the keyboard, once for the whole console. */
export function useKeyboard(): void {
  useEffect(() => {
    let first: { key: string; at: number } | undefined;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      const key = pressed(event);
      const single = !key.startsWith('mod') && !key.startsWith('alt');
      if (single && key !== 'escape' && (typing(event.target) || !lettersOn())) return;
      // A dialog has the keyboard for itself, except for what it registered.
      const open = document.querySelector('[role=dialog]') !== null;
      // The first press leaves what is being written; what was written stays.
      if (key === 'escape' && !open && typing(event.target)) {
        event.preventDefault();
        (event.target as HTMLElement).blur();
        return;
      }
      // Enter and space belong to the control that has the focus.
      if ((key === 'enter' || key === ' ') && event.target instanceof Element && event.target.closest('a,button,summary,[role=menuitem]')) return;
      const two = first && Date.now() - first.at < SECOND ? `${first.key} ${key}` : undefined;
      first = undefined;
      const find = (wanted: string) => acting(open ? registered.filter((one) => one.group === 'In this dialog') : registered, wanted);
      const found = (two && find(two)) || find(key);
      if (found) {
        event.preventDefault();
        if (!event.repeat || found.repeats) found.run();
      } else if (registered.some((one) => one.keys.startsWith(`${key} `))) {
        first = { key, at: Date.now() };
      }
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

export { isMac };

/** Puts a verb without a key into the palette while the component is on the page. */
export function useVerb(label: string, run: () => void, group = 'On this screen'): void {
  const latest = useRef(run);
  useLayoutEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    const verb: Shortcut = { keys: '', label, group, hint: false, order: 50, over: false, repeats: false, run: () => latest.current() };
    change([...registered, verb]);
    return () => change(registered.filter((other) => other !== verb));
  }, [label, group]);
}
