/** All pipelines, and which runs of them wait, for this person or for others. */
import { useMemo } from 'react';
import { useInbox } from '@/api/hooks/inbox';
import { usePipelines } from '@/api/hooks/pipelines';
import { useMe } from '@/api/hooks/session';
import { isMine } from '@/model/rights';

export function usePipelineRows() {
  const { data: me } = useMe();
  const pipelines = usePipelines();
  const inbox = useInbox();
  const items = useMemo(() => inbox.data?.pages.flatMap((page) => page.items) ?? [], [inbox.data]);
  const asks = useMemo(() => new Map(items.map((item) => [item.run_id as string, isMine(me, item.waiting_for)])), [items, me]);
  const waiting = useMemo(() => new Set(items.filter((item) => isMine(me, item.waiting_for)).map((item) => item.pipeline_id)), [items, me]);
  const all = useMemo(() => pipelines.data?.pages.flatMap((page) => page.items) ?? [], [pipelines.data]);
  return { me, pipelines, all, asks, waiting };
}
