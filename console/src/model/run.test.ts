import { expect, it } from 'vitest';
import type { Checkpoint, Execution, Graph } from '@/api/types';
import { strip, whyOff, work } from './run';

const node = (id: string) => ({ id, name: id, kind: 'step', position: 0, execution_ids: [], status: null }) as unknown as Graph['nodes'][number];
const definition = (id: string, mode: string, human: object = {}, more: object = {}) =>
  ({ checkpoint_id: id, checkpoint_name: id, execution: { mode, ...more }, human_interaction: { requires_approval_to_start: false, requires_approval_to_complete: false, ...human } }) as unknown as Checkpoint;
const execution = (id: string, status: string, more: object = {}) =>
  ({ execution_id: `x-${id}`, checkpoint_id: id, checkpoint_name: id, status, mode: 'script', attempt_number: 1, max_attempts: 1, revision_iteration: 0, usage: { cost_usd: 0 }, ...more }) as unknown as Execution;
const yes = () => true;

it('shows what is to come, and the gates before and after', () => {
  const definitions = [definition('a', 'human_only', { requires_approval_to_complete: true }), definition('b', 'script', {}, { script_config: { script_path: 'b.py' } }), definition('c', 'human_only', { requires_approval_to_complete: true })];
  const { stops, end } = strip([node('a'), node('b'), node('c')], [execution('a', 'completed'), execution('b', 'in_progress')], definitions, yes);
  expect(stops.map((stop) => `${stop.name} ${stop.status.icon} ${stop.gate ?? 'open'} ${stop.reached}`)).toEqual(['a done open true', 'b live passed true', 'c person-pending open false']);
  expect(end).toBe('ahead');
  expect(stops[1]?.meta).toBe('b.py');
});

it('says where a person is asked now', () => {
  const definitions = [definition('a', 'script', { requires_approval_to_complete: true }), definition('b', 'script')];
  const waits = { waiting_for: { kind: 'approve_complete', who: { role: 'approver' } } };
  expect(strip([node('a'), node('b')], [execution('a', 'waiting_approval_to_complete', waits)], definitions, yes).stops[1]?.gate).toBe('reached');
});

it('names who does the work', () => {
  expect(work(definition('a', 'agentic', {}, { agent_config: { creation_mode: 'predefined', agents: [1, 2, 3], discussion_mode: 'council' } }))).toBe('3 agents, council');
  expect(work(definition('a', 'agentic', {}, { agent_config: { creation_mode: 'single' } }))).toBe('1 agent');
  expect(work(undefined, { mode: 'human_only' })).toBe('Form');
});

it('says of every act why it is off, or that it is on', () => {
  const going = { status: 'in_progress', pause_requested: false, current_execution: execution('a', 'in_progress', { mode: 'agentic' }) };
  const operator = { role: 'operator', kind: 'person' };
  const on = whyOff(going, going.current_execution, operator, undefined);
  expect(Object.entries(on).flatMap(([act, why]) => (why ? [act] : []))).toEqual(['start', 'resume', 'retry']);
  expect(whyOff(going, going.current_execution, { role: 'viewer', kind: 'person' }, undefined).pause).toMatch(/needs operator/);
  expect(whyOff(going, going.current_execution, operator, 'Not connected.').note).toBe('Not connected.');
  expect(whyOff({ ...going, status: 'completed' }, undefined, operator, undefined).abort).toBe('The run has ended.');
  expect(whyOff({ ...going, status: 'paused', current_execution: execution('a', 'failed') }, execution('a', 'failed'), operator, undefined)).toMatchObject({ retry: undefined, resume: expect.stringMatching(/tried again/) });
});
