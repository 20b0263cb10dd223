import { expect, it } from 'vitest';
import type { Event, Message } from '@/api/types';
import { attemptName, entries, matches } from './conversation';

const time = (second: number) => `2026-07-14T09:00:${String(second).padStart(2, '0')}.000000Z`;
const message = (id: string, second: number, role: string, agent: string, content: string, parts: unknown = content) =>
  ({ message_id: id, timestamp: time(second), role, agent_name: agent, content, parts, scripted: role === 'assistant', usage: {} }) as unknown as Message;
const call = (id: string) => ({ type: 'tool_use', id, name: 'file_operations', input: { operation: 'write', path: 'plan.md' } });
const result = (second: number, id: string, content: string) => ({ event_id: `t${second}`, timestamp: time(second), actor: { kind: 'system', name: 'h' }, metadata: { agent: 'Writer', call: id, content } }) as unknown as Event;
const attempt = (revision_iteration: number, attempt_number: number, second: number) => ({ revision_iteration, attempt_number, started_at: time(second) });
const given = { messages: [] as Message[], tools: [] as Event[], people: [], notes: [] as Event[], attempts: [] as ReturnType<typeof attempt>[] };

it('numbers turns by what agents are asked, and keeps the calls of a turn in it', () => {
  const messages = [
    message('1', 1, 'system', 'Critic', 'You are the critic.'),
    message('2', 1, 'user', 'Critic', 'Name risks.'),
    message('3', 2, 'assistant', 'Critic', 'Three.'),
    message('4', 3, 'user', 'Writer', 'Write.'),
    message('5', 4, 'assistant', 'Writer', 'I write.', [{ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'I write.' }, call('c')]),
    message('6', 6, 'assistant', 'Writer', 'Written.'),
  ];
  const all = entries({ ...given, messages, tools: [result(5, 'c', 'wrote 3 bytes')] });
  const said = all.flatMap((entry) => (entry.kind === 'said' ? [`${entry.agent} ${entry.turn}`] : []));
  expect(said).toEqual(['Critic 1', 'Writer 2', 'Writer 2']);
  expect(all[4]).toMatchObject({ thinking: 'hm', scripted: true, tools: [{ result: 'wrote 3 bytes', took: 1000, failed: false }] });
});

it('takes the answer that came after the call, where later attempts use the same name', () => {
  const messages = [message('1', 1, 'assistant', 'Writer', '', [call('c')]), message('2', 11, 'assistant', 'Writer', '', [call('c')])];
  const all = entries({ ...given, messages, tools: [result(2, 'c', 'first'), result(12, 'c', 'second')], attempts: [attempt(0, 1, 0), attempt(1, 1, 10)] });
  const results = all.flatMap((entry) => (entry.kind === 'said' ? entry.tools.map((tool) => tool.result) : []));
  expect(results).toEqual(['first', 'second']);
});

it('puts people’s words between the revisions', () => {
  const people = [{ interaction_id: 'i', timestamp: time(10), type: 'revision_request', user_input: 'Say who.', actor: 'Mara' }];
  const notes = [{ event_id: 'n', timestamp: time(3), actor: { kind: 'person', name: 'Jonas' }, metadata: { text: 'Mind the date.' } } as unknown as Event];
  const messages = [message('1', 2, 'assistant', 'Writer', 'One.'), message('2', 11, 'assistant', 'Writer', 'Two.')];
  const all = entries({ messages, tools: [], people, notes, attempts: [attempt(0, 1, 0), attempt(1, 1, 10)] });
  expect(all.map((entry) => ('text' in entry ? `${entry.kind} ${entry.text}` : ''))).toEqual(['attempt Revision 1', 'said One.', 'person Mind the date.', 'person Say who.', 'attempt Revision 2', 'said Two.']);
  expect(all[3]).toMatchObject({ verb: 'asked for a revision', name: 'Mara' });
});

it('names attempts by what tells them apart', () => {
  const tries = [attempt(0, 1, 0), attempt(0, 2, 1)];
  expect(tries.map((one) => attemptName(one, tries))).toEqual(['Try 1', 'Try 2']);
  const mixed = [attempt(0, 1, 0), attempt(1, 1, 1), attempt(1, 2, 2)];
  expect(mixed.map((one) => attemptName(one, mixed))).toEqual(['Revision 1', 'Revision 2, try 1', 'Revision 2, try 2']);
});

it('finds text in what was said, and in what tools were given', () => {
  const [entry] = entries({ ...given, messages: [message('1', 1, 'assistant', 'Writer', 'Hello.', [{ type: 'text', text: 'Hello.' }, call('c')])] });
  expect(entry && [matches(entry, 'hello'), matches(entry, 'plan.md'), matches(entry, 'nothing'), matches(entry, '')]).toEqual([true, true, false, true]);
});

it('says of a cut conversation only what is known: no turns of its first try, nobody who spoke before it', () => {
  const messages = [message('1', 20, 'assistant', 'Writer', 'Later.'), message('2', 31, 'user', 'Writer', 'Again.'), message('3', 32, 'assistant', 'Writer', 'New.')];
  const person = (id: string, second: number) => ({ interaction_id: id, timestamp: time(second), type: 'revision_request', user_input: id, actor: 'ann' });
  const all = entries({ ...given, messages, people: [person('old', 10), person('new', 25)], attempts: [attempt(0, 1, 1), attempt(1, 1, 30)], cut: true });
  expect(all.map((entry) => (entry.kind === 'said' ? `turn ${entry.turn}` : `${entry.kind} ${entry.key}`))).toEqual(['turn undefined', 'person new', 'attempt 1.1', 'told 2', 'turn 1']);
});
