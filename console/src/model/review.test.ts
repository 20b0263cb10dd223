import { describe, expect, it } from 'vitest';
import type { Artifact, Interaction } from '@/api/types';
import { askedSoFar, commentsOf, defaults, earlier, faults, feedback, filled, ways, wrote } from './review';

const artifact = (id: string, revision: number, at: string, more: Partial<Artifact> = {}) => ({ artifact_record_id: id, artifact_id: 'a', revision_iteration: revision, attempt_number: 1, created_at: at, ...more }) as Artifact;

describe('comments', () => {
  const comments = [{ file: 'plan.md', line: 12, on: 'Rates rose about 9 per cent.', text: 'Where does 9 come from?\nThe analysis says 6.8.' }];
  it('go with the words and are found again', () => {
    const text = feedback(' Nearly there. ', comments);
    expect(text).toBe('Nearly there.\n\nplan.md, line 12 (“Rates rose about 9 per cent.”): Where does 9 come from?\nThe analysis says 6.8.');
    expect(commentsOf(text)).toEqual(comments);
    expect(feedback('', [])).toBe('');
  });
  it('say on which revision they were made', () => {
    const said = (user_input: string): Interaction => ({ interaction_id: '', timestamp: 't', type: 'revision_request', user_input, system_response: '', actor: 'Jonas' });
    expect(askedSoFar([said('No.'), said(feedback('', comments))]).map((one) => [one.revision, one.by, one.line])).toEqual([[2, 'Jonas', 12]]);
  });
});

it('compares with the revision before, or with what stood before an edit', () => {
  const one = artifact('1', 0, '1');
  const two = artifact('2', 1, '2');
  const edited = artifact('3', 1, '3');
  expect(earlier([two, one], two)).toBe(one);
  expect(earlier([edited, two, one], edited)).toBe(two);
  expect(earlier([one], one)).toBeUndefined();
});

it('offers what can be done, and says why the rest cannot', () => {
  const offered = ways({ revision_iteration: 2, max_revision_iterations: 2 }, { who: { role: 'approver', required_approvals: 2 } }, true);
  expect(offered.map((one) => one.off)).toEqual([undefined, 'off: others approve it as well', 'none left', undefined]);
});

it('sends numbers as numbers and leaves out what is empty', () => {
  const fields = [
    { name: 'goal', type: 'text', label: 'Goal', required: true },
    { name: 'weeks', type: 'number', label: 'Weeks', required: false, default: 4 },
    { name: 'sure', type: 'boolean', label: 'Sure', required: true },
  ] as const;
  expect(defaults(fields)).toEqual({ goal: '', weeks: '4', sure: '' });
  expect(filled(fields, { goal: '', weeks: '4.5', sure: 'false' }).fields).toEqual({ weeks: 4.5, sure: false });
  expect(filled(fields, { goal: 'x', weeks: 'many', sure: '' }).fields).toEqual({ goal: 'x', weeks: 'many' });
  const found = faults({ errors: [{ pointer: '/fields/goal', message: '`Goal` is required' }, { pointer: '/other', message: 'x' }] }, fields);
  expect(found).toEqual({ by: { goal: 'Goal is required.' }, rest: [{ pointer: '/other', message: 'x' }] });
});

it('shows what a person wrote, a form as lines', () => {
  expect(wrote({ type: 'form', user_input: '{"goal":"Fewer late parcels","weeks":6}' })).toBe('goal: Fewer late parcels\nweeks: 6');
  expect(wrote({ type: 'form', user_input: '{"goal":"Fewer la' })).toBe('{"goal":"Fewer la');
  expect(wrote({ type: 'revision_request', user_input: 'shorter' })).toBe('shorter');
  expect(wrote({ type: 'approval_to_complete', user_input: 'approved with changes' })).toBeUndefined();
});
