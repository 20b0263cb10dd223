/** The guard of all decisions: it watches every key and pointer of the window, and the question that is on the screen. */
import { useCallback, useEffect, useState } from 'react';
import { appeared, attempt, began, ended, fresh, type Guard, HINTS, left, READING } from '@/model/guard';

let guard: Guard = fresh;

/** Listens once for the whole console, before anything else does. */
export function usePresses(): void {
  useEffect(() => {
    const down = (event: KeyboardEvent) => {
      if (!event.repeat) guard = began(guard, performance.now(), event.code);
    };
    const up = (event: KeyboardEvent) => void (guard = ended(guard, event.code));
    const pressed = () => void (guard = began(guard, performance.now()));
    const released = () => void (guard = ended(guard));
    const gone = () => void (guard = left(guard));
    // What came while nobody looked appears when somebody does.
    const back = () => {
      if (document.visibilityState === 'visible') guard = appeared(guard, performance.now());
    };
    const all = { capture: true };
    window.addEventListener('keydown', down, all);
    window.addEventListener('keyup', up, all);
    window.addEventListener('pointerdown', pressed, all);
    window.addEventListener('pointerup', released, all);
    window.addEventListener('pointercancel', released, all);
    window.addEventListener('blur', gone);
    document.addEventListener('visibilitychange', back);
    return () => {
      window.removeEventListener('keydown', down, all);
      window.removeEventListener('keyup', up, all);
      window.removeEventListener('pointerdown', pressed, all);
      window.removeEventListener('pointerup', released, all);
      window.removeEventListener('pointercancel', released, all);
      window.removeEventListener('blur', gone);
      document.removeEventListener('visibilitychange', back);
    };
  }, []);
}

export interface Guarded {
  /** Whether the question has been on the screen long enough. */
  ready: boolean;
  /** Why the last press did not decide. */
  hint: string | undefined;
  /** Whether the present press may decide; each press is asked about once. */
  allows: () => boolean;
}

/** How long a hint stays. */
const STAYS = 3000;

/** Guards a question; `question` names it and the content that is shown of it. Without one nothing is asked. */
export function useGuard(question: string | undefined): Guarded {
  const [since, setSince] = useState<string>();
  const [hint, setHint] = useState<{ about: string | undefined; text: string }>();
  useEffect(() => {
    if (question === undefined) return;
    guard = appeared(guard, performance.now());
    // A little later than the rule, so that a press that waits for it is never refused.
    const timer = setTimeout(() => setSince(question), READING + 20);
    return () => clearTimeout(timer);
  }, [question]);
  useEffect(() => {
    if (!hint) return;
    const timer = setTimeout(() => setHint(undefined), STAYS);
    return () => clearTimeout(timer);
  }, [hint]);
  const allows = useCallback(() => {
    const { guard: next, refused } = attempt(guard, performance.now());
    guard = next;
    setHint(refused && { about: question, text: HINTS[refused] });
    return refused === undefined;
  }, [question]);
  return { ready: question !== undefined && since === question, hint: hint && hint.about === question ? hint.text : undefined, allows };
}
