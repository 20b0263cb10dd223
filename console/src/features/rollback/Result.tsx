/** What was just done, and the ways on: undo it, go on with the run, or choose another point. */
import { useNavigate } from '@tanstack/react-router';
import type { Rollback } from '@/api/types';
import { bytes, many } from '@/model/figures';
import { told, went } from '@/model/rollback';
import { Button } from '@/ui/Button';
import { CopyAs } from '@/ui/CopyAs';
import { useOffline } from '@/ui/HintBar';
import { ErrorBlock } from '@/ui/states';
import { Fact, Facts, Time } from '@/ui/values';

interface Props {
  it: Rollback;
  names: readonly string[];
  busy: boolean;
  problem: unknown;
  onUndo: () => void;
  onMore: () => void;
}

export function Result({ it, names, busy, problem, onUndo, onMore }: Props) {
  const navigate = useNavigate();
  const offline = useOffline();
  const items = it.rolled_back_items;
  const next = it.target_checkpoint_position == null ? names[0] : names[it.target_checkpoint_position + 1];
  return (
    <section role="status" aria-label="What was done" className="flex flex-col gap-4 px-7 pt-5 pb-6 max-tablet:px-4">
      <div>
        <h2 className="text-question max-tablet:text-title">Rolled back: {told(it, names)}</h2>
        <p className="text-ink-2">
          {next ? `${next} is the current checkpoint of v${it.target_run_version} and waits to be started.` : `v${it.target_run_version} is completed.`} What went is in the archive, and its addresses say so.
        </p>
      </div>
      <Facts>
        <Fact label="Archived">{went(it)}</Fact>
        <Fact label="Artifacts">
          {many(items.archived_artifacts.length, 'file')}, {bytes(items.archived_artifacts.reduce((sum, one) => sum + one.size_bytes, 0))}
        </Fact>
        {it.user_reason && <Fact label="Why">{it.user_reason}</Fact>}
        {it.undo_until && (
          <Fact label="Can be undone until">
            <Time at={it.undo_until} as="moment" />
          </Fact>
        )}
      </Facts>
      <p className="fact [overflow-wrap:anywhere] text-ink-3">{it.archive_location}</p>
      {problem != null && <ErrorBlock title="It was not undone" problem={problem} />}
      <div className="flex flex-wrap items-center gap-2">
        <Button kind="primary" size="decisive" onClick={() => void navigate({ to: '/runs/$runId', params: { runId: it.target_run_id ?? it.source_run_id ?? '' } })}>
          {`Go on with v${it.target_run_version}`}
        </Button>
        <Button size="decisive" icon="back" keys="u" word="undo" busy={busy} off={offline ?? (it.undone_at ? 'It was undone.' : undefined)} onClick={onUndo}>
          Undo
        </Button>
        <Button size="decisive" kind="quiet" onClick={onMore}>
          Choose another point
        </Button>
        <CopyAs what={{ command: `holdpoint rollback undo ${it.rollback_id}`, method: 'POST', path: `/api/rollback/${it.rollback_id}/undo`, body: {} }} label="Copy the undo as a command or request" />
      </div>
    </section>
  );
}
