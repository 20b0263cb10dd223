/** Asks again for what an event touched. */
import type { Query, QueryClient } from '@tanstack/react-query';

/** What is asked for once more as soon as it has come, however many events there are until then. */
const waiting = new WeakSet<Query>();

/**
 * An answer that is on its way may be older than the event. What is on the screen is called back and asked for anew; what
 * comes for the first time, or is on no screen any more, is not called back: it is asked for once more when it has come,
 * since its coming would make it look true.
 */
export function again(queries: QueryClient, queryKey: readonly unknown[]): void {
  const early = queries.getQueryCache().findAll({ queryKey, predicate: (query) => query.state.fetchStatus === 'fetching' && (query.state.data === undefined || !query.isActive()) });
  void queries.invalidateQueries({ queryKey });
  for (const query of early) {
    if (waiting.has(query)) continue;
    waiting.add(query);
    const anew = () => {
      waiting.delete(query);
      return queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
    };
    void query.fetch().then(anew, anew);
  }
}
