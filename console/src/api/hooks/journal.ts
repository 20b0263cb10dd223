/** What happened in one run, all of it, and what its agents' tools answered. The live connection adds to both. */
import { skipToken, useQuery } from '@tanstack/react-query';
import { body, client } from '../client';
import { keys } from '../keys';
import type { Event, Execution } from '../types';

/** As many as one answer may have. */
const PAGE = 500;
/** Behind this many pages the oldest events of a run are left out. */
const PAGES = 20;

interface Wanted {
  event_type?: string;
  run_id?: string;
  since?: string;
  until?: string;
}

/** Oldest first, and whether older ones were left out. */
async function all(wanted: Wanted, keep: (event: Event) => boolean, signal: AbortSignal): Promise<{ items: Event[]; cut: boolean }> {
  const items: Event[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const answer = await body(client.GET('/api/events', { params: { query: { ...wanted, cursor, limit: PAGE } }, signal }));
    items.push(...answer.items.filter(keep));
    cursor = answer.next_cursor ?? undefined;
    if (!cursor) break;
  }
  return { items: items.reverse(), cut: cursor !== undefined };
}

export const useRunEvents = (run: string) => useQuery({ queryKey: keys.runEvents(run), queryFn: ({ signal }) => all({ run_id: run }, () => true, signal) });

/** A moment after, since a bound is left out itself. */
const after = (time: string | null | undefined) => (time ? new Date(new Date(time).getTime() + 1000).toISOString() : undefined);

/**
 * What tools answered in an execution. The list of events has them by time and not by execution, so the time of the
 * execution is asked for, and the rest is left out.
 */
export function useToolResults(execution: Pick<Execution, 'execution_id' | 'mode' | 'started_at' | 'completed_at' | 'failed_at'> | undefined) {
  const id = execution?.execution_id ?? '';
  const since = execution?.started_at ?? undefined;
  const wanted = execution?.mode === 'agentic' && since !== undefined;
  const until = after(execution?.completed_at ?? execution?.failed_at);
  return useQuery({
    queryKey: keys.tools(id),
    queryFn: wanted ? ({ signal }) => all({ event_type: 'execution.tool_result', since, until }, (event) => event.execution_id === id, signal) : skipToken,
  });
}

export type UsageBy = 'model' | 'agent' | 'checkpoint';

/** What a run cost, in groups. */
export const useRunUsage = (run: string, by: UsageBy) =>
  useQuery({
    queryKey: keys.usage(run, by),
    queryFn: () => body(client.GET('/api/usage', { params: { query: { run_id: run, group_by: by } } })),
  });
