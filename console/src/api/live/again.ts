/** Asks again for what an event touched. */
import type { QueryClient } from '@tanstack/react-query';

/**
 * An answer that is on its way may be older than the event. What is on the screen is called back and asked for anew; what
 * comes for the first time, or is on no screen any more, is not called back: it is asked for once more when it has come,
 * since its coming would make it look true.
 */
export function again(queries: QueryClient, queryKey: readonly unknown[]): void {
  const early = queries.getQueryCache().findAll({ queryKey, predicate: (query) => query.state.fetchStatus === 'fetching' && (query.state.data === undefined || !query.isActive()) });
  void queries.invalidateQueries({ queryKey });
  for (const query of early) {
    const anew = () => queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
    void query.fetch().then(anew, anew);
  }
}
