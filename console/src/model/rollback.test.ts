import { describe, expect, it } from 'vitest';
import type { Execution, Rollback, Run } from '@/api/types';
import { archived, command, lasting, likely, told, versions, walk, wanted } from './rollback';

const run = (version: number, total = 3) => ({ run_id: `r${version}`, run_version: version, metadata: { total_checkpoints: total } }) as unknown as Run;
const done = (version: number, position: number, more: Partial<Execution> = {}) =>
  ({ execution_id: `e${version}${position}`, run_id: `r${version}`, run_version: version, checkpoint_position: position, checkpoint_name: `C${position}`, status: 'completed', mode: 'human_only', usage: { cost_usd: 0 }, ...more }) as unknown as Execution;
const names = ['C0', 'C1', 'C2'];
const executions = new Map([
  ['r1', [done(1, 0), done(1, 1), done(1, 2)]],
  ['r3', [done(3, 0), done(3, 1), done(3, 2, { status: 'in_progress' })]],
]);
const gone = { undone_at: null, rolled_back_items: { deleted_runs: [{ run_id: 'r2', run_version: 2 }], deleted_checkpoint_executions: [{ run_id: 'r2', checkpoint_position: 0 }], archived_artifacts: [] } } as unknown as Rollback;
const rows = versions([run(3), run(1)], executions, names, [gone]);

describe('points to go back to', () => {
  it('has runs newest first, with those that were taken out between them', () => {
    expect(rows.map((row) => [row.version, row.archived, row.points.length])).toEqual([
      [3, false, 3],
      [2, true, 1],
      [1, false, 3],
    ]);
  });
  it('brings back what was undone', () => {
    expect(versions([run(3)], executions, names, [{ ...gone, undone_at: '2026-01-01T00:00:00Z' }]).some((row) => row.archived)).toBe(false);
  });
  it('walks over what is there, and not over what was taken out', () => {
    expect(walk(rows, { run: 'r3', position: 1 }, 'down')).toEqual({ run: 'r1', position: 1 });
    expect(walk(rows, { run: 'r1', position: 1 }, 'down')).toEqual({ run: 'r1', position: 1 });
    expect(walk(rows, { run: 'r1', position: 1 }, 'left')).toEqual({ run: 'r1', position: 0 });
    expect(walk(rows, { run: 'r1', position: 0 }, 'left')).toEqual({ run: 'r1', position: 0 });
    expect(walk(rows, undefined, 'up')).toEqual({ run: 'r3', position: 2 });
  });
  it('proposes the last thing done that something stands behind', () => {
    expect(likely(rows[0])).toEqual({ run: 'r3', position: 1 });
    expect(likely(rows[2])).toEqual({ run: 'r1', position: 1 });
  });
});

describe('the request', () => {
  it('stays within its run, or takes later runs out from the newest', () => {
    expect(wanted(rows, { run: 'r3', position: 1 }, true)).toEqual({ rollback_type: 'checkpoint_level', source_run_id: 'r3', target_checkpoint_position: 1 });
    const all = wanted(rows, { run: 'r1', position: 1 }, true);
    expect(all).toEqual({ rollback_type: 'run_level', source_run_id: 'r3', target_run_id: 'r1', target_checkpoint_position: 1 });
    expect(command({ ...all, user_reason: "it's wrong" })).toBe("holdpoint rollback r3 --to 1 --to-run r1 --reason 'it'\\''s wrong'");
  });
});

describe('in words', () => {
  const impact = { runs: [{ run_id: 'r3', run_version: 3 }], executions: [{ execution_id: 'e30', run_id: 'r3' }, { execution_id: 'e12', run_id: 'r1' }] } as never;
  it('counts runs whole and executions alone', () => {
    expect(archived(impact)).toBe('archive 1 run and 1 execution');
  });
  it('names what stays done, one by one', () => {
    const known = new Map([
      ['e30', done(3, 0, { mode: 'script', started_at: 'x' })],
      ['e12', done(1, 2, { mode: 'agentic', started_at: 'x', usage: { cost_usd: 1.5 } as never })],
    ]);
    expect(lasting(impact, known)).toEqual(['What the script of “C0” in v3 did outside its folder stays done.', '$1.50 for the agents of “C2” in v1 stays spent.']);
  });
  it('says from where to where', () => {
    expect(told({ rollback_type: 'run_level', source_run_version: 3, target_run_version: 1, target_checkpoint_position: 1 } as Rollback, names)).toBe('v3 back to C1 in v1');
  });
});
