/** What happened, newest first. */
import { useEvents } from '@/api/hooks/events';
import { Avatar } from '@/ui/Avatar';
import { Page } from '@/ui/page';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { Time } from '@/ui/values';
import { VirtualList } from '@/ui/VirtualList';

export default function Events() {
  const { data, error, isPending, fetchNextPage, hasNextPage } = useEvents();
  const events = data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page title="Events">
      {error && <ErrorBlock title="The events could not be read" problem={error} className="m-5" />}
      {isPending && <Loading label="Events" />}
      {data && events.length === 0 && <Empty title="Nothing has happened yet">Every change is recorded here, with who made it.</Empty>}
      {events.length > 0 && (
        <VirtualList
          label="Events"
          className="min-h-0 flex-1"
          items={events}
          keyOf={(event) => event.event_id}
          height={31}
          onEnd={() => hasNextPage && void fetchNextPage()}
          draw={(event) => (
            <div className="flex min-h-[31px] items-center gap-3 border-b border-line px-5 max-tablet:px-4">
              <Time at={event.timestamp} as="second" className="text-ink-3" />
              <Avatar name={event.actor.name} kind={event.actor.kind} />
              <span className="min-w-0 flex-1 truncate">{event.description}</span>
              <span className="fact hidden text-ink-3 tablet:inline">{event.event_type}</span>
            </div>
          )}
        />
      )}
    </Page>
  );
}
