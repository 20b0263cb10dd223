/** The log as it is shown: which events fit a filter, days between them, and the whole as lines to keep. */
import type { EventFilter } from '@/api/hooks/events';
import type { Event } from '@/api/types';

export const FILTERS = ['event_type', 'pipeline_id', 'run_id', 'execution_id', 'actor', 'since', 'until'] as const;

/** Types of events, by what they are about. A type that is not here can still be named in the address. */
export const TYPES: Record<string, readonly string[]> = {
  Pipelines: ['pipeline.created', 'pipeline.updated', 'pipeline.deleted', 'pipeline.restored', 'pipeline.budget_raised', 'checkpoint.created', 'checkpoint.updated', 'checkpoint.deleted', 'checkpoint.reordered'],
  Runs: ['run.created', 'run.started', 'run.pause_requested', 'run.paused', 'run.resumed', 'run.completed', 'run.failed', 'run.aborted'],
  Work: [
    'execution.created',
    'execution.started',
    'execution.worked',
    'execution.checked',
    'execution.waiting',
    'execution.attempt_failed',
    'execution.retried',
    'execution.restarted',
    'execution.completed',
    'execution.failed',
    'execution.skipped',
    'execution.passed_over',
    'execution.message',
    'execution.tool_result',
  ],
  Decisions: ['execution.submitted', 'execution.approval_given', 'execution.approved', 'execution.rejected', 'execution.revision_requested', 'execution.noted', 'execution.budget_raised', 'gate.asked', 'gate.answered'],
  Artifacts: ['artifact.created', 'artifact.promoted', 'artifact.archived', 'artifact.restored'],
  Rollback: ['rollback.completed', 'rollback.undone', 'archive.ended'],
  Home: ['home.created', 'token.issued', 'token.revoked', 'audit.sealed', 'drift.repaired'],
};

/** Whether an event that has just come belongs to what is shown, by the rules that the API filters by. */
export function fits(event: Event, filter: EventFilter): boolean {
  const { event_type, pipeline_id, run_id, execution_id, actor, since, until } = filter;
  if (event_type && !event_type.split(',').includes(event.event_type)) return false;
  if (pipeline_id && event.pipeline_id !== pipeline_id) return false;
  if (run_id && event.run_id !== run_id) return false;
  if (execution_id && event.execution_id !== execution_id) return false;
  if (actor && event.actor.name !== actor) return false;
  const at = Date.parse(event.timestamp);
  if (since && at < Date.parse(since)) return false;
  return !(until && at >= Date.parse(until));
}

/** What was read and what came since, newest first, each once. */
export function together(read: readonly Event[], came: readonly Event[]): Event[] {
  const newest = read[0]?.seq ?? -1;
  const later = came.filter((event) => event.seq > newest).sort((a, b) => b.seq - a.seq);
  return [...later, ...read];
}

export type Shown = { day: string } | { event: Event };

/** The events with a line where another day begins. */
export function withDays(events: readonly Event[], name: (time: string) => string): Shown[] {
  const shown: Shown[] = [];
  let last = '';
  for (const event of events) {
    const day = name(event.timestamp);
    if (day !== last) shown.push({ day });
    last = day;
    shown.push({ event });
  }
  return shown;
}

/** One event per line, as JSON. */
export const lines = (events: readonly Event[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');

/** The next older row of the log that is shown: events of one row share its hash. */
export const rowBefore = (events: readonly Event[], at: number): Event | undefined => events.slice(at + 1).find((event) => event.hash !== events[at]?.hash);

export interface Range {
  value: string;
  label: string;
  /** Hours back from now. */
  hours: number;
}

export const RANGES: readonly Range[] = [
  { value: '1', label: 'Last hour', hours: 1 },
  { value: '24', label: 'Last 24 hours', hours: 24 },
  { value: '168', label: 'Last 7 days', hours: 168 },
  { value: '720', label: 'Last 30 days', hours: 720 },
];

/** A time as a field for dates and times wants it, in local time; and back. */
export function toLocal(iso: string | undefined): string {
  if (!iso || Number.isNaN(Date.parse(iso))) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
export const fromLocal = (local: string) => (local && !Number.isNaN(Date.parse(local)) ? new Date(local).toISOString() : undefined);
