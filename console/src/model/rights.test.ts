import { expect, it } from 'vitest';
import { isMine, whyNot } from './rights';

const mara = { name: 'Mara', role: 'approver', kind: 'person' };

it('says who may answer, and why somebody may not', () => {
  expect(isMine(mara, { who: { role: 'approver' } })).toBe(true);
  expect(isMine(mara, { who: { role: 'approver', approvers: ['Mara', 'Jonas'] } })).toBe(true);
  expect(whyNot(mara, { who: { role: 'admin' } })).toBe('Your role is approver; this needs admin.');
  expect(whyNot(mara, { who: { role: 'approver', approvers: ['Jonas'] } })).toBe('Only Jonas may answer.');
  expect(whyNot(mara, { who: { role: 'approver', asked_by: 'Mara' } })).toBe('You asked for it yourself.');
  expect(whyNot(mara, { who: { role: 'approver', approved_by: ['Mara'] } })).toBe('You have approved it already.');
  expect(whyNot({ ...mara, kind: 'agent' }, { who: { role: 'viewer' } })).toBe('An agent never decides.');
  expect(whyNot(undefined, { who: { role: 'viewer' } })).toBeDefined();
});
