/** What was written and not sent: it is still there when the reader comes back to the question in this window. */
import { useState } from 'react';

const kept = new Map<string, unknown>();

/** State that outlives the screen, under a name. */
export function useDraft<Value>(name: string, initial: Value): [Value, (next: Value | ((now: Value) => Value)) => void] {
  const [state, setState] = useState<{ name: string; value: Value }>({ name, value: (kept.get(name) as Value | undefined) ?? initial });
  const value = state.name === name ? state.value : ((kept.get(name) as Value | undefined) ?? initial);
  const set = (next: Value | ((now: Value) => Value)) => {
    const now = (kept.get(name) as Value | undefined) ?? initial;
    const made = typeof next === 'function' ? (next as (now: Value) => Value)(now) : next;
    kept.set(name, made);
    setState({ name, value: made });
  };
  return [value, set];
}
