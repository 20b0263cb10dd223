/** Access tokens. A token itself is seen once, in the answer that makes it. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { body, client } from '../client';
import { keys } from '../keys';
import type { components } from '../schema';

export const useTokens = () =>
  useQuery({ queryKey: keys.tokens, queryFn: () => body(client.GET('/api/tokens', { params: { query: { limit: 200 } } })) });

export function useIssueToken() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (made: components['schemas']['NewToken']) => body(client.POST('/api/tokens', { body: made })),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.tokens }),
  });
}

export function useRevokeToken() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => body(client.DELETE('/api/tokens/{id}', { params: { path: { id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.tokens }),
  });
}
