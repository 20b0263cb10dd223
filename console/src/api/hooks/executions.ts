/** One execution: what it says, what it was given, how often it was tried. */
import { type QueryClient, type QueryKey, skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { extended, joined, type Tail, tail } from '../tail';
import { body, client } from '../client';
import { keys } from '../keys';
import type { Execution, Interaction, LogLine, Message } from '../types';

const NONE: never[] = [];

const at = (id: string) => ({ params: { path: { id } } });

export const useExecution = (id: string | undefined) =>
  useQuery({ queryKey: keys.execution(id ?? ''), queryFn: id ? () => body(client.GET('/api/executions/{id}', at(id))) : skipToken });

/** How many of the newest messages, lines or decisions are asked for, and how many earlier ones with each click. */
const PAGE = 200;

interface Long<Item> {
  key: QueryKey;
  page: (cursor: string | undefined) => Promise<{ items: Item[]; next_cursor?: string | null }>;
  id: (item: Item) => string;
}

const conversation = (id: string): Long<Message> => ({
  key: keys.conversation(id),
  page: (cursor) => body(client.GET('/api/executions/{id}/conversation', { params: { path: { id }, query: { order: 'newest', limit: PAGE, cursor } } })),
  id: (one) => one.message_id,
});

const logs = (id: string): Long<LogLine> => ({
  key: keys.logs(id),
  page: (cursor) => body(client.GET('/api/executions/{id}/logs', { params: { path: { id }, query: { order: 'newest', limit: PAGE, cursor } } })),
  id: (one) => one.log_id,
});

const interactions = (id: string): Long<Interaction> => ({
  key: keys.interactions(id),
  page: (cursor) => body(client.GET('/api/executions/{id}/interactions', { params: { path: { id }, query: { limit: PAGE, cursor } } })),
  id: (one) => one.interaction_id,
});

/** The newest items, in front of which what was loaded before stays. */
const newest = <Item>(queries: QueryClient, { key, page, id }: Long<Item>) => ({
  queryKey: key,
  queryFn: async (): Promise<Tail<Item>> => {
    const now = tail(await page(undefined));
    return joined(queries.getQueryData<Tail<Item>>(key), now, id);
  },
});

/** Many conversations at once, for an overview. */
export const conversationQuery = (queries: QueryClient, id: string) => newest(queries, conversation(id));

/** The end of a long list, which grows at its front when `showEarlier` is called. */
function useTail<Item>(long: (id: string) => Long<Item>, id: string | undefined, refetchInterval: number | false = false) {
  const queries = useQueryClient();
  const { key, page, id: idOf } = long(id ?? '');
  const { queryFn } = newest(queries, { key, page, id: idOf });
  const query = useQuery({ queryKey: key, queryFn: id ? queryFn : skipToken, refetchInterval });
  const load = useMutation({
    mutationFn: async (cursor: string) => {
      const more = await page(cursor);
      queries.setQueryData<Tail<Item>>(key, (now) => now && extended(now, cursor, more));
    },
  });
  const cursor = query.data?.earlier;
  return { ...query, hasEarlier: !!cursor, loadingEarlier: load.isPending, earlierError: load.error, showEarlier: () => cursor && load.mutate(cursor) };
}

export const useConversation = (id: string | undefined) => useTail(conversation, id);

/** Lines of a log are no events, so they are asked for again while the work goes on. */
export const useLogs = (id: string | undefined, working = false) => useTail(logs, id, working ? 1000 : false);

/** What people said and decided. The execution has the newest of it: only what is left out there is asked for. */
export function useInteractions(execution: Pick<Execution, 'execution_id' | 'human_interactions' | 'human_interactions_cursor'> | undefined) {
  const rest = useTail(interactions, execution?.human_interactions_cursor ? execution.execution_id : undefined);
  return { ...rest, items: rest.data?.items ?? execution?.human_interactions ?? NONE };
}

export const useContext = (id: string | undefined) =>
  useQuery({ queryKey: keys.context(id ?? ''), queryFn: id ? () => body(client.GET('/api/executions/{id}/context', at(id))) : skipToken });

export const useAttempts = (id: string | undefined) =>
  useQuery({ queryKey: keys.attempts(id ?? ''), queryFn: id ? () => body(client.GET('/api/executions/{id}/attempts', at(id))) : skipToken });

function useMove<Input, Output>(send: (input: Input) => Promise<Output>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: () => Promise.all(['run', 'runs', 'execution', 'inbox'].map((area) => queries.invalidateQueries({ queryKey: [area] }))),
  });
}

export const useNote = () =>
  useMove(({ id, text }: { id: string; text: string }) => body(client.POST('/api/executions/{id}/note', { ...at(id), body: { text } })));
export const useRetry = () => useMove((id: string) => body(client.POST('/api/executions/{id}/retry', { ...at(id), body: {} })));
export const useCancel = () => useMove((id: string) => body(client.POST('/api/executions/{id}/cancel', { ...at(id), body: {} })));
