/** What a question is about: the execution, its outputs now and a revision ago, and what comes next. */
import { useMemo } from 'react';
import { useArtifacts, useArtifactText } from '@/api/hooks/artifacts';
import { useExecution } from '@/api/hooks/executions';
import { useRunCheckpoints } from '@/api/hooks/runs';
import type { Artifact } from '@/api/types';
import { changedWords, excerpt } from '@/model/excerpt';
import type { Question } from '@/model/inbox';

/** The output of the revision before, with the same name. */
function earlier(all: readonly Artifact[], now: Artifact | undefined): Artifact | undefined {
  if (!now) return undefined;
  const older = all.filter((one) => one.artifact_id === now.artifact_id && one.revision_iteration < now.revision_iteration);
  return older.sort((a, b) => b.revision_iteration - a.revision_iteration || b.attempt_number - a.attempt_number)[0];
}

const PROSE = new Set(['md', 'txt']);

export function useWork(question: Question) {
  const { execution_id, run_id, checkpoint_position } = question.item;
  const execution = useExecution(execution_id ?? undefined);
  const checkpoints = useRunCheckpoints(run_id);
  const artifact = execution.data?.artifacts_generated[0];
  const all = useArtifacts({ execution_id: execution_id ?? undefined, all: true });
  const before = earlier(all.data?.pages.flatMap((page) => page.items) ?? [], artifact);
  const now = useArtifactText(artifact?.artifact_record_id);
  const then = useArtifactText(before?.artifact_record_id);
  const prose = PROSE.has(artifact?.format ?? '');
  const blocks = useMemo(() => (now.data === undefined || !prose ? undefined : excerpt(now.data, before ? then.data : undefined)), [now.data, then.data, before, prose]);
  const changes = useMemo(() => (blocks && before ? changedWords(blocks) : undefined), [blocks, before]);
  const total = checkpoints.data?.items.length;
  const next = checkpoints.data?.items.find((one) => one.checkpoint_position > (checkpoint_position ?? -1));
  return { execution, artifact, others: execution.data?.artifacts_generated.slice(1) ?? [], before, now: now.data, then: then.data, prose, blocks, changes, total, next: next?.checkpoint_name ?? undefined };
}

export type Work = ReturnType<typeof useWork>;
