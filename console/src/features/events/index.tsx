/** What happened: one line per event, newest first, live, with a filter that the address keeps. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import clsx from 'clsx';
import { useMemo } from 'react';
import type { EventFilter } from '@/api/hooks/events';
import type { Event } from '@/api/types';
import { FILTERS, rowBefore, withDays } from '@/model/events';
import { count, many } from '@/model/figures';
import { date } from '@/model/time';
import { Avatar } from '@/ui/Avatar';
import { Button } from '@/ui/Button';
import { useNarrow } from '@/ui/media';
import { Sheet } from '@/ui/overlays';
import { Page } from '@/ui/page';
import { useShortcut } from '@/ui/shortcuts';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { Time } from '@/ui/values';
import { VirtualList } from '@/ui/VirtualList';
import { Details } from './Details';
import { Filters } from './Filters';
import { useLog } from './useLog';
import { Export, Verify } from './Verify';

export default function Events() {
  const search = useSearch({ from: '/shell/events' });
  const text = JSON.stringify(FILTERS.map((name) => search[name]));
  // Built from its text, so that a filter that says the same is the same.
  const filter = useMemo<EventFilter>(() => {
    const values = JSON.parse(text) as (string | null)[];
    return Object.fromEntries(FILTERS.flatMap((name, at) => (values[at] ? [[name, values[at]]] : [])));
  }, [text]);
  const { event: chosen } = search;
  const navigate = useNavigate({ from: '/events' });
  const narrow = useNarrow();
  const { query, events, held, waiting, hold, follow, more } = useLog(filter);
  const shown = useMemo(() => withDays(events, (time) => date(time)), [events]);
  const at = events.findIndex((event) => event.event_id === chosen);
  const event = events[at];
  const select = (id: string | undefined) => void navigate({ search: (now) => ({ ...now, event: id }), replace: true });
  const change = (next: EventFilter) => void navigate({ search: (now) => ({ ...now, ...next, event: undefined }), replace: true });
  const move = (by: number) => select(events[Math.max(0, Math.min(events.length - 1, at + by))]?.event_id);
  useShortcut(events.length > 0 ? 'j' : undefined, 'move', () => move(1), { order: 10, repeats: true });
  useShortcut(events.length > 0 ? 'k' : undefined, 'move', () => move(-1), { order: 10, repeats: true });
  useShortcut(event ? 'escape' : undefined, 'close', () => select(undefined), { order: 90 });
  const actors = useMemo(() => [...new Set(events.map((one) => one.actor.name))].sort(), [events]);
  const filtered = Object.keys(filter).length > 0;
  const details = event && <Details event={event} before={rowBefore(events, at)} onSelect={select} />;
  return (
    <Page
      title="Events"
      meta={query.data && <span aria-live="off">{held ? 'paused' : 'live'}</span>}
      actions={
        <>
          <Button size="small" keys="." word={held ? 'go on' : 'pause'} onClick={held ? follow : hold}>
            {held ? (waiting > 0 ? `Show ${count(waiting)} new` : 'Go on') : 'Pause'}
          </Button>
          <Export filter={filter} />
          <Verify />
        </>
      }
    >
      <Filters filter={filter} actors={actors} onChange={change} onClear={() => void navigate({ search: {}, replace: true })} />
      {query.error && <ErrorBlock title="The events could not be read" problem={query.error} className="m-5 max-w-[560px]" action={<Button size="small" onClick={() => void query.refetch()}>Try again</Button>} />}
      {query.isPending && <Loading label="Events" />}
      {query.data && events.length === 0 && (
        <Empty title={filtered ? 'Nothing fits the filter' : 'Nothing has happened yet'} action={filtered && <Button size="small" onClick={() => void navigate({ search: {} })}>Clear the filter</Button>}>
          {filtered ? 'Every change is recorded; take a chip off, or choose a longer time.' : 'Every change is recorded here, with who made it.'}
        </Empty>
      )}
      {events.length > 0 && (
        <div className={clsx('grid min-h-0 flex-1', event && !narrow && 'grid-cols-[minmax(0,1fr)_420px]')}>
          <VirtualList
            label={many(events.length, 'event')}
            className="min-h-0"
            items={shown}
            keyOf={(one) => ('day' in one ? one.day : one.event.event_id)}
            height={31}
            onEnd={more}
            active={event ? shown.findIndex((one) => 'event' in one && one.event === event) : undefined}
            draw={(one) => ('day' in one ? <div className="label border-b border-line bg-canvas px-5 py-[5px] max-tablet:px-4">{one.day}</div> : <Line event={one.event} selected={one.event === event} onSelect={select} />)}
          />
          {details && !narrow && (
            <section aria-label="The event" className="scroll-pane min-h-0 border-l border-line bg-canvas p-5">
              {details}
            </section>
          )}
        </div>
      )}
      {narrow && (
        <Sheet open={event !== undefined} onClose={() => select(undefined)} title="Event">
          {details}
        </Sheet>
      )}
    </Page>
  );
}

function Line({ event, selected, onSelect }: { event: Event; selected: boolean; onSelect: (id: string | undefined) => void }) {
  return (
    <button
      type="button"
      onClick={() => onSelect(selected ? undefined : event.event_id)}
      aria-pressed={selected}
      className={clsx('flex min-h-[31px] w-full items-center gap-3 border-b border-line px-5 text-left focus-visible:-outline-offset-2 max-tablet:min-h-11 max-tablet:px-4', selected ? 'selected-row' : 'hover:bg-hover')}
    >
      <Time at={event.timestamp} as="second" className="flex-none text-ink-3" />
      <Avatar name={event.actor.name} kind={event.actor.kind} />
      <span className="sr-only">{event.actor.name}: </span>
      <span className="min-w-0 flex-1 max-tablet:line-clamp-2 max-tablet:text-[14px] max-tablet:leading-[18px] tablet:truncate">{event.description}</span>
      <span className="fact hidden text-ink-3 tablet:inline">{event.event_type}</span>
      <span className="fact hidden w-14 text-right text-ink-3 desk:inline">{count(event.seq)}</span>
    </button>
  );
}
