import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it, vi } from 'vitest';
import { again } from './again';

it('does not take for true what came after its screen had gone, and is older than the event', async () => {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const answers: ((value: string) => void)[] = [];
  const ask = () => new Promise<string>((resolve) => answers.push(resolve));
  const look = () => new QueryObserver(queries, { queryKey: ['execution', 'x1'], queryFn: ask }).subscribe(() => {});
  const first = look();
  await vi.waitFor(() => expect(answers).toHaveLength(1));
  answers[0]?.('at first');
  await vi.waitFor(() => expect(queries.getQueryData(['execution', 'x1'])).toBe('at first'));
  again(queries, ['execution']);
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  // The screen goes while it is asked for again, and another event comes.
  first();
  again(queries, ['execution']);
  answers[1]?.('between the events');
  await vi.waitFor(() => expect(queries.getQueryState(['execution', 'x1'])).toMatchObject({ data: 'between the events', isInvalidated: true }));
  const second = look();
  await vi.waitFor(() => expect(answers).toHaveLength(3));
  answers[2]?.('after both');
  await vi.waitFor(() => expect(queries.getQueryData(['execution', 'x1'])).toBe('after both'));
  second();
});

it('asks once more for a first answer that may be older than the event', async () => {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const answers: ((value: string) => void)[] = [];
  const ask = () => new Promise<string>((resolve) => answers.push(resolve));
  const stop = new QueryObserver(queries, { queryKey: ['run', 'r1'], queryFn: ask }).subscribe(() => {});
  await vi.waitFor(() => expect(answers).toHaveLength(1));
  for (let events = 0; events < 5; events += 1) again(queries, ['run']);
  answers[0]?.('before the events');
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  answers[1]?.('after it');
  await vi.waitFor(() => expect(queries.getQueryData(['run', 'r1'])).toBe('after it'));
  // What is there already is asked for once.
  again(queries, ['run']);
  await vi.waitFor(() => expect(answers).toHaveLength(3));
  answers[2]?.('later');
  await vi.waitFor(() => expect(queries.getQueryData(['run', 'r1'])).toBe('later'));
  expect(answers).toHaveLength(3);
  stop();
});
