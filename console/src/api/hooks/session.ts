/** Who is signed in, and whether the server takes work. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { body, client } from '../client';
import { keys } from '../keys';

export const useMe = () => useQuery({ queryKey: keys.me, queryFn: () => body(client.GET('/api/me')), retry: false });

export const useReady = () => useQuery({ queryKey: keys.ready, queryFn: () => body(client.GET('/readyz')) });

export function useSignIn() {
  return useMutation({
    mutationFn: (token: string) => body(client.POST('/api/sign-in', { body: { token } })),
    // From the beginning, at the same address: what was asked for nobody counts for nothing.
    onSuccess: () => location.reload(),
  });
}

export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => body(client.POST('/api/sign-out')),
    onSuccess: () => {
      queries.clear();
      location.assign('/');
    },
  });
}
