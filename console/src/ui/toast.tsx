/**
 * One toast at a time, for things done: what happened, and how to undo it. Errors stand where they happened.
 *
 * `u` undoes the last act, on every screen, while its toast stands and for a minute afterwards; the sheet of keys and the palette
 * name it. There is one last act and no history of them: what is done next takes its place, also if that cannot be undone, so that `u`
 * never reaches behind what was done last. An undo is an act like any other: the server decides, and where it refuses, the reason
 * stands where the toast stood until it is closed, because the screen of the act may be gone.
 */
import { useEffect, useState, useSyncExternalStore } from 'react';
import { Problem } from '@/api/problem';
import { Button } from './Button';
import { StatusMark } from './Icon';
import { Keys } from './Keys';
import { ErrorBlock } from './states';
import { useShortcut } from './shortcuts';

/** Rejects with what stood in the way. */
export type Undo = () => unknown;

interface Last {
  text: string;
  undo: Undo;
}

interface State {
  said?: { id: number; text: string; undo: boolean } | undefined;
  last?: Last | undefined;
  /** An undo that was refused. */
  refused?: { text: string; problem: Problem } | undefined;
}

let state: State = {};
let next = 1;
const listeners = new Set<() => void>();
const set = (now: State) => {
  state = now;
  for (const listener of listeners) listener();
};
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Says what was done. `undo` takes it back; without one, it cannot be. */
export function toast(text: string, undo?: Undo): void {
  set({ said: { id: next++, text, undo: undo !== undefined }, last: undo && { text, undo } });
}

/** Says what was done that changed nothing: the act before it stays the last. */
export function tell(text: string): void {
  set({ ...state, said: { id: next++, text, undo: false } });
}

/** An act that the screen itself tells of, with its undo. */
export function did(text: string, undo: Undo): void {
  set({ last: { text, undo } });
}

const STANDS = 8000;
/** How long an act can be undone after its toast has gone. */
const LASTS = 60_000;

async function undoLast(): Promise<void> {
  const { last } = state;
  if (!last) return;
  set({});
  try {
    await last.undo();
  } catch (error) {
    const problem = Problem.of(error);
    // What was not heard can be tried again.
    set({ refused: { text: last.text, problem }, last: problem.passing ? last : undefined });
  }
}

/** "Approved Draft" within a sentence. */
const within = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

export function Toaster() {
  const { said, last, refused } = useSyncExternalStore(subscribe, () => state);
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (!said || held) return;
    const timer = setTimeout(() => set({ ...state, said: undefined }), STANDS);
    return () => clearTimeout(timer);
  }, [said, held]);
  useEffect(() => {
    if (!last || said) return;
    const timer = setTimeout(() => set({ ...state, last: undefined }), LASTS);
    return () => clearTimeout(timer);
  }, [said, last]);
  const act = () => void undoLast();
  // While the toast shows the key, the key is the toast's; afterwards a screen may have its own.
  useShortcut(last ? 'u' : undefined, 'undo', act, { group: 'Anywhere', order: 45, long: last && `undo: ${within(last.text)}`, over: said?.undo ?? false });
  return (
    <div aria-live="polite" style={{ bottom: 'calc(16px + var(--save-bar, 0px))' }} className="pointer-events-none absolute left-5 z-30 max-w-[calc(100%-40px)] max-tablet:right-4 max-tablet:left-4">
      {said && (
        <div
          key={said.id}
          onPointerEnter={() => setHeld(true)}
          onPointerLeave={() => setHeld(false)}
          onFocus={() => setHeld(true)}
          onBlur={() => setHeld(false)}
          className="pointer-events-auto flex min-h-[38px] items-center gap-[10px] rounded-3 bg-ink py-1 pr-2 pl-3 font-medium text-surface shadow-2 forced-colors:border"
        >
          <StatusMark icon="passed" size={14} />
          <span className="min-w-0 flex-1">{said.text}</span>
          {said.undo && (
            <button type="button" onClick={act} className="inline-flex h-6 items-center gap-1.5 rounded-person bg-on-ink-wash px-[7px] font-name max-tablet:h-11 max-tablet:px-3 focus-visible:outline-surface">
              Undo <Keys keys="u" onInk />
            </button>
          )}
        </div>
      )}
      {refused && (
        <ErrorBlock
          className="pointer-events-auto max-w-[480px] shadow-2"
          title={`Not undone: ${within(refused.text)}`}
          problem={refused.problem}
          action={
            <Button size="small" onClick={() => set({ ...state, refused: undefined })}>
              Close
            </Button>
          }
        />
      )}
    </div>
  );
}
