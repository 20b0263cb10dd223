/** Pipelines, their checkpoints, and how their definitions changed. */
import { skipToken, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { body, client } from '../client';
import { keys } from '../keys';
import type { components } from '../schema';

type Schemas = components['schemas'];
const at = (id: string) => ({ params: { path: { id } } });

export function usePipelines(deleted = false) {
  return useInfiniteQuery({
    queryKey: keys.pipelines(deleted),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      body(client.GET('/api/pipelines', { params: { query: { deleted: deleted || undefined, cursor: pageParam, limit: 100 } }, signal })),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

export const usePipeline = (id: string | undefined) =>
  useQuery({ queryKey: keys.pipeline(id ?? ''), queryFn: id ? () => body(client.GET('/api/pipelines/{id}', at(id))) : skipToken });

/** Asks for a pipeline as it stands now, whatever is known of it. */
export function useLatestPipeline(id: string) {
  const queries = useQueryClient();
  return () => queries.fetchQuery({ queryKey: keys.pipeline(id), queryFn: () => body(client.GET('/api/pipelines/{id}', at(id))), staleTime: 0 });
}

export const useCheckpoint = (id: string | undefined) =>
  useQuery({ queryKey: keys.checkpoint(id ?? ''), queryFn: id ? () => body(client.GET('/api/checkpoints/{id}', at(id))) : skipToken });

export const usePipelineHistory = (id: string) =>
  useQuery({ queryKey: keys.history(id), queryFn: () => body(client.GET('/api/pipelines/{id}/history', at(id))) });

export const usePipelineDiff = (id: string, from: number, to: number) =>
  useQuery({
    queryKey: keys.historyDiff(id, from, to),
    queryFn: () => body(client.GET('/api/pipelines/{id}/history/diff', { params: { path: { id }, query: { from, to } } })),
  });

/** The definition as a file. */
export const usePipelineFile = (id: string) =>
  useQuery({ queryKey: keys.exported(id), queryFn: () => body(client.GET('/api/pipelines/{id}/export', { ...at(id), parseAs: 'text' })) });

function useChange<Input, Output>(send: (input: Input) => Promise<Output>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: () => Promise.all(['pipelines', 'pipeline', 'checkpoint'].map((area) => queries.invalidateQueries({ queryKey: [area] }))),
  });
}

export const useCreatePipeline = () => useChange((made: Schemas['NewPipeline']) => body(client.POST('/api/pipelines', { body: made })));

export const useUpdatePipeline = () =>
  useChange(({ id, changes }: { id: string; changes: Schemas['Changes'] }) => body(client.PUT('/api/pipelines/{id}', { ...at(id), body: changes })));

export const useDeletePipeline = () => useChange((id: string) => body(client.DELETE('/api/pipelines/{id}', at(id))));

export const useRestorePipeline = () => useChange((id: string) => body(client.POST('/api/pipelines/{id}/restore', { ...at(id), body: {} })));

/** Applies a file; with `dryRun` it only says what would change. */
export const useApplyFile = () =>
  useChange(({ yaml, dryRun }: { yaml: string; dryRun?: boolean }) =>
    body(
      client.POST('/api/pipelines/apply', {
        params: { query: { dry_run: dryRun } },
        body: yaml as never,
        bodySerializer: (text) => text as unknown as string,
        headers: { 'Content-Type': 'application/yaml' },
      }),
    ),
  );

export const useReorder = () =>
  useChange(({ id, order }: { id: string; order: string[] }) =>
    body(client.PUT('/api/pipelines/{id}/checkpoint-order', { ...at(id), body: { checkpoint_order: order } })),
  );

export const useCreateCheckpoint = () =>
  useChange(({ pipeline, made }: { pipeline: string; made: Schemas['CheckpointDefinition'] }) =>
    body(client.POST('/api/pipelines/{id}/checkpoints', { ...at(pipeline), body: made })),
  );

export const useUpdateCheckpoint = () =>
  useChange(({ id, definition }: { id: string; definition: Schemas['CheckpointDefinition'] }) =>
    body(client.PUT('/api/checkpoints/{id}', { ...at(id), body: definition })),
  );

export const useRemoveCheckpoint = () => useChange((id: string) => body(client.DELETE('/api/checkpoints/{id}', at(id))));

/** What a whole definition would change, or the problem with it. Nothing is kept. */
export const dryRun = (definition: unknown, signal?: AbortSignal) => apply(definition, true, signal);

function apply(definition: unknown, dry: boolean, signal?: AbortSignal) {
  const isText = typeof definition === 'string';
  return body(
    client.POST('/api/pipelines/apply', {
      params: { query: { dry_run: dry || undefined } },
      body: definition as never,
      bodySerializer: (given) => (isText ? (given as unknown as string) : JSON.stringify(given)),
      headers: { 'Content-Type': isText ? 'application/yaml' : 'application/json' },
      signal: signal ?? null,
    }),
  );
}

/** Makes a pipeline be what a whole definition says, in one step or not at all. */
export const useApplyDefinition = () => useChange((definition: unknown) => apply(definition, false));

/** One change that applying a definition makes. */
export interface AppliedChange {
  change: 'created' | 'described' | 'removed' | 'reordered' | 'added' | 'edited';
  description: string;
}
