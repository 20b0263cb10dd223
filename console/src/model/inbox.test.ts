import { expect, it } from 'vitest';
import type { InboxItem } from '@/api/types';
import { groups, question } from './inbox';

const me = { name: 'Mara', role: 'approver', kind: 'person', pipelines: [] };
const item = (more: Partial<InboxItem['waiting_for']> = {}): InboxItem => ({
  run_id: 'r1',
  run_version: 7,
  checkpoint_name: 'Draft',
  pipeline_name: 'Quarterly market brief',
  execution_id: 'x1',
  waiting_for: { kind: 'approve_complete', gate_id: 'g1', question: 'Approve the draft?', actions: [], since: '2026-07-14T09:42:00Z', who: { role: 'approver' }, assurance: { minimum: 'local' }, ...more },
});
const runs = new Map([['r1', { usage: { cost_usd: 2.31 } as never }]]);

it('says where a question stands, what it cost, and whose it is', () => {
  const mine = question(item(), me, runs);
  expect(mine).toMatchObject({ key: 'g1', mine: true, open: true, where: 'v7, Draft', cost: 2.31, others: undefined });
  const theirs = question(item({ who: { role: 'approver', approvers: ['Jonas Okafor'], required_approvals: 2, approved_by: ['Priya'] } }), me, runs);
  expect(theirs).toMatchObject({ mine: false, open: false, where: 'v7, Draft, 1 of 2', others: 'Jonas Okafor' });
});

it('groups by who may answer', () => {
  const all = [question(item(), me, runs), question(item({ gate_id: 'g2', who: { role: 'approver', approvers: ['Mara'] } }), me, runs), question(item({ gate_id: 'g3', who: { role: 'admin' } }), me, runs)];
  const keys = (show: Parameters<typeof groups>[1], oldest = false) => {
    const { yours, others } = groups(all, show, oldest);
    return [yours.map((one) => one.key), others.map((one) => one.key)];
  };
  expect(keys('mine')).toEqual([['g1', 'g2'], ['g3']]);
  expect(keys('mine', true)).toEqual([['g2', 'g1'], ['g3']]);
  expect(keys('anyone')).toEqual([['g1'], []]);
  expect(keys('others')).toEqual([[], ['g3']]);
});
