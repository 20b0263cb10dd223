/** The log under a filter: pages as they are read, and what the live connection brings on top. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { body, client } from '@/api/client';
import type { EventFilter } from '@/api/hooks/events';
import { onEvent } from '@/api/live/connection';
import type { Event } from '@/api/types';
import { fits, together } from '@/model/events';

const PAGE = 100;
const NONE: readonly Event[] = [];
/** What came live and is kept; older ones are still in the log. */
const MOST = 5000;
/** How much an export takes at most. */
export const EXPORT_MOST = 10_000;

const read = (filter: EventFilter, cursor: string | undefined, limit: number, signal?: AbortSignal) => body(client.GET('/api/events', { params: { query: { ...filter, cursor, limit } }, ...(signal && { signal }) }));

interface Tail {
  /** The filter that it belongs to: with another one it begins anew. */
  of: EventFilter;
  came: readonly Event[];
  /** Where the list was held; nothing while it follows. */
  held: number | undefined;
}

/** `filter` has to be the same object for as long as it says the same. */
export function useLog(filter: EventFilter) {
  const [tail, setTail] = useState<Tail>({ of: filter, came: NONE, held: undefined });
  const { came, held } = tail.of === filter ? tail : { came: NONE, held: undefined };
  useEffect(
    () =>
      onEvent((event) => {
        if (!fits(event, filter)) return;
        setTail((now) => {
          const kept = now.of === filter ? now : { came: NONE, held: undefined };
          return { of: filter, held: kept.held, came: [event, ...kept.came].slice(0, MOST) };
        });
      }),
    [filter],
  );
  const query = useInfiniteQuery({
    // Not under `events`: what comes is put on top, so nothing is read again.
    queryKey: ['log', filter],
    gcTime: 0,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => read(filter, pageParam, PAGE, signal),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const pages = query.data?.pages;
  const all = useMemo(() => together(pages?.flatMap((page) => page.items) ?? [], came), [pages, came]);
  const shown = useMemo(() => (held === undefined ? all : all.filter((event) => event.seq <= held)), [all, held]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return {
    query,
    events: shown,
    held: held !== undefined,
    waiting: all.length - shown.length,
    hold: () => setTail({ of: filter, came, held: all[0]?.seq ?? 0 }),
    follow: () => setTail({ of: filter, came, held: undefined }),
    more,
  };
}

/** Reads what fits the filter, newest first, up to the bound. */
export async function collect(filter: EventFilter, told: (read: number) => void): Promise<{ events: Event[]; cut: boolean }> {
  const events: Event[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(filter, cursor, 500);
    events.push(...page.items);
    told(events.length);
    cursor = page.next_cursor ?? undefined;
  } while (cursor && events.length < EXPORT_MOST);
  return { events: events.slice(0, EXPORT_MOST), cut: cursor !== undefined || events.length > EXPORT_MOST };
}
