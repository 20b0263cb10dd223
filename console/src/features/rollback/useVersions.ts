/** The runs of a pipeline with their executions, and the rollbacks that reached into it. */
import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { body, client } from '@/api/client';
import { usePipeline } from '@/api/hooks/pipelines';
import { useRollbacks } from '@/api/hooks/rollback';
import { useRuns } from '@/api/hooks/runs';
import { keys } from '@/api/keys';
import type { Execution } from '@/api/types';
import { versions } from '@/model/rollback';

export function useVersions(pipelineId: string) {
  const runs = useRuns({ pipeline: pipelineId });
  const pipeline = usePipeline(pipelineId);
  const rollbacks = useRollbacks({ pipeline_id: pipelineId });
  const all = useMemo(() => runs.data?.pages.flatMap((page) => page.items) ?? [], [runs.data]);
  const answers = useQueries({
    queries: all.map(({ run_id: id }) => ({ queryKey: keys.runCheckpoints(id), queryFn: () => body(client.GET('/api/runs/{id}/checkpoints', { params: { path: { id } } })) })),
    combine: (each) => ({ pages: each.map((one) => one.data), error: each.find((one) => one.error)?.error ?? undefined }),
  });
  const executions = useMemo(() => new Map(all.map((run, at) => [run.run_id, answers.pages[at]?.items ?? []])), [all, answers.pages]);
  const names = useMemo(() => pipeline.data?.checkpoints.map((one) => one.checkpoint_name) ?? [], [pipeline.data]);
  const undone = useMemo(() => rollbacks.data?.pages.flatMap((page) => page.items) ?? [], [rollbacks.data]);
  const rows = useMemo(() => versions(all, executions, names, undone), [all, executions, names, undone]);
  const byId = useMemo(() => new Map<string, Execution>([...executions.values()].flat().map((one) => [one.execution_id, one])), [executions]);
  return {
    rows,
    names,
    byId,
    rollbacks: undone,
    pending: runs.isPending || answers.pages.some((page) => page === undefined && answers.error === undefined),
    error: runs.error ?? answers.error,
    more: runs.hasNextPage ? () => void runs.fetchNextPage() : undefined,
  };
}
