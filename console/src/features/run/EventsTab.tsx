/** What happened in this run, newest first, as it happens. */
import { Link } from '@tanstack/react-router';
import { memo, useMemo, useState } from 'react';
import type { Event } from '@/api/types';
import { count } from '@/model/figures';
import { Avatar } from '@/ui/Avatar';
import { Input } from '@/ui/fields';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { VirtualList } from '@/ui/VirtualList';
import { Time } from '@/ui/values';
import type { RunView } from './useRunView';

export function EventsTab({ view }: { view: RunView }) {
  const { events } = view;
  const [find, setFind] = useState('');
  const shown = useMemo(() => {
    const text = find.trim().toLowerCase();
    const all = [...(events.data?.items ?? [])].reverse();
    return text ? all.filter((event) => `${event.event_type} ${event.description} ${event.actor.name}`.toLowerCase().includes(text)) : all;
  }, [events.data, find]);
  if (events.error) return <ErrorBlock title="The events could not be read" problem={events.error} className="m-5" />;
  if (events.isPending) return <Loading label="Events" />;
  if (events.data.items.length === 0) return <Empty title="Nothing happened yet">Everything that happens to this run stands here.</Empty>;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-none items-center gap-3 border-b border-line px-5 py-1.5 max-tablet:px-4">
        <Input find placeholder="Find in them" aria-label="Find in the events" value={find} onChange={(event) => setFind(event.target.value)} className="min-w-0 flex-1" />
        <Link to="/events" search={{ run_id: view.runId }} className="text-small whitespace-nowrap text-ink-2 underline decoration-line-2 underline-offset-2 hover:decoration-ink">
          {count(events.data.items.length)} in the log
        </Link>
      </div>
      {shown.length === 0 ? (
        <p className="p-5 text-ink-2">No event is like that.</p>
      ) : (
        <VirtualList items={shown} keyOf={(event) => event.event_id} draw={(event) => <OneEvent event={event} />} height={46} label="Events" className="min-h-0 flex-1" />
      )}
      {events.data.cut && <p className="flex-none border-t border-line px-5 py-1.5 text-small text-ink-3">Older ones stand in the log.</p>}
    </div>
  );
}

const OneEvent = memo(function OneEvent({ event }: { event: Event }) {
  return (
    <div className="grid grid-cols-[62px_20px_minmax(0,1fr)] items-start gap-x-2.5 border-b border-line px-5 py-1.5 max-tablet:px-4">
      <Time at={event.timestamp} as="second" className="pt-0.5 text-ink-3" />
      <Avatar name={event.actor.name} kind={event.actor.kind} size={18} />
      <div className="min-w-0">
        <p className="[overflow-wrap:anywhere]">{event.description}</p>
        <p className="fact flex gap-2 text-ink-3">
          <span>{event.event_type}</span>
          <span className="truncate">{event.actor.name}</span>
          <span className="ml-auto">{count(event.seq)}</span>
        </p>
      </div>
    </div>
  );
});
