/** The questions of the inbox, with what their runs have cost. */
import { useMemo } from 'react';
import { useInbox } from '@/api/hooks/inbox';
import { useRuns } from '@/api/hooks/runs';
import { useMe } from '@/api/hooks/session';
import { question } from '@/model/inbox';

export function useQuestions() {
  const { data: me } = useMe();
  const inbox = useInbox();
  const going = useRuns({ status: 'in_progress' }, 100);
  const paused = useRuns({ status: 'paused' }, 100);
  const runs = useMemo(() => new Map([...(going.data?.pages ?? []), ...(paused.data?.pages ?? [])].flatMap((page) => page.items).map((run) => [run.run_id, run])), [going.data, paused.data]);
  const all = useMemo(() => inbox.data?.pages.flatMap((page) => page.items).map((item) => question(item, me, runs)) ?? [], [inbox.data, me, runs]);
  return { all, me, runs, inbox };
}
