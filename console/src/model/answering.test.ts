import { describe, expect, it } from 'vitest';
import type { WaitingFor } from '@/api/types';
import { type About, choices, field, type Given, planOf } from './answering';
import { consequence, undone } from './consequences';

const waiting = (kind: WaitingFor['kind'], more: Partial<WaitingFor> = {}): WaitingFor => ({ kind, gate_id: 'g1', digest: 'sha256:1', question: '?', actions: [], since: '', who: { role: 'approver' }, assurance: { minimum: 'local' }, ...more });
const about = (kind: WaitingFor['kind'], more: Partial<WaitingFor> = {}): About => ({ waiting: waiting(kind, more), run: 'r1', execution: 'x1', name: 'Plan', pipeline: 'Brief', version: 3, revision: 2 });
const plan = (kind: WaitingFor['kind'], given: Given = {}, more: Partial<WaitingFor> = {}) => planOf(about(kind, more), given);
const said = (kind: WaitingFor['kind'], given: Given, now = {}) => plan(kind, given).said(about(kind), now);

it('sends nothing before something was chosen', () => {
  for (const kind of ['approve_complete', 'approve_start', 'budget', 'choice'] as const) expect([kind, plan(kind).command, plan(kind).missing !== undefined]).toEqual([kind, undefined, true]);
});

it('sends every decision with the digest of what was shown', () => {
  expect(plan('approve_complete', { option: 'approve', words: ' ok ' }).command).toEqual({ act: 'approve-complete', execution: 'x1', approval: { digest: 'sha256:1', feedback: 'ok' } });
  expect(plan('approve_complete', { option: 'edit', edits: { plan: 'new' } }).command).toEqual({ act: 'approve-complete', execution: 'x1', approval: { digest: 'sha256:1', feedback: undefined, edits: [{ artifact_name: 'plan', content: 'new' }] } });
  expect(plan('approve_complete', { option: 'revise', words: 'No.' }).command).toEqual({ act: 'reject', execution: 'x1', refusal: { feedback: 'No.', digest: 'sha256:1' } });
  expect(plan('approve_start', { option: 'yes' }).command).toEqual({ act: 'approve-start', execution: 'x1', approval: { digest: 'sha256:1', feedback: undefined } });
  expect(plan('budget', { option: 'yes', words: '2' }).command).toEqual({ act: 'answer', gate: 'g1', digest: 'sha256:1', option: 'raise', feedback: '2' });
  expect(plan('budget', { option: 'no', words: '2' }).command).toEqual({ act: 'answer', gate: 'g1', digest: 'sha256:1', option: 'stop' });
  expect(plan('choice', { option: 'North' }).command).toEqual({ act: 'answer', gate: 'g1', digest: 'sha256:1', option: 'North' });
});

it('says what is missing', () => {
  expect(plan('approve_complete', { option: 'revise' }).missing).toBe('Say what should change, or comment on a line.');
  expect(plan('approve_complete', { option: 'reject' }).missing).toBe('Say why.');
  expect(plan('approve_complete', { option: 'edit' }).missing).toBe('Change something first.');
  expect(plan('guidance').missing).toBe('Write something first.');
  expect(plan('budget', { option: 'yes', words: 'much' }).missing).toBe('Write an amount like 2.50.');
  expect(plan('approve_complete', { option: 'approve' }).missing).toBeUndefined();
});

it('names what the button does', () => {
  const comments = [{ file: 'plan.md', line: 1, on: '', text: 'Why?' }];
  expect([plan('approve_complete', { option: 'approve' }).verb, plan('approve_complete', { option: 'revise', comments }).verb, plan('start').verb, plan('budget', { option: 'yes', words: '9' }, { budget: { measure: 'tokens' } as never }).verb]).toEqual(['Approve revision 2', 'Ask for revision 3, 1 comment', 'Start Plan', 'Raise the budget by 9 tokens']);
});

it('says what was done, and how it is undone', () => {
  expect(said('approve_complete', { option: 'approve' })).toBe('Approved Plan, revision 2');
  expect(said('approve_complete', { option: 'reject' })).toBe('Rejected Plan, Brief v3 was given up');
  expect(said('start', {}, { status: 'in_progress' })).toBe('Started Plan in Brief v3');
  expect(plan('approve_complete', { option: 'approve' }).undo({ status: 'completed' })).toBe('back');
  expect(plan('approve_complete', { option: 'approve' }).undo({ status: 'waiting_approval_to_complete' })).toBeUndefined();
  expect(plan('start').undo({ status: 'in_progress' })).toBe('stop');
  expect(plan('start').undo({ status: 'waiting_approval_to_start' })).toBeUndefined();
  expect(plan('approve_start', { option: 'no', words: 'No.' }).undo({})).toBe('ask');
});

it('offers choices and fields by the kind of question', () => {
  expect(choices(waiting('choice', { options: ['A', 'B'] }))?.map((one) => one.keys)).toEqual(['1', '2']);
  expect(choices(waiting('start'))).toBeUndefined();
  expect(field(waiting('budget'), 'no')).toBeUndefined();
  expect(field(waiting('approve_start'), 'no')?.required).toBe(true);
});

describe('one sentence', () => {
  const around = { place: { total: 3, next: 'Legal review' }, approved: false, version: 3 };
  it('says what an answer leads to', () => {
    const say = (kind: WaitingFor['kind'], option?: string, more: Partial<WaitingFor> = {}, approved = false) => consequence(waiting(kind, more), option, { ...around, approved });
    expect(say('approve_complete')).toBe('If you approve, the result counts and Legal review comes next.');
    expect(say('approve_complete', 'approve')).toBe(say('approve_complete'));
    expect(say('approve_complete', 'approve', { who: { role: 'approver', required_approvals: 2 } })).toBe('If you approve, 1 more approval is needed.');
    expect(say('form', undefined, {}, true)).toBe('When it is sent, it waits to be approved; then Legal review comes next.');
    expect(say('form')).toBe('When it is sent, the form counts and Legal review comes next.');
    expect(consequence(waiting('approve_complete'), undefined, { place: { total: 3, next: undefined }, approved: false, version: 1 })).toBe('If you approve, the result counts and the run is done.');
  });
  it('says how it is undone', () => {
    const say = (kind: WaitingFor['kind'], role: string, approved = false) => undone(waiting(kind), undefined, { approved, point: null, name: 'Plan', me: { role } });
    expect(say('form', 'approver', true)).toBe('Until then it can be sent back.');
    expect(say('form', 'operator')).toBe('You cannot undo it: rolling back needs approver.');
    expect(say('approve_complete', 'approver')).toBe('It cannot be undone: there is no earlier point to go back to.');
  });
});
