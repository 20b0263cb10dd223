import { describe, expect, it } from 'vitest';
import type { WaitingFor } from '@/api/types';
import { undone } from './consequences';
import { backTo, begun, type Known, type Point, pointBefore, takenBack, within } from './undo';

const run = (id: string, version: number, more: Partial<NonNullable<Known['run']>> = {}) => ({ run_id: id, run_version: version, status: 'completed' as const, pipeline_id: 'p', pipeline_definition_version: 1, ...more });
const done = (position: number, name: string, status: 'completed' | 'failed' | 'in_progress' = 'completed') => ({ checkpoint_position: position, checkpoint_name: name, status });
const v1 = run('one', 1);
const v2 = run('two', 2, { status: 'in_progress' });
const known = (more: Partial<Known> = {}): Known => ({ run: v2, own: undefined, previous: null, theirs: undefined, newest: undefined, ...more });
const before = { previous: v1, theirs: [done(1, 'Report'), done(0, 'Goals')], newest: 'two' };

describe('the point before a checkpoint', () => {
  it('is the checkpoint before it in the same run', () => {
    const own = [done(0, 'Goals'), done(1, 'Plan'), done(2, 'Report', 'in_progress')];
    const point = pointBefore(1, known({ own }));
    expect(point).toMatchObject({ run: 'two', target: 'two', position: 0, name: 'Goals' });
    expect(backTo(point as Point)).toMatchObject({ params: { runId: 'two' }, search: { to: '0', run: undefined } });
    expect(pointBefore(2, known({ own }))).toMatchObject({ position: 1, name: 'Plan' });
  });
  it('is the end of the run before, for a first checkpoint', () => {
    const point = pointBefore(0, known(before));
    expect(point).toMatchObject({ run: 'two', target: 'one', targetVersion: 1, position: 1, name: 'Report' });
    expect(backTo(point as Point)).toMatchObject({ params: { runId: 'two' }, search: { to: '1', run: 'one' } });
    // A run that was given up does not go on from there.
    expect(within(point)).toBeNull();
  });
  it('is nowhere, where more would go with it or nothing stands', () => {
    expect(pointBefore(0, known())).toBeNull();
    expect(pointBefore(0, known({ ...before, newest: 'three' }))).toBeNull();
    expect(pointBefore(0, known({ ...before, previous: run('one', 1, { status: 'aborted' }) }))).toBeNull();
    expect(pointBefore(0, known({ ...before, previous: run('one', 1, { pipeline_definition_version: 7 }) }))).toBeNull();
    expect(pointBefore(1, known({ own: [done(0, 'Goals', 'failed')] }))).toBeNull();
    expect(pointBefore(1, known({ run: run('flow', 1, { pipeline_id: null }), own: [done(0, 'Goals')] }))).toBeNull();
    expect(pointBefore(null, known({ own: [] }))).toBeNull();
  });
  it('is not known before the answers are there', () => {
    expect(pointBefore(1, known({ run: undefined }))).toBeUndefined();
    expect(pointBefore(1, known())).toBeUndefined();
    expect(pointBefore(0, known({ ...before, theirs: undefined }))).toBeUndefined();
    expect(pointBefore(0, known({ ...before, newest: undefined }))).toBeUndefined();
  });
});

describe('how it is undone, in words', () => {
  const point = pointBefore(1, known({ own: [done(0, 'Goals')] }));
  const other = pointBefore(0, known(before));
  const say = (who: WaitingFor['who'], kind: WaitingFor['kind'], option: string | undefined, at: typeof point, name: string) => undone({ kind, who }, option, { point: at, name, approved: true, me: undefined });
  const one = { role: 'approver' } as const;
  const two = { role: 'approver', required_approvals: 2 } as const;
  it('promises an undo only where there is one', () => {
    expect(takenBack(point, 'Plan')).toBe('Undo goes back to Goals; Plan is then done again.');
    expect(takenBack(other, 'Goals')).toBe('Undo goes back to the end of v1 and archives v2.');
    expect(takenBack(null, 'Goals')).toBe('It cannot be undone: there is no earlier point to go back to.');
    expect(takenBack(undefined, 'Goals')).toBe('');
  });
  it('differs by what is decided', () => {
    expect(say(two, 'approve_complete', 'approve', point, 'Plan')).toBe('Your approval counts until somebody asks for a revision.');
    expect(say(one, 'approve_complete', 'edit', point, 'Plan')).toBe('Undo goes back to Goals; Plan is then done again.');
    expect(say(one, 'approve_complete', 'revise', point, 'Plan')).toBe('It cannot be undone; what was made is kept.');
    expect(say(one, 'approve_complete', 'reject', point, 'Plan')).toBe('Undo goes back to Goals, and the run goes on from there.');
    expect(say(one, 'approve_complete', 'reject', other, 'Goals')).toBe('It cannot be undone.');
    expect(say(one, 'approve_start', undefined, point, 'Plan')).toBe('Undo stops it and pauses the run.');
    expect(say(one, 'choice', undefined, point, 'Plan')).toBe('It cannot be undone.');
  });
});

it('says that work began only when it did', () => {
  expect(begun({ status: 'in_progress' }, 'Plan', ' in Brief v2')).toEqual({ said: 'Started Plan in Brief v2', stops: true });
  expect(begun({ status: 'completed' }, 'Plan', '')).toEqual({ said: 'Started Plan', stops: false });
  expect(begun({ status: 'waiting_approval_to_start' }, 'Plan', '')).toEqual({ said: 'Plan waits to be approved before it starts', stops: false });
});
