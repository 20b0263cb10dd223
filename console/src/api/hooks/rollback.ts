/** Going back: what would go, doing it, and undoing that. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { body, client } from '../client';
import { keys } from '../keys';
import type { components } from '../schema';

type NewRollback = components['schemas']['NewRollback'];

export function useRollbacks(filter: { pipeline_id?: string; source_run_id?: string } = {}) {
  return useInfiniteQuery({
    queryKey: keys.rollbacks(filter),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => body(client.GET('/api/rollback', { params: { query: { ...filter, cursor: pageParam, limit: 50 } }, signal })),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

/** What a rollback would archive, keep and lose. Nothing is changed. */
export const useRollbackPreview = (wanted: Omit<NewRollback, 'dry_run'> | undefined) =>
  useQuery({
    queryKey: ['run', wanted?.source_run_id, 'rollback-preview', wanted],
    enabled: wanted !== undefined,
    queryFn: async () => {
      const answer = await body(client.POST('/api/rollback', { body: { ...(wanted as NewRollback), dry_run: true } }));
      return answer as components['schemas']['Preview'];
    },
  });

function useMove<Input, Output>(send: (input: Input) => Promise<Output>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: send,
    // Not waited for: the screen goes to the run that goes on, before it hears that its own is gone.
    onSettled: () => void queries.invalidateQueries({ predicate: (query) => query.queryKey[0] !== 'text' }),
  });
}

export const useRollBack = () =>
  useMove(async (wanted: NewRollback) => (await body(client.POST('/api/rollback', { body: wanted }))) as components['schemas']['RollbackDocument']);

export const useUndoRollback = () => useMove((id: string) => body(client.POST('/api/rollback/{id}/undo', { params: { path: { id } }, body: {} })));
