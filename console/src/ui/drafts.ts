/** What was written and not sent: it is still there when the reader comes back to the question in this window, also after a reload. */
import { useState } from 'react';

const kept = new Map<string, unknown>();
/** Of this window only, and gone with it. */
const PLACE = 'holdpoint.draft ';

function read(name: string): unknown {
  if (kept.has(name)) return kept.get(name);
  try {
    const text = sessionStorage.getItem(PLACE + name);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function write(name: string, value: unknown, empty: boolean): void {
  kept.set(name, value);
  try {
    // A file cannot be kept: it is chosen again.
    if (empty) sessionStorage.removeItem(PLACE + name);
    else sessionStorage.setItem(PLACE + name, JSON.stringify(value, (_, one: unknown) => (one instanceof File ? undefined : one)));
  } catch {
    // Without room it stays in the page alone.
  }
}

/** State that outlives the screen, under a name. */
export function useDraft<Value>(name: string, initial: Value): [Value, (next: Value | ((now: Value) => Value)) => void] {
  const [state, setState] = useState<{ name: string; value: Value }>(() => ({ name, value: (read(name) as Value | undefined) ?? initial }));
  const value = state.name === name ? state.value : ((read(name) as Value | undefined) ?? initial);
  const set = (next: Value | ((now: Value) => Value)) => {
    const now = (read(name) as Value | undefined) ?? initial;
    const made = typeof next === 'function' ? (next as (now: Value) => Value)(now) : next;
    write(name, made, JSON.stringify(made) === JSON.stringify(initial));
    setState({ name, value: made });
  };
  return [value, set];
}
