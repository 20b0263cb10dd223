/** One toast at a time, for things done: what happened, and how to undo it. Errors stand where they happened. */
import { useEffect, useState, useSyncExternalStore } from 'react';
import { StatusMark } from './Icon';
import { Keys } from './Keys';
import { useShortcut } from './shortcuts';

export interface Said {
  id: number;
  text: string;
  undo?: (() => void) | undefined;
}

let said: Said | undefined;
let next = 1;
const listeners = new Set<() => void>();
const set = (now: Said | undefined) => {
  said = now;
  for (const listener of listeners) listener();
};
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Says what was done. `undo` stays on `u` for as long as the toast stands. */
export function toast(text: string, undo?: () => void): void {
  set({ id: next++, text, undo });
}

const STANDS = 8000;

export function Toaster() {
  const shown = useSyncExternalStore(subscribe, () => said);
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (!shown || held) return;
    const timer = setTimeout(() => set(undefined), STANDS);
    return () => clearTimeout(timer);
  }, [shown, held]);
  const undo = shown?.undo;
  const act = () => {
    set(undefined);
    undo?.();
  };
  useShortcut(undo ? 'u' : undefined, 'undo', act, { group: 'Anywhere' });
  return (
    <div aria-live="polite" className="pointer-events-none absolute bottom-4 left-5 z-30 max-w-[calc(100%-40px)] max-tablet:right-4 max-tablet:left-4">
      {shown && (
        <div
          key={shown.id}
          onPointerEnter={() => setHeld(true)}
          onPointerLeave={() => setHeld(false)}
          onFocus={() => setHeld(true)}
          onBlur={() => setHeld(false)}
          className="pointer-events-auto flex min-h-[38px] items-center gap-[10px] rounded-3 bg-ink py-1 pr-2 pl-3 font-medium text-surface shadow-2 forced-colors:border"
        >
          <StatusMark icon="passed" size={14} />
          <span className="min-w-0 flex-1">{shown.text}</span>
          {undo && (
            <button type="button" onClick={act} className="inline-flex h-6 items-center gap-1.5 rounded-person bg-on-ink-wash px-[7px] font-name focus-visible:outline-surface">
              Undo <Keys keys="u" onInk />
            </button>
          )}
        </div>
      )}
    </div>
  );
}
