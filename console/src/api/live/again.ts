/** Asks again for what an event touched. */
import type { QueryClient } from '@tanstack/react-query';

/**
 * An answer that is on its way for the first time may be older than the event, and is not called back for it: it is
 * asked for once more when it has come.
 */
export function again(queries: QueryClient, queryKey: readonly unknown[]): void {
  const early = queries.getQueryCache().findAll({ queryKey, predicate: ({ state }) => state.fetchStatus === 'fetching' && state.data === undefined });
  void queries.invalidateQueries({ queryKey });
  for (const query of early) {
    const anew = () => queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
    void query.fetch().then(anew, anew);
  }
}
