/**
 * How a decision is undone. None is withdrawn: a result that was approved counts, and others may have gone on from it. So undoing
 * it goes back to the point before its checkpoint, through the preview of a rollback; work that was let begin is stopped.
 */
import type { Execution, Run } from '@/api/types';

/** A checkpoint that stays done when a decision after it is undone. */
export interface Point {
  /** The run that was decided about. */
  run: string;
  version: number | undefined;
  /** The run that the point is in: the same, or the one before. */
  target: string;
  targetVersion: number | undefined;
  position: number;
  name: string;
}

type Standing = Pick<Run, 'run_id' | 'run_version' | 'status' | 'pipeline_id' | 'pipeline_definition_version'>;
type Reached = Pick<Execution, 'checkpoint_position' | 'checkpoint_name' | 'status'>;

/** What the answers say so far; `null` is known not to be there. */
export interface Known {
  run: Standing | undefined;
  /** The executions of the run. */
  own: readonly Reached[] | undefined;
  /** The run before, and its executions; only needed for a first checkpoint. */
  previous: Standing | null | undefined;
  theirs: readonly Reached[] | undefined;
  /** The newest run of the pipeline. */
  newest: string | undefined;
}

/** The point just before a checkpoint; `null` where there is none, nothing while that is not known. */
export function pointBefore(position: number | null | undefined, { run, own, previous, theirs, newest }: Known): Point | null | undefined {
  if (!run) return undefined;
  if (run.pipeline_id == null || position == null) return null;
  const point = (at: Standing, one: Reached): Point => ({
    run: run.run_id,
    version: run.run_version ?? undefined,
    target: at.run_id,
    targetVersion: at.run_version ?? undefined,
    position: one.checkpoint_position,
    name: one.checkpoint_name ?? `checkpoint ${one.checkpoint_position + 1}`,
  });
  if (position > 0) {
    if (!own) return undefined;
    const before = own.findLast((one) => one.checkpoint_position === position - 1);
    return before?.status === 'completed' ? point(run, before) : null;
  }
  // Before a first checkpoint stands the end of the run before. More than the run itself must not go with it.
  if (previous === null) return null;
  if (previous === undefined || !theirs || newest === undefined) return undefined;
  if (newest !== run.run_id || previous.status !== 'completed' || previous.pipeline_definition_version !== run.pipeline_definition_version) return null;
  const last = [...theirs].sort((a, b) => a.checkpoint_position - b.checkpoint_position).at(-1);
  return last?.status === 'completed' ? point(previous, last) : null;
}

/** The point, where it is in the run itself: only from there a run that was given up goes on. */
export const within = (point: Point | null | undefined): Point | null | undefined => (point && point.run !== point.target ? null : point);

/** Where the undo leads: the rollback with that point chosen. */
export const backTo = (point: Point) =>
  ({
    to: '/runs/$runId/rollback',
    params: { runId: point.run },
    search: { to: String(point.position), run: point.target === point.run ? undefined : point.target },
  }) as const;

/** How a result that counts is taken back, in one sentence; nothing while that is not known. */
export function takenBack(point: Point | null | undefined, name: string): string {
  if (point === undefined) return '';
  if (point === null) return 'It cannot be undone: there is no earlier point to go back to.';
  if (point.target !== point.run) return `Undo goes back to the end of v${point.targetVersion ?? ''} and archives v${point.version ?? ''}.`;
  return `Undo goes back to ${point.name}; ${name} is then done again.`;
}

/** How a run that was given up is taken up again. */
export function takenUp(point: Point | null | undefined): string {
  if (point === undefined) return '';
  return point ? `Undo goes back to ${point.name}, and the run goes on from there.` : 'It cannot be undone.';
}

/** What came of letting work begin: it may still need others, or be done already. */
export function begun(answer: Pick<Partial<Execution>, 'status'> | undefined, name: string, where: string): { said: string; stops: boolean } {
  if (answer?.status === 'waiting_approval_to_start') return { said: `${name} waits to be approved before it starts`, stops: false };
  return { said: `Started ${name}${where}`, stops: answer?.status === 'in_progress' };
}
