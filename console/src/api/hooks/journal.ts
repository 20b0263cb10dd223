/** What happened in one run, all of it, and what its agents' tools answered. The live connection adds to both. */
import { skipToken, useQuery } from '@tanstack/react-query';
import { body, client } from '../client';
import { keys } from '../keys';
import type { Event, Execution } from '../types';

/** As many as one answer may have. */
const PAGE = 500;
/** Behind this many pages the oldest events of a run are left out. */
const PAGES = 20;

/** What happens in a run. What is said in it is a list of its own, and may be far longer. */
const HAPPENINGS = [
  'run.created,run.started,run.pause_requested,run.paused,run.resumed,run.completed,run.failed,run.aborted',
  'execution.created,execution.started,execution.worked,execution.checked,execution.waiting,execution.attempt_failed,execution.retried',
  'execution.restarted,execution.completed,execution.failed,execution.skipped,execution.passed_over,execution.submitted,execution.approval_given',
  'execution.approved,execution.rejected,execution.revision_requested,execution.noted,execution.budget_raised,gate.asked,gate.answered',
  'artifact.created,artifact.promoted,artifact.archived,artifact.restored,rollback.completed,rollback.undone,archive.ended',
].join(',');

interface Wanted {
  event_type?: string;
  run_id?: string;
  execution_id?: string;
}

/** Oldest first, and whether older ones were left out. */
async function all(wanted: Wanted, signal: AbortSignal): Promise<{ items: Event[]; cut: boolean }> {
  const items: Event[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const answer = await body(client.GET('/api/events', { params: { query: { ...wanted, cursor, limit: PAGE } }, signal }));
    items.push(...answer.items);
    cursor = answer.next_cursor ?? undefined;
    if (!cursor) break;
  }
  return { items: items.reverse(), cut: cursor !== undefined };
}

export const useRunEvents = (run: string) => useQuery({ queryKey: keys.runEvents(run), queryFn: ({ signal }) => all({ run_id: run, event_type: HAPPENINGS }, signal) });

/** What tools answered in an execution. */
export function useToolResults(execution: Pick<Execution, 'execution_id' | 'mode'> | undefined) {
  const id = execution?.execution_id ?? '';
  return useQuery({
    queryKey: keys.tools(id),
    queryFn: execution?.mode === 'agentic' ? ({ signal }) => all({ event_type: 'execution.tool_result', execution_id: id }, signal) : skipToken,
  });
}

export type UsageBy = 'model' | 'agent' | 'checkpoint';

/** What a run cost, in groups. */
export const useRunUsage = (run: string, by: UsageBy) =>
  useQuery({
    queryKey: keys.usage(run, by),
    queryFn: () => body(client.GET('/api/usage', { params: { query: { run_id: run, group_by: by } } })),
  });
