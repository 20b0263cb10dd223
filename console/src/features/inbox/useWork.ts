/** What a question is about: the execution, its outputs now and a revision ago, and what comes next. */
import { useMemo } from 'react';
import { useArtifacts, useArtifactText } from '@/api/hooks/artifacts';
import { useExecution } from '@/api/hooks/executions';
import { usePipeline } from '@/api/hooks/pipelines';
import { useBefore } from '@/api/hooks/undo';
import { changedWords, excerpt } from '@/model/excerpt';
import type { About } from '@/model/answering';
import type { Question } from '@/model/inbox';
import { place } from '@/model/pipelines';
import { earlier } from '@/model/review';
import { pointBefore } from '@/model/undo';
import { contentOf } from '@/ui/seen';

const PROSE = new Set(['md', 'txt']);

export function useWork(question: Question) {
  const { execution_id, pipeline_id, checkpoint_id, run_id, run_version, checkpoint_position, waiting_for } = question.item;
  const execution = useExecution(execution_id ?? undefined);
  const pipeline = usePipeline(pipeline_id ?? undefined);
  const artifact = execution.data?.artifacts_generated[0];
  const all = useArtifacts({ execution_id: execution_id ?? undefined, all: true });
  const before = earlier(all.data?.pages.flatMap((page) => page.items) ?? [], artifact);
  const now = useArtifactText(artifact?.artifact_record_id);
  const then = useArtifactText(before?.artifact_record_id);
  const prose = PROSE.has(artifact?.format ?? '');
  const blocks = useMemo(() => (now.data === undefined || !prose ? undefined : excerpt(now.data, before ? then.data : undefined)), [now.data, then.data, before, prose]);
  const changes = useMemo(() => (blocks && before ? changedWords(blocks) : undefined), [blocks, before]);
  const stands = place(pipeline.data, checkpoint_id);
  // Where the undo of a decision leads.
  const point = pointBefore(checkpoint_position, useBefore(run_id, checkpoint_position));
  const approved = pipeline.data?.checkpoints.find((one) => one.checkpoint_id === checkpoint_id)?.human_interaction.requires_approval_to_complete ?? false;
  const outputs = execution.data?.artifacts_generated ?? [];
  // What is shown must be what is asked about: a newer answer may still be on its way.
  const asked = execution.data?.waiting_for;
  const isSame = asked?.gate_id === waiting_for.gate_id && asked?.digest === waiting_for.digest;
  const content = isSame ? contentOf(execution_id, waiting_for) : undefined;
  const about: About = {
    waiting: waiting_for,
    run: run_id,
    execution: execution_id ?? undefined,
    name: question.item.checkpoint_name ?? question.pipeline,
    pipeline: question.item.pipeline_name ?? undefined,
    version: run_version ?? undefined,
    revision: execution.data && execution.data.revision_iteration + 1,
  };
  return { about, approved, point, execution, artifact, outputs, content, isSame, others: outputs.slice(1), before, now: now.data, then: then.data, prose, blocks, changes, stands };
}

export type Work = ReturnType<typeof useWork>;
