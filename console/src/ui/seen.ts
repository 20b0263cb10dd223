/** What of each question's outputs was on the screen of this window. New content of a question begins with nothing seen. */
import { useSyncExternalStore } from 'react';
import { farther, type Seen, type Sight } from '@/model/seen';

const NOTHING: Seen = {};
const all = new Map<string, Seen>();
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Names the content that a question is about: its digest, so that other content has another name. */
export const contentOf = (execution: string | null | undefined, waiting: { digest?: string | null; gate_id?: string | null } | undefined): string | undefined =>
  execution && waiting ? `${execution} ${waiting.digest ?? waiting.gate_id ?? ''}` : undefined;

export const useSeen = (content: string | undefined): Seen => useSyncExternalStore(subscribe, () => (content === undefined ? NOTHING : (all.get(content) ?? NOTHING)));

export function see(content: string, record: string, sight: Sight): void {
  const seen = all.get(content) ?? NOTHING;
  const next = farther(seen[record], sight);
  if (seen[record] === next) return;
  all.set(content, { ...seen, [record]: next });
  for (const listener of listeners) listener();
}
