/** What was answered today, by whom. */
import { Link } from '@tanstack/react-router';
import { usePipelines } from '@/api/hooks/pipelines';
import type { Event } from '@/api/types';
import { Avatar } from '@/ui/Avatar';
import { RowBody } from '@/ui/Row';
import { Empty } from '@/ui/states';
import { Time } from '@/ui/values';

export function Answered({ events, more }: { events: readonly Event[]; more: boolean }) {
  const names = new Map(usePipelines().data?.pages.flatMap((page) => page.items).map((one) => [one.pipeline_id, one.pipeline_name]));
  if (events.length === 0) return <Empty title="Nothing was answered today">Every answer stands here until midnight, and in the events for good.</Empty>;
  return (
    <ul className="scroll-pane min-h-0 flex-1">
      {events.map((event) => {
        const row = <RowBody icon={<Avatar name={event.actor.name} kind={event.actor.kind} size={18} />} name={event.description} meta={[event.actor.name, names.get(event.pipeline_id ?? '')].filter(Boolean).join(', ')} right={<Time at={event.timestamp} as="clock" />} />;
        return (
          <li key={event.event_id}>
            {event.run_id ? (
              <Link to="/runs/$runId" params={{ runId: event.run_id }} search={event.execution_id ? { execution: event.execution_id } : {}} className="block">
                {row}
              </Link>
            ) : (
              row
            )}
          </li>
        );
      })}
      {more && (
        <li className="px-5 py-3 text-small text-ink-3 max-tablet:px-4">
          There were more of them. <Link to="/events" className="underline underline-offset-2">All of them are in the events.</Link>
        </li>
      )}
    </ul>
  );
}
