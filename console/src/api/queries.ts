/** The store of answers. Live events keep it true, so nothing is asked again by the clock. */
import { QueryClient } from '@tanstack/react-query';
import { Problem } from './problem';

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY,
        gcTime: 10 * 60_000,
        refetchOnWindowFocus: false,
        retry: (count, error) => Problem.of(error).passing && count < 3,
        retryDelay: (count) => Math.min(500 * 2 ** count, 4000),
      },
      // A decision is sent once; its key makes a second try safe, and the person makes it.
      mutations: { retry: false },
    },
  });
}
