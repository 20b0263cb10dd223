import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it, vi } from 'vitest';
import { keys } from '../keys';
import type { Event } from '../types';
import { hear, spoken } from './heard';

const event = (seq: number, event_type: string, metadata: Record<string, unknown>) =>
  ({ seq, event_id: `e${seq}`, event_type, timestamp: '2026-07-14T09:00:00Z', run_id: 'r', execution_id: 'x', metadata }) as unknown as Event;

it('turns an event into the message that the conversation lists', () => {
  const said = event(4, 'execution.message', {
    agent: 'Writer',
    role: 'assistant',
    content: [{ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'Six.' }],
    usage: { calls: 1, output_tokens: 12, cost_micros: 4100 },
    about: { scripted: true },
  });
  expect(spoken(said)).toMatchObject({ agent_name: 'Writer', content: 'Six.', scripted: true, usage: { calls: 1, input_tokens: 0, output_tokens: 12, cost_usd: 0.0041 } });
  expect(spoken(event(5, 'execution.message', { role: 'user', content: 'long', more: 'abc' }))).toBeUndefined();
  expect(spoken(event(6, 'execution.message', { role: 'assistant', agent: 'Writer', hidden: true }))).toBeUndefined();
});

it('adds to what is there, once, and leaves alone what nobody looked at', () => {
  const queries = new QueryClient();
  hear(queries, event(4, 'execution.message', { role: 'user', content: 'Go.' }));
  expect(queries.getQueryData(keys.conversation('x'))).toBeUndefined();
  queries.setQueryData(keys.conversation('x'), { items: [] });
  queries.setQueryData(keys.runEvents('r'), { items: [event(4, 'run.started', {})] });
  hear(queries, event(5, 'execution.message', { role: 'user', content: 'Go.' }));
  hear(queries, event(6, 'execution.worked', {}));
  hear(queries, event(6, 'execution.worked', {}));
  const of = (key: readonly unknown[]) => queries.getQueryData<{ items: unknown[] }>(key)?.items.length;
  expect([of(keys.conversation('x')), of(keys.runEvents('r'))]).toEqual([1, 2]);
});

it('lists a message once that was in the answer already', () => {
  const queries = new QueryClient();
  const said = event(5, 'execution.message', { role: 'user', content: 'Go.' });
  queries.setQueryData(keys.conversation('x'), { items: [spoken(said)] });
  hear(queries, said);
  expect(queries.getQueryData<{ items: unknown[] }>(keys.conversation('x'))?.items).toHaveLength(1);
});

it('asks once more where the first answer was on its way, and may be older than the event', async () => {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const answers: ((value: { items: Event[] }) => void)[] = [];
  const ask = () => new Promise<{ items: Event[] }>((resolve) => answers.push(resolve));
  const stop = new QueryObserver(queries, { queryKey: keys.runEvents('r'), queryFn: ask }).subscribe(() => {});
  await vi.waitFor(() => expect(answers).toHaveLength(1));
  const [began, worked] = [event(4, 'run.started', {}), event(5, 'execution.worked', {})];
  hear(queries, worked);
  answers[0]?.({ items: [began] });
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  answers[1]?.({ items: [began, worked] });
  await vi.waitFor(() => expect(queries.getQueryData<{ items: Event[] }>(keys.runEvents('r'))?.items).toHaveLength(2));
  stop();
});

it('asks again for what an event has only a part of', () => {
  const queries = new QueryClient();
  queries.setQueryData(keys.conversation('x'), { items: [] });
  hear(queries, event(5, 'execution.message', { role: 'user', content: 'cut', more: 'abc' }));
  expect(queries.getQueryState(keys.conversation('x'))?.isInvalidated).toBe(true);
});
