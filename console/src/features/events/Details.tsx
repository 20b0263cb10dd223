/** One event in full: what it concerns, its place in the chain, and all that was recorded with it. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Event } from '@/api/types';
import { count } from '@/model/figures';
import { exact } from '@/model/time';
import { Avatar } from '@/ui/Avatar';
import { CodeView } from '@/ui/CodeView';
import { Copy } from '@/ui/CopyAs';

export function Details({ event, before, onSelect }: { event: Event; before: Event | undefined; onSelect: (id: string) => void }) {
  const json = JSON.stringify(event, null, 2);
  return (
    <div className="flex flex-col gap-4">
      <div>
        <p className="fact text-ink-3">{event.event_type}</p>
        <h2 className="text-title [text-wrap:pretty]">{event.description}</h2>
      </div>
      <dl className="grid grid-cols-[88px_minmax(0,1fr)] items-baseline gap-x-3 gap-y-1 text-small">
        <Line name="When">{exact(event.timestamp)}</Line>
        <Line name="Who">
          <span className="flex items-center gap-2">
            <Avatar name={event.actor.name} kind={event.actor.kind} size={18} /> {event.actor.name}, {event.actor.kind}
          </span>
        </Line>
        <Line name="Position">{count(event.seq)}</Line>
        {event.pipeline_id && (
          <Line name="Pipeline">
            <Link to="/pipelines/$pipelineId" params={{ pipelineId: event.pipeline_id }} className="fact inline-flex min-h-6 items-center underline underline-offset-2">
              {event.pipeline_id}
            </Link>
          </Line>
        )}
        {event.run_id && (
          <Line name="Run">
            <Link to="/runs/$runId" params={{ runId: event.run_id }} className="fact inline-flex min-h-6 items-center underline underline-offset-2">
              {event.run_id}
            </Link>
          </Line>
        )}
        {event.execution_id && event.run_id && (
          <Line name="Execution">
            <Link to="/runs/$runId" params={{ runId: event.run_id }} search={{ execution: event.execution_id }} className="fact inline-flex min-h-6 items-center underline underline-offset-2">
              {event.execution_id}
            </Link>
          </Line>
        )}
        {event.rollback_id && (
          <Line name="Rollback">
            <span className="fact">{event.rollback_id}</span>
          </Line>
        )}
        <Line name="Hash">
          <span className="fact [overflow-wrap:anywhere]">{event.hash}</span>
        </Line>
        <Line name="Row before">
          {before ? (
            <button type="button" onClick={() => onSelect(before.event_id)} className="fact block text-left [overflow-wrap:anywhere] underline underline-offset-2">
              {count(before.seq)}, {before.hash}
            </button>
          ) : (
            'not in this list'
          )}
        </Line>
      </dl>
      <p className="text-small text-ink-3">The hash covers the row that the event stands in and, through it, every row before it in its stream. The row before is the next older one in this list.</p>
      <div>
        <div className="mb-1 flex items-center justify-between">
          <h3 className="label">Recorded with it</h3>
          <Copy text={json} label="Copy the event as JSON">
            Copy the event
          </Copy>
        </div>
        <CodeView text={JSON.stringify(event.metadata, null, 2)} format="json" label="Metadata" />
      </div>
    </div>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}
