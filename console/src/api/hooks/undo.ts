/** What has to be known to undo a decision: what stands before it, in its run or in the one before. */
import { skipToken, useQuery } from '@tanstack/react-query';
import { body, client } from '../client';
import { useRun, useRunCheckpoints } from './runs';

export function useBefore(id: string | undefined, position: number | null | undefined) {
  const run = useRun(id);
  const first = position === 0;
  const own = useRunCheckpoints(first ? undefined : id);
  const pipeline = run.data?.pipeline_id ?? undefined;
  const before = first ? (run.data?.previous_run_id ?? undefined) : undefined;
  const previous = useRun(before);
  const theirs = useRunCheckpoints(before);
  const newest = useQuery({
    queryKey: ['runs', { pipeline }, 'newest'],
    queryFn: before && pipeline ? () => body(client.GET('/api/runs', { params: { query: { pipeline_id: pipeline, limit: 1 } } })) : skipToken,
  });
  // A run that was rolled back answers with a problem, as if there were none.
  const none = run.data !== undefined && (before === undefined || previous.error != null);
  return { run: run.data, own: own.data?.items, previous: none ? null : previous.data, theirs: theirs.data?.items, newest: newest.data?.items[0]?.run_id };
}
