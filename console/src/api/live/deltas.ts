/**
 * What agents are saying right now, by execution and speaker. It is kept nowhere else: the whole message follows
 * in the conversation, and then this is forgotten.
 */
import { useSyncExternalStore } from 'react';

export interface Speaking {
  agent: string;
  text: string;
  thinking: string;
}

export interface Delta {
  execution_id: string;
  agent_name: string;
  text: string;
  thinking: boolean;
  /** What was heard so far of this message is void. */
  again: boolean;
}

const NOBODY: readonly Speaking[] = [];

export class Deltas {
  #by = new Map<string, readonly Speaking[]>();
  #listeners = new Set<() => void>();

  hear(delta: Delta): void {
    const before = this.#by.get(delta.execution_id) ?? NOBODY;
    const known = before.find((one) => one.agent === delta.agent_name);
    const base = known && !delta.again ? known : { agent: delta.agent_name, text: '', thinking: '' };
    const next = delta.thinking ? { ...base, thinking: base.thinking + delta.text } : { ...base, text: base.text + delta.text };
    const all = known ? before.map((one) => (one === known ? next : one)) : [...before, next];
    this.#set(delta.execution_id, all);
  }

  /** A whole message of this execution is in the log now; others who speak there at the same time go on. */
  forget(execution: string, agent?: unknown): void {
    const before = this.#by.get(execution);
    if (!before) return;
    const others = typeof agent === 'string' ? before.filter((one) => one.agent !== agent) : NOBODY;
    if (others.length < before.length) this.#set(execution, others.length > 0 ? others : undefined);
  }

  clear(): void {
    for (const execution of [...this.#by.keys()]) this.forget(execution);
  }

  of(execution: string): readonly Speaking[] {
    return this.#by.get(execution) ?? NOBODY;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #set(execution: string, all: readonly Speaking[] | undefined): void {
    if (all) this.#by.set(execution, all);
    else this.#by.delete(execution);
    for (const listener of this.#listeners) listener();
  }
}

export const deltas = new Deltas();

/** Who is speaking in an execution, and what was heard so far. */
export function useSpeaking(execution: string): readonly Speaking[] {
  return useSyncExternalStore(deltas.subscribe, () => deltas.of(execution));
}
