/** Points to go back to, and what going back means in words. What would go is always the API's answer. */
import type { components } from '@/api/schema';
import type { Execution, Rollback, Run } from '@/api/types';
import { many, money } from './figures';

type Impact = components['schemas']['ImpactDocument'];
export type NewRollback = components['schemas']['NewRollback'];

/** A cell of the table: one checkpoint of one run. */
export interface Point {
  position: number;
  name: string;
  /** Nothing has happened there yet, or it was taken out. */
  execution?: Execution;
}

export interface Version {
  id: string;
  version: number;
  /** Nothing for a run that was rolled back as a whole. */
  run?: Run;
  points: Point[];
  archived: boolean;
}

/** Runs, newest first, each with a point per checkpoint; runs that rollbacks took out stand between them, empty. */
export function versions(runs: readonly Run[], executions: ReadonlyMap<string, readonly Execution[]>, names: readonly string[], rollbacks: readonly Rollback[]): Version[] {
  const rows: Version[] = runs.map((run) => {
    const own = executions.get(run.run_id) ?? [];
    const length = Math.max(names.length, run.metadata.total_checkpoints, ...own.map((one) => one.checkpoint_position + 1));
    return {
      id: run.run_id,
      version: run.run_version ?? 0,
      run,
      archived: false,
      points: Array.from({ length }, (_, position) => {
        const execution = own.findLast((one) => one.checkpoint_position === position);
        return { position, name: execution?.checkpoint_name ?? names[position] ?? `Checkpoint ${position + 1}`, ...(execution && { execution }) };
      }),
    };
  });
  const seen = new Set(rows.map((row) => row.id));
  const oldest = Math.min(...rows.map((row) => row.version));
  for (const { undone_at, rolled_back_items } of rollbacks) {
    if (undone_at) continue;
    for (const { run_id, run_version } of rolled_back_items.deleted_runs) {
      if (seen.has(run_id) || run_version < oldest) continue;
      seen.add(run_id);
      const length = Math.max(0, ...rolled_back_items.deleted_checkpoint_executions.filter((one) => one.run_id === run_id).map((one) => (one.checkpoint_position ?? 0) + 1));
      rows.push({ id: run_id, version: run_version, archived: true, points: Array.from({ length }, (_, position) => ({ position, name: names[position] ?? `Checkpoint ${position + 1}` })) });
    }
  }
  return rows.sort((a, b) => b.version - a.version);
}

export interface Chosen {
  run: string;
  position: number;
}

/** Moves the choice over points that have something: left and right within a run, up and down between runs. */
export function walk(rows: readonly Version[], at: Chosen | undefined, by: 'left' | 'right' | 'up' | 'down'): Chosen | undefined {
  const open = rows.filter((row) => row.points.some((point) => point.execution));
  const row = open.findIndex((one) => one.id === at?.run);
  const here = open[row];
  if (!here || !at) return first(open);
  const places = (version: Version) => version.points.filter((point) => point.execution).map((point) => point.position);
  if (by === 'left' || by === 'right') {
    const all = places(here);
    const next = by === 'left' ? all.findLast((one) => one < at.position) : all.find((one) => one > at.position);
    return next === undefined ? at : { run: at.run, position: next };
  }
  const next = open[row + (by === 'down' ? 1 : -1)];
  if (!next) return at;
  const all = places(next);
  return { run: next.id, position: all.findLast((one) => one <= at.position) ?? all[0] ?? 0 };
}

const first = (rows: readonly Version[]): Chosen | undefined => {
  const point = rows[0]?.points.findLast((one) => one.execution);
  return rows[0] && point ? { run: rows[0].id, position: point.position } : undefined;
};

/** Where a person most likely wants to go: the checkpoint before the one that the run is at. */
export function likely(row: Version | undefined): Chosen | undefined {
  const done = row?.points.filter((point) => point.execution?.status === 'completed') ?? [];
  const reached = row?.points.filter((point) => point.execution) ?? [];
  const point = done.length === reached.length ? (done.at(-2) ?? done.at(-1)) : done.at(-1);
  return row && point ? { run: row.id, position: point.position } : undefined;
}

/** The request. `all` takes every later run out as well, which only a run that is not the newest has. */
export function wanted(rows: readonly Version[], chosen: Chosen, all: boolean): NewRollback {
  const newest = rows.find((row) => !row.archived);
  if (all && newest && newest.id !== chosen.run) {
    return { rollback_type: 'run_level', source_run_id: newest.id, target_run_id: chosen.run, target_checkpoint_position: chosen.position };
  }
  return { rollback_type: 'checkpoint_level', source_run_id: chosen.run, target_checkpoint_position: chosen.position };
}

/** What goes, in the verb of the button: "archive 2 executions", "archive 2 runs and 1 execution". */
export function archived(impact: Impact): string {
  const whole = new Set(impact.runs.map((run) => run.run_id));
  const single = impact.executions.filter((one) => !whole.has(one.run_id)).length;
  const parts = [...(whole.size > 0 ? [many(whole.size, 'run')] : []), ...(single > 0 || whole.size === 0 ? [many(single, 'execution')] : [])];
  return `archive ${parts.join(' and ')}`;
}

/** What no rollback takes back, one by one, as far as the answers tell. */
export function lasting(impact: Impact, executions: ReadonlyMap<string, Execution>): string[] {
  const said: string[] = [];
  const going = impact.executions.map((one) => executions.get(one.execution_id)).filter((one) => one !== undefined);
  const name = (one: Execution) => `“${one.checkpoint_name ?? `Checkpoint ${one.checkpoint_position + 1}`}” in v${one.run_version ?? '?'}`;
  for (const one of going.filter((it) => it.started_at && it.mode === 'script')) said.push(`What the script of ${name(one)} did outside its folder stays done.`);
  for (const one of going.filter((it) => it.started_at && it.mode === 'agentic' && it.usage.cost_usd > 0)) said.push(`${money(one.usage.cost_usd)} for the agents of ${name(one)} stays spent.`);
  for (const one of going.filter((it) => it.status === 'in_progress' && it.mode !== 'human_only')) said.push(`${name(one)} is at work and will be stopped.`);
  return said;
}

/** The request as a command. */
export function command({ source_run_id, target_run_id, target_checkpoint_position, user_reason }: NewRollback): string {
  const quoted = user_reason ? ` --reason '${user_reason.replaceAll("'", "'\\''")}'` : '';
  return `holdpoint rollback ${source_run_id} --to ${target_checkpoint_position}${target_run_id ? ` --to-run ${target_run_id}` : ''}${quoted}`;
}

/** "v3 back to Plan in v1" */
export function told(it: Rollback, names: readonly string[]): string {
  const at = it.target_checkpoint_position;
  const place = at == null ? 'the start' : (names[at] ?? `checkpoint ${at + 1}`);
  return it.rollback_type === 'run_level' ? `v${it.source_run_version} back to ${place} in v${it.target_run_version}` : `v${it.source_run_version} back to ${place}`;
}

/** "2 runs, 7 executions, 403 B" without the bytes. */
export function went({ rolled_back_items: items }: Rollback): string {
  const runs = items.deleted_runs.length;
  return `${runs > 0 ? `${many(runs, 'run')}, ` : ''}${many(items.deleted_checkpoint_executions.length, 'execution')}`;
}
