/** Who is signed in, and whether the server takes work. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { body, client } from '../client';
import { keys } from '../keys';
import { begin } from '../live/connection';
import type { Me } from '../types';

/** Who it is, and where the log stands: nothing else is asked for before both are known. */
const arrive = async () => (await Promise.all([body(client.GET('/api/me')), begin()]))[0];

// Nobody is asked for again while somebody signs in: a question under way has no error, and would take the form away with
// what was typed into it.
export const meQuery = { queryKey: keys.me, queryFn: arrive, retry: false, retryOnMount: false, refetchOnReconnect: false };

export const useMe = () => useQuery(meQuery);

export const useReady = () => useQuery({ queryKey: keys.ready, queryFn: () => body(client.GET('/readyz')) });

export function useSignIn() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (token: string) => body(client.POST('/api/sign-in', { body: { token } })),
    onSuccess: async () => {
      const before = queries.getQueryData<Me>(keys.me);
      const now = await body(client.GET('/api/me'));
      // Somebody else begins at the beginning: what another one saw or wrote is not theirs.
      if (before?.name !== now.name || before.role !== now.role) {
        // What one person has written is not for another.
        sessionStorage.clear();
        return location.reload();
      }
      queries.setQueryData(keys.me, now);
      await queries.invalidateQueries();
    },
  });
}

export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => body(client.POST('/api/sign-out')),
    onSuccess: () => {
      queries.clear();
      sessionStorage.clear();
      location.assign('/');
    },
  });
}
