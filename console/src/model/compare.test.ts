import { describe, expect, it } from 'vitest';
import type { Comparison } from '@/api/types';
import { type CheckpointComparison, differs, firstDifference, pairs, parseSide, sideName, sideStatus } from './compare';
import { difference } from './difference';

const same = { checkpoint_position: 0, status_a: 'completed', status_b: 'completed', artifacts: [], decisions_a: [], decisions_b: [] } as CheckpointComparison;

describe('sides', () => {
  it('reads every form of address', () => {
    expect(parseSide(undefined)).toBeUndefined();
    expect(parseSide('r1')).toEqual({ id: 'r1' });
    expect(parseSide('e1@1.2')).toEqual({ id: 'e1', revision: 1, attempt: 2 });
  });
  it('names them', () => {
    expect(sideName({ kind: 'run', run_version: 2 } as never)).toBe('v2');
    expect(sideName({ kind: 'attempt', run_version: 2, revision_iteration: 1, attempt_number: 3 } as never, 'Plan')).toBe('Plan in v2, revision 2, try 3');
  });
});

describe('how they stand', () => {
  it('knows outcomes of tries, and asks nobody', () => {
    expect(sideStatus({ kind: 'attempt', status: 'revision_requested' })).toMatchObject({ icon: 'sent-back', word: 'Sent back' });
    expect(sideStatus({ kind: 'execution', status: 'waiting_approval_to_complete' })).toMatchObject({ icon: 'others', tone: 'hold-ink' });
    expect(sideStatus({ kind: 'run', status: 'completed' })).toMatchObject({ word: 'Done' });
    expect(sideStatus({ kind: 'run', status: 'in_progress' }, ['completed', 'in_progress'])).toMatchObject({ icon: 'live', word: 'Running' });
    expect(sideStatus({ kind: 'run', status: 'in_progress' }, ['completed', 'waiting_approval_to_complete'])).toMatchObject({ icon: 'others', word: 'Waiting for approval' });
  });
});

describe('differences', () => {
  it('says what differs, and where first', () => {
    expect(differs(same)).toEqual([]);
    const other = { ...same, checkpoint_position: 1, definition_diff: 'x', artifacts: [{ artifact_name: 'plan', change: 'changed' }] } as CheckpointComparison;
    expect(differs(other)).toEqual(['definition', '1 artifact']);
    expect(differs({ ...same, status_b: null })).toEqual(['only on the left']);
    expect(firstDifference({ checkpoints: [same, other] } as Comparison)).toBe(1);
    expect(firstDifference({ checkpoints: [same] } as Comparison)).toBeUndefined();
  });
  it('puts what came beside what went', () => {
    const [hunk] = difference('a\nb\nc', 'a\nB\nB2\nc').hunks;
    expect(hunk && pairs(hunk).map(({ left, right }) => [left?.before, right?.after])).toEqual([
      [1, 1],
      [2, 2],
      [undefined, 3],
      [3, 4],
    ]);
  });
});
