/**
 * When a press may decide. A key, a button or a finger decides once, and only about a question that was on the screen for a moment
 * before the press began: what was meant for the question before never answers the next one.
 *
 * Pure: times are handed in, in milliseconds of any one clock.
 */

/** How long a question is on the screen before a press may answer it. */
export const READING = 700;

interface Press {
  began: number;
  /** It has decided, or was refused. */
  spent: boolean;
  /** It was released. */
  over: boolean;
}

export interface Guard {
  /** When the question on the screen appeared. */
  appeared: number;
  /** The press that began last. */
  press: Press | undefined;
  /** The keys that are down, by their place on the keyboard, without modifiers: those stay down between two decisions. */
  down: readonly string[];
  /** The keys that were down at the last decision and have not been released since. */
  held: readonly string[];
}

/** `early`: the question is too new. `held`: the press, or the key of the former decision, was not released. */
export type Refusal = 'early' | 'held';

export const HINTS: Record<Refusal, string> = { early: 'Read it first, then press again.', held: 'Release the key, then press again.' };

export const fresh: Guard = { appeared: Number.NEGATIVE_INFINITY, press: undefined, down: [], held: [] };

// By their place: the letter of a key may be another one when it is released, after Shift for example.
const isModifier = (code: string) => /^(Control|Meta|Alt|Shift)/.test(code);
const without = (keys: readonly string[], key: string) => keys.filter((one) => one !== key);

/** A question, or new content of it, is on the screen. */
export const appeared = (guard: Guard, now: number): Guard => ({ ...guard, appeared: now });

/** A pointer goes down, or a key; a repeat of a key that is held begins nothing. Keys on a screen have no code. */
export function began(guard: Guard, now: number, key = ''): Guard {
  const press = { began: now, spent: false, over: false };
  if (key === '') return { ...guard, press };
  if (isModifier(key)) return guard;
  // Down once more without a repeat: its release was not heard.
  return { ...guard, press, down: [...without(guard.down, key), key], held: without(guard.held, key) };
}

/** A pointer or a key was released. */
export function ended(guard: Guard, key = ''): Guard {
  const press = guard.press && { ...guard.press, over: true };
  // macOS reports no release of a key while Command is down.
  if (key.startsWith('Meta')) return { ...guard, press, down: [], held: [] };
  if (isModifier(key)) return guard;
  return { ...guard, press, down: without(guard.down, key), held: without(guard.held, key) };
}

/** The window lost the keyboard: nothing more is heard of what was down. */
export const left = (guard: Guard): Guard => ({ ...guard, press: guard.press && { ...guard.press, over: true }, down: [], held: [] });

/** The present press would decide. */
export function attempt(guard: Guard, now: number): { guard: Guard; refused: Refusal | undefined } {
  // A screen reader clicks without a press.
  const press = guard.press && !(guard.press.over && guard.press.spent) ? guard.press : { began: now, spent: false, over: true };
  const refused = press.spent || guard.held.length > 0 ? 'held' : press.began - guard.appeared < READING ? 'early' : undefined;
  return { refused, guard: { ...guard, press: { ...press, spent: true }, held: refused ? guard.held : guard.down } };
}
