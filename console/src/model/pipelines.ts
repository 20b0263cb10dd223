/** What is drawn of pipelines: where a checkpoint stands, the track of the latest run, and the bars of the runs before it. */
import type { Graph, Pipeline, Run, WaitingFor } from '@/api/types';
import { execution, type Status } from './status';

type Mine = (waiting: WaitingFor) => boolean;

export interface TrackStop {
  id: string;
  name: string;
  status: Status;
  reached: boolean;
  gate: 'ahead' | 'reached' | 'passed' | undefined;
}

/** Where a checkpoint stands among those of its pipeline. */
export interface Place {
  total: number;
  /** The checkpoint after it; none after the last. */
  next: string | undefined;
}

/** Nothing, while the definition is not there yet or does not have the checkpoint any more. */
export function place(pipeline: { checkpoints: readonly Pick<Pipeline['checkpoints'][number], 'checkpoint_id' | 'checkpoint_name'>[] } | undefined, checkpoint: string | null | undefined): Place | undefined {
  const at = pipeline?.checkpoints.findIndex((one) => one.checkpoint_id === checkpoint) ?? -1;
  return pipeline && at >= 0 ? { total: pipeline.checkpoints.length, next: pipeline.checkpoints[at + 1]?.checkpoint_name } : undefined;
}

/** "Report comes next": what follows when the work at this place counts. */
export const onwards = (stands: Place | undefined): string => (!stands ? 'the run goes on' : stands.next ? `${stands.next} comes next` : 'the run is done');

/** The checkpoints of a pipeline, each as its latest run has it. */
export function stops(pipeline: Pick<Pipeline, 'checkpoints'>, graph: Pick<Graph, 'nodes'> | undefined, run: Pick<Run, 'current_execution'> | undefined, mine: Mine): TrackStop[] {
  const nodes = new Map(graph?.nodes.map((node) => [node.id, node.status ?? undefined]));
  const current = run?.current_execution ?? undefined;
  return pipeline.checkpoints.map((checkpoint, at) => {
    const before = pipeline.checkpoints[at - 1];
    const here = nodes.get(checkpoint.checkpoint_id);
    const status = current?.checkpoint_id === checkpoint.checkpoint_id ? execution(current, mine) : execution({ status: here ?? 'pending', mode: checkpoint.execution.mode, attempt_number: 1, max_attempts: 1, waiting_for: null }, mine);
    const asks = here === 'waiting_approval_to_start' || (before && nodes.get(before.checkpoint_id) === 'waiting_approval_to_complete');
    const held = checkpoint.human_interaction.requires_approval_to_start || before?.human_interaction.requires_approval_to_complete;
    const reached = here !== undefined && here !== 'pending';
    return { id: checkpoint.checkpoint_id, name: checkpoint.checkpoint_name, status, reached, gate: !held ? undefined : asks ? 'reached' : reached ? 'passed' : 'ahead' };
  });
}

/** The hold line after the last checkpoint, where its result has to be approved. */
export function lastGate(pipeline: Pick<Pipeline, 'checkpoints'>, graph: Pick<Graph, 'nodes'> | undefined): TrackStop['gate'] {
  const last = pipeline.checkpoints.at(-1);
  if (!last?.human_interaction.requires_approval_to_complete) return undefined;
  const status = graph?.nodes.find((node) => node.id === last.checkpoint_id)?.status;
  return status === 'waiting_approval_to_complete' ? 'reached' : status === 'completed' ? 'passed' : 'ahead';
}

export interface Bar {
  id: string;
  version: number;
  /** From 0 to 1: how long it took beside the longest. */
  height: number;
  kind: 'done' | 'failed' | 'live' | 'hold' | 'others' | 'open' | 'gone';
  milliseconds: number;
}

const KINDS: Record<string, Bar['kind']> = { completed: 'done', failed: 'failed', in_progress: 'live', aborted: 'gone' };

/** How long a run has taken, or took. */
export const lasted = (run: Pick<Run, 'created_at' | 'started_at' | 'completed_at'>, now: Date) =>
  Math.max(0, new Date(run.completed_at ?? now).getTime() - new Date(run.started_at ?? run.created_at).getTime());

/** Runs from the oldest to the newest; `asks` are those that wait for somebody, and whether that is the person who looks. */
export function bars(runs: readonly Pick<Run, 'run_id' | 'run_version' | 'status' | 'created_at' | 'started_at' | 'completed_at'>[], asks: ReadonlyMap<string, boolean>, now: Date): Bar[] {
  const longest = Math.max(1, ...runs.map((run) => lasted(run, now)));
  return [...runs].reverse().map((run) => {
    const milliseconds = lasted(run, now);
    const mine = run.status === 'in_progress' ? asks.get(run.run_id) : undefined;
    return { id: run.run_id, version: run.run_version ?? 0, milliseconds, height: Math.max(0.25, Math.sqrt(milliseconds / longest)), kind: mine === undefined ? (KINDS[run.status] ?? 'open') : mine ? 'hold' : 'others' };
  });
}

/** Pipelines whose name, description or checkpoints contain all words. */
export function found<Item extends Pick<Pipeline, 'pipeline_name' | 'pipeline_description' | 'checkpoints'>>(all: readonly Item[], wanted: string): Item[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...all];
  return all.filter((one) => {
    const text = [one.pipeline_name, one.pipeline_description ?? '', ...one.checkpoints.map((checkpoint) => checkpoint.checkpoint_name)].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
