/**
 * The one live connection. It follows the log from a position, so that a dropped connection goes on where it was
 * cut, and nothing is missed or asked twice.
 */
import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { signedOut } from '../client';
import type { Event } from '../types';
import { again } from './again';
import { type Delta, deltas } from './deltas';
import { hear } from './heard';
import { Parser } from './parse';
import { touched } from './touched';

export interface Connection {
  state: 'connecting' | 'live' | 'lost';
  /** The last position of the log that was seen. */
  seq: number | undefined;
  /** When something was last heard. */
  heard: Date | undefined;
}

/** The server says something every 15 seconds; after three times that it is gone. */
const SILENCE = 45_000;
const WAITS = [250, 1000, 2000, 5000];
/** Many events at once ask again once. */
const GATHER = 40;

let connection: Connection = { state: 'connecting', seq: undefined, heard: undefined };
const listeners = new Set<() => void>();
const watchers = new Set<(event: Event) => void>();

function set(change: Partial<Connection>): void {
  connection = { ...connection, ...change };
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => connection);
}

/** Called with every event as it comes. */
export function onEvent(watcher: (event: Event) => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Learns where the log ends. Whatever is asked for afterwards and whatever follows from there leave no gap. */
export async function begin(): Promise<void> {
  // Without an answer the connection asks again, and then everything else is asked again as well.
  connection.seq ??= await head().catch(() => undefined);
}

/** Follows the log until the returned function is called. */
export function follow(queries: QueryClient): () => void {
  const stop = new AbortController();
  void run(queries, stop.signal);
  return () => stop.abort();
}

async function run(queries: QueryClient, stop: AbortSignal): Promise<void> {
  const gather = gatherer(queries);
  for (let failures = 0; !stop.aborted; ) {
    const began = Date.now();
    const status = await listen(queries, gather, stop);
    if (stop.aborted) return;
    // What was half said is not said on: the whole message comes from the log.
    deltas.clear();
    failures = Date.now() - began > 10_000 ? 0 : failures + 1;
    set({ state: 'lost' });
    // The session is over: the page asks for a new one.
    if (status === 401) return signedOut();
    await pause(WAITS[Math.min(failures, WAITS.length - 1)] ?? 5000, stop);
  }
}

async function listen(queries: QueryClient, gather: (event: Event) => void, stop: AbortSignal): Promise<number> {
  const silence = new AbortController();
  const signal = AbortSignal.any([stop, silence.signal]);
  let timer = setTimeout(() => silence.abort(), SILENCE);
  try {
    const late = connection.seq === undefined;
    connection.seq ??= await head(signal);
    const after = connection.seq === undefined ? '' : `?after=${connection.seq}`;
    const answer = await fetch(`/api/stream${after}`, { headers: { accept: 'text/event-stream' }, signal, credentials: 'same-origin' });
    if (!answer.ok || !answer.body) return answer.status;
    // Without a position from before, nothing says what was missed meanwhile.
    if (late) again(queries, []);
    else if (connection.state === 'lost') void queries.invalidateQueries({ predicate: (query) => query.state.status === 'error' });
    set({ state: 'live', heard: new Date() });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new Parser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return 0;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE);
      for (const sent of parser.push(value)) {
        if (sent.type === 'execution.delta') deltas.hear(JSON.parse(sent.data) as Delta);
        else gather(JSON.parse(sent.data) as Event);
      }
      if (connection.state !== 'live' || !connection.heard || Date.now() - connection.heard.getTime() > 10_000) set({ state: 'live', heard: new Date() });
    }
  } catch {
    return 0;
  } finally {
    clearTimeout(timer);
  }
}

/** Where the log ends now. */
async function head(signal?: AbortSignal): Promise<number | undefined> {
  const answer = await fetch('/api/events?limit=1', { signal: signal ?? null, credentials: 'same-origin' });
  if (!answer.ok) return undefined;
  const page = (await answer.json()) as { items: Event[] };
  return page.items[0]?.seq;
}

function gatherer(queries: QueryClient): (event: Event) => void {
  let waiting: Event[] = [];
  const flush = () => {
    const events = waiting;
    waiting = [];
    const seen = new Map<string, readonly unknown[]>();
    for (const event of events) {
      for (const key of touched(event)) seen.set(JSON.stringify(key), key);
      for (const watcher of watchers) watcher(event);
    }
    for (const key of seen.values()) again(queries, key);
    const last = events.at(-1);
    if (last) set({ seq: last.seq, heard: new Date() });
  };
  return (event) => {
    // At once: what is said next must not be taken for what was said before, and nothing stands twice or not at all.
    hear(queries, event);
    if (event.event_type === 'execution.message' && event.execution_id && event.metadata.role === 'assistant') deltas.forget(event.execution_id, event.metadata.agent);
    if (waiting.length === 0) setTimeout(flush, GATHER);
    waiting.push(event);
  };
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
