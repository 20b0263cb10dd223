/** What a review is about: the execution as it was first shown, how it stands now, its outputs, and what comes next. */
import { useMemo, useState } from 'react';
import { useOutputs } from '@/api/hooks/content';
import { useEvents } from '@/api/hooks/events';
import { useExecution } from '@/api/hooks/executions';
import { useInbox } from '@/api/hooks/inbox';
import { usePipeline } from '@/api/hooks/pipelines';
import { useRun } from '@/api/hooks/runs';
import { useMe } from '@/api/hooks/session';
import { useBefore } from '@/api/hooks/undo';
import type { Execution } from '@/api/types';
import type { About } from '@/model/answering';
import { place } from '@/model/pipelines';
import { answered, earlier, lastRun } from '@/model/review';
import { isMine } from '@/model/rights';
import { pointBefore } from '@/model/undo';
import { contentOf, useSeen } from '@/ui/seen';

/** Whether both ask the same about the same content. */
function same(a: Execution, b: Execution): boolean {
  const [one, other] = [a.waiting_for, b.waiting_for];
  return one?.kind === other?.kind && one?.gate_id === other?.gate_id && one?.digest === other?.digest;
}

export function useReview(id: string, name: string | undefined) {
  const { data: me } = useMe();
  const live = useExecution(id);
  const [pin, setPin] = useState<Execution>();
  // What is asked about stays on the screen until the reader asks for what is new; everything else follows.
  const fresh = live.data;
  if (fresh && fresh !== pin && (!pin || pin.waiting_for == null || same(pin, fresh))) setPin(fresh);
  const execution = pin ?? fresh;
  const moved = pin !== undefined && fresh !== undefined && pin.waiting_for != null && !same(pin, fresh);
  /** The server said that a decision was about something older. */
  const [stale, setStale] = useState(false);
  const show = async () => {
    const { data } = await live.refetch();
    setStale(false);
    if (data) setPin(data);
  };

  const run = useRun(execution?.run_id);
  const pipeline = usePipeline(execution?.pipeline_id ?? undefined);
  const outputs = useMemo(() => execution?.artifacts_generated ?? [], [execution]);
  const artifact = outputs.find((one) => one.artifact_name === name) ?? outputs[0];
  const all = useOutputs({ execution_id: id, all: true });
  const before = useMemo(() => earlier(all.data ?? [], artifact), [all.data, artifact]);
  const previous = run.data?.previous_run_id ?? undefined;
  const older = useOutputs(previous ? { run_id: previous } : undefined);
  const last = useMemo(() => lastRun(older.data ?? [], artifact), [older.data, artifact]);
  const events = useEvents(execution ? { run_id: execution.run_id } : { execution_id: id });
  const decided = moved ? answered(events.data?.pages.flatMap((page) => page.items) ?? [], id, execution?.waiting_for?.since) : undefined;
  // Where the undo of a decision leads.
  const point = pointBefore(execution?.checkpoint_position, useBefore(execution?.run_id, execution?.checkpoint_position));
  const stands = place(pipeline.data, execution?.checkpoint_id);

  const approved = pipeline.data?.checkpoints.find((one) => one.checkpoint_id === execution?.checkpoint_id)?.human_interaction.requires_approval_to_complete ?? false;

  const about: About | undefined = execution?.waiting_for
    ? { waiting: execution.waiting_for, run: execution.run_id, execution: id, name: execution.checkpoint_name ?? 'the step', pipeline: run.data?.pipeline_name ?? undefined, version: execution.run_version ?? undefined, revision: execution.revision_iteration + 1 }
    : undefined;
  const content = contentOf(id, execution?.waiting_for ?? undefined);
  const seen = useSeen(content);

  const inbox = useInbox();
  const mine = useMemo(() => inbox.data?.pages.flatMap((page) => page.items).filter((item) => item.execution_id && isMine(me, item.waiting_for)) ?? [], [inbox.data, me]);
  const at = mine.findIndex((item) => item.execution_id === id);
  return { me, execution, fresh, live, moved, decided, stale, setStale, show, forget: () => setPin(undefined), run: run.data, outputs, artifact, before, last, stands, point, approved, about, content, seen, mine, at };
}

export type Review = ReturnType<typeof useReview>;
