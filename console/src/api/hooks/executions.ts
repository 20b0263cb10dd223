/** One execution: what it says, what it was given, how often it was tried. */
import { skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { body, client } from '../client';
import { keys } from '../keys';

const at = (id: string) => ({ params: { path: { id } } });

export const useExecution = (id: string | undefined) =>
  useQuery({ queryKey: keys.execution(id ?? ''), queryFn: id ? () => body(client.GET('/api/executions/{id}', at(id))) : skipToken });

export const useConversation = (id: string | undefined) =>
  useQuery({ queryKey: keys.conversation(id ?? ''), queryFn: id ? () => body(client.GET('/api/executions/{id}/conversation', at(id))) : skipToken });

/** Lines of a log are no events, so they are asked for again while the work goes on. */
export const useLogs = (id: string | undefined, working = false) =>
  useQuery({
    queryKey: keys.logs(id ?? ''),
    queryFn: id ? () => body(client.GET('/api/executions/{id}/logs', at(id))) : skipToken,
    refetchInterval: working ? 1000 : false,
  });

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
