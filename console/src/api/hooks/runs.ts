/** Runs: where they stand, and what moves them. */
import { skipToken, useInfiniteQuery, useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { body, client } from '../client';
import { keys } from '../keys';
import type { components } from '../schema';

type Schemas = components['schemas'];
const at = (id: string) => ({ params: { path: { id } } });

export function useRuns(filter: { pipeline?: string; status?: string } = {}, limit = 50) {
  return useInfiniteQuery({
    queryKey: keys.runs(filter),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      body(
        client.GET('/api/runs', {
          params: { query: { pipeline_id: filter.pipeline, status: filter.status as never, cursor: pageParam, limit } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

const runQuery = (id: string) => ({ queryKey: keys.run(id), queryFn: () => body(client.GET('/api/runs/{id}', at(id))) });

export const useRun = (id: string | undefined) =>
  useQuery({ queryKey: keys.run(id ?? ''), queryFn: id ? runQuery(id).queryFn : skipToken });

/** Several runs at once, each kept under its own key. */
export const useRunsById = (ids: string[]) => useQueries({ queries: ids.map(runQuery) });

/** The executions of a run in the order of its checkpoints. */
export const useRunCheckpoints = (id: string | undefined) =>
  useQuery({ queryKey: keys.runCheckpoints(id ?? ''), queryFn: id ? () => body(client.GET('/api/runs/{id}/checkpoints', at(id))) : skipToken });

export const useGraph = (id: string | undefined) =>
  useQuery({ queryKey: keys.graph(id ?? ''), queryFn: id ? () => body(client.GET('/api/runs/{id}/graph', at(id))) : skipToken });

export const useCompare = (a: string | undefined, b: string | undefined) =>
  useQuery({
    queryKey: keys.compare(a ?? '', b ?? ''),
    queryFn: a && b ? () => body(client.GET('/api/compare', { params: { query: { a, b } } })) : skipToken,
  });

function useMove<Input, Output>(send: (input: Input) => Promise<Output>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: () =>
      Promise.all(['run', 'runs', 'execution', 'inbox', 'pipelines'].map((area) => queries.invalidateQueries({ queryKey: [area] }))),
  });
}

export const useStartRun = () => useMove((made: Schemas['NewRun']) => body(client.POST('/api/runs', { body: made })));
export const usePause = () => useMove((id: string) => body(client.POST('/api/runs/{id}/pause', { ...at(id), body: {} })));
export const useResume = () => useMove((id: string) => body(client.POST('/api/runs/{id}/resume', { ...at(id), body: {} })));
export const useFail = () =>
  useMove(({ id, reason }: { id: string; reason?: string }) => body(client.POST('/api/runs/{id}/fail', { ...at(id), body: { reason } })));
export const useAbort = () =>
  useMove(({ id, reason }: { id: string; reason?: string }) => body(client.POST('/api/runs/{id}/abort', { ...at(id), body: { reason } })));
