import { expect, it } from 'vitest';
import { asked, execution, foremost, run } from './status';

const yes = () => true;
const no = () => false;
const who = { role: 'approver', approvers: [] as string[] };
const waiting = (kind: string) => ({ kind, who, actions: [], question: '?', since: '2026-07-14T09:42:00Z' });
const at = (status: string, more = {}) => ({ status, attempt_number: 1, max_attempts: 3, ...more });

it('draws every state of an execution', () => {
  const drawn = ['pending', 'in_progress', 'completed', 'failed', 'skipped', 'cancelled', 'archived'].map((state) => execution(at(state), yes));
  expect(drawn.map((one) => `${one.icon} ${one.tone} ${one.word}`)).toEqual([
    'pending ink-3 Pending',
    'live live Running',
    'done ink-2 Done',
    'failed fail Failed',
    'skipped ink-3 Skipped',
    'aborted ink-3 Cancelled',
    'archived ink-3 Archived',
  ]);
  expect(execution(at('completed', { mode: 'human_only' }), yes).icon).toBe('person-done');
  expect(execution(at('pending', { mode: 'human_only' }), yes).icon).toBe('person-pending');
  expect(execution(at('in_progress', { attempt_number: 2 }), yes).word).toBe('Running, try 2 of 3');
  expect(execution(at('failed', { attempt_number: 3 }), yes).word).toBe('Failed after 3 tries');
});

it('draws a question by its kind for who may answer, and outlined for who may not', () => {
  const kinds = ['approve_start', 'approve_complete', 'form', 'guidance', 'choice', 'budget'];
  expect(kinds.map((kind) => asked(waiting(kind), true).icon)).toEqual(['hold-start', 'hold-complete', 'hold-form', 'hold-ask', 'hold-choice', 'hold-budget']);
  expect(kinds.every((kind) => asked(waiting(kind), true).tone === 'hold')).toBe(true);
  expect(asked({ ...waiting('form'), who: { role: 'approver', approvers: ['Priya Raman'] } }, false)).toEqual({ icon: 'others', tone: 'hold-ink', word: 'Waiting for Priya Raman' });
  expect(asked(waiting('retry'), true).icon).toBe('failed');
});

it('draws a run by what it waits for', () => {
  const going = { status: 'in_progress', pause_requested: false, current_execution: null };
  expect(run(going, yes).word).toBe('Running');
  expect(run({ ...going, pause_requested: true }, yes).icon).toBe('pausing');
  const held = { ...going, current_execution: { waiting_for: waiting('form') } as never };
  expect(run(held, yes)).toEqual({ icon: 'hold-form', tone: 'hold', word: 'Waits for you' });
  expect(run(held, no).icon).toBe('others');
  expect(run({ ...going, status: 'paused', pause_reason: 'checkpoint_failed', current_execution: { status: 'failed' } as never }, yes)).toEqual({
    icon: 'failed',
    tone: 'fail',
    word: 'Paused, checkpoint failed',
  });
});

it('lets failed stand before waiting, and waiting before running', () => {
  const [failed, held, live, done] = ['failed', 'waiting_approval_to_start', 'in_progress', 'completed'].map((state) => execution(at(state), yes));
  expect(foremost([done!, live!, held!, failed!])).toBe(failed);
  expect(foremost([done!, live!, held!])).toBe(held);
  expect(foremost([done!, live!])).toBe(live);
  expect(foremost([])).toBeUndefined();
});
