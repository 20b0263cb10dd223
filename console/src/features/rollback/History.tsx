/** Rollbacks that were made: who, what, why, until when each can be undone, and why not. */
import { useMemo, useState } from 'react';
import { useEvents } from '@/api/hooks/events';
import { usePipelines } from '@/api/hooks/pipelines';
import { useRollbacks, type useUndoRollback } from '@/api/hooks/rollback';
import { useMe } from '@/api/hooks/session';
import type { Rollback } from '@/api/types';
import { bytes } from '@/model/figures';
import { hasRole } from '@/model/rights';
import { told, went } from '@/model/rollback';
import { Button } from '@/ui/Button';
import { useOffline } from '@/ui/HintBar';
import { ErrorBlock } from '@/ui/states';
import { SegmentedControl } from '@/ui/Tabs';
import { Time } from '@/ui/values';

interface Props {
  pipelineId: string;
  names: readonly string[];
  undo: ReturnType<typeof useUndoRollback>;
  onUndo: (it: Rollback) => void;
  /** The one just made has its own button, its key and its problems above. */
  quiet: boolean;
}

export function History({ pipelineId, names, undo, onUndo, quiet }: Props) {
  const [everywhere, setEverywhere] = useState(false);
  const list = useRollbacks(everywhere ? {} : { pipeline_id: pipelineId });
  const log = useEvents({ event_type: 'rollback.completed,rollback.undone', ...(everywhere ? {} : { pipeline_id: pipelineId }) });
  const pipelines = usePipelines().data?.pages.flatMap((page) => page.items) ?? [];
  const all = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const who = useMemo(() => {
    const found = new Map<string, string>();
    for (const event of log.data?.pages.flatMap((page) => page.items) ?? []) if (event.rollback_id) found.set(`${event.event_type} ${event.rollback_id}`, event.actor.name);
    return found;
  }, [log.data]);
  const newest = all.find((one) => one.pipeline_id === pipelineId && !one.undone_at && one.undo_until);
  return (
    <section aria-label="Earlier rollbacks" className="flex min-h-0 flex-col">
      <div className="flex flex-none flex-wrap items-center gap-3 px-5 pt-2 pb-1 max-tablet:px-4">
        <h2>Earlier rollbacks</h2>
        <SegmentedControl
          label="Whose rollbacks"
          value={everywhere ? 'all' : 'this'}
          onChange={(value) => setEverywhere(value === 'all')}
          segments={[
            { value: 'this', label: 'This pipeline' },
            { value: 'all', label: 'All pipelines' },
          ]}
        />
      </div>
      {list.error && <ErrorBlock title="The rollbacks could not be read" problem={list.error} className="m-4" />}
      {undo.error && !quiet && <ErrorBlock title="It was not undone" problem={undo.error} className="mx-5 my-2 max-tablet:mx-4" />}
      {list.data && all.length === 0 && <p className="px-5 pb-3 text-small text-ink-3 max-tablet:px-4">Nothing was rolled back yet. What is, stands here with until when it can be undone.</p>}
      <ul className="scroll-pane min-h-0 flex-1 max-tablet:overflow-visible">
        {all.map((it) => (
          <Item
            key={it.rollback_id}
            it={it}
            name={everywhere ? (pipelines.find((one) => one.pipeline_id === it.pipeline_id)?.pipeline_name ?? 'a pipeline') : undefined}
            names={it.pipeline_id === pipelineId ? names : (pipelines.find((one) => one.pipeline_id === it.pipeline_id)?.checkpoints?.map((one) => one.checkpoint_name) ?? [])}
            by={who.get(`rollback.completed ${it.rollback_id}`)}
            undoneBy={who.get(`rollback.undone ${it.rollback_id}`)}
            keys={it === newest && !quiet}
            busy={undo.isPending && undo.variables === it.rollback_id}
            onUndo={() => onUndo(it)}
          />
        ))}
        {list.hasNextPage && (
          <li className="p-2 text-center">
            <Button size="small" kind="quiet" onClick={() => void list.fetchNextPage()}>
              Show older ones
            </Button>
          </li>
        )}
      </ul>
    </section>
  );
}

interface ItemProps {
  it: Rollback;
  name: string | undefined;
  names: readonly string[];
  by: string | undefined;
  undoneBy: string | undefined;
  /** Whether `u` undoes this one. */
  keys: boolean;
  busy: boolean;
  onUndo: () => void;
}

function Item({ it, name, names, by, undoneBy, keys, busy, onUndo }: ItemProps) {
  const { data: me } = useMe();
  const offline = useOffline();
  const size = it.rolled_back_items.archived_artifacts.reduce((sum, one) => sum + one.size_bytes, 0);
  const off = offline ?? (hasRole(me, 'approver') ? undefined : `Undoing needs approver; your role is ${me?.role ?? 'none'}.`);
  return (
    <li className="grid min-h-[34px] items-center gap-x-4 border-t border-line px-5 py-0.5 max-desk:py-2 max-tablet:px-4 desk:grid-cols-[110px_120px_minmax(160px,1.4fr)_minmax(80px,1fr)_170px_auto]">
      <Time at={it.created_at} as="moment" className="text-small text-ink-3" />
      <span className="truncate text-small">{it.triggered_by === 'checkpoint_failure' ? 'by the checkpoint’s rule' : (by ?? '')}</span>
      <span className="truncate font-name">
        {name && <span className="font-medium text-ink-2">{name} </span>}
        {told(it, names)}
      </span>
      <span className="truncate text-small text-ink-2" title={it.user_reason ?? undefined}>
        {it.user_reason}
      </span>
      <span className="text-small text-ink-3">
        {went(it)}, {bytes(size)}
      </span>
      <span className="flex flex-wrap items-center gap-2 text-small text-ink-3 desk:justify-end">
        {it.undone_at ? (
          <span>
            undone <Time at={it.undone_at} as="moment" />
            {undoneBy && ` by ${undoneBy}`}
          </span>
        ) : it.undo_until ? (
          <>
            <span>
              until <Time at={it.undo_until} as="moment" />
            </span>
            <Button size="small" keys={keys ? 'u' : undefined} word={keys ? 'undo the last' : undefined} busy={busy} off={off} offAt="below" label={`Undo: ${told(it, names)}`} onClick={onUndo}>
              Undo
            </Button>
          </>
        ) : (
          'cannot be undone any more: its archive is gone'
        )}
      </span>
    </li>
  );
}
