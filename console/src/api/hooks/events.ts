/** What happened, page by page. New events come over the live stream. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { body, client } from '../client';
import { keys } from '../keys';

export interface EventFilter {
  event_type?: string;
  since?: string;
  until?: string;
  pipeline_id?: string;
  run_id?: string;
  execution_id?: string;
  actor?: string;
}

export function useEvents(filter: EventFilter = {}, limit = 100) {
  return useInfiniteQuery({
    queryKey: keys.events({ ...filter }),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => body(client.GET('/api/events', { params: { query: { ...filter, cursor: pageParam, limit } }, signal })),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** Whether the log is what was written. It is read from its beginning, so only when somebody asks. */
export const useVerified = () => useQuery({ queryKey: keys.verified, queryFn: ({ signal }) => body(client.GET('/api/audit/verify', { signal })), enabled: false, retry: false });
