/** Roll back: points to go back to across versions, what each would mean, and the rollbacks that were made. */
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { useRollbackPreview, useUndoRollback } from '@/api/hooks/rollback';
import { useRun } from '@/api/hooks/runs';
import { Problem } from '@/api/problem';
import type { Rollback as Done, Run } from '@/api/types';
import { type Chosen, likely, told, walk, wanted } from '@/model/rollback';
import { Tag } from '@/ui/Badge';
import { Button } from '@/ui/Button';
import { Keys } from '@/ui/Keys';
import { Crumbs, Page } from '@/ui/page';
import { useShortcut } from '@/ui/shortcuts';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { did, toast } from '@/ui/toast';
import { Gone } from './Gone';
import { History } from './History';
import { Impact } from './Impact';
import { Legend, Points } from './Points';
import { Result } from './Result';
import { useVersions } from './useVersions';

export default function Rollback() {
  const { runId } = useParams({ from: '/shell/runs/$runId/rollback' });
  const run = useRun(runId);
  if (run.error) {
    const problem = Problem.of(run.error);
    return (
      <Page title="Roll back">
        {problem.code === 'rolled_back' ? <Gone problem={problem} /> : <ErrorBlock title="The run could not be read" problem={problem} className="m-5 max-w-[560px]" />}
      </Page>
    );
  }
  if (!run.data) {
    return (
      <Page title="Roll back">
        <Loading label="Go back to" />
      </Page>
    );
  }
  return <Screen run={run.data} pipelineId={run.data.pipeline_id ?? ''} />;
}

const undone = (it: Done) => `Undone: v${it.source_run_version} is as it was`;

function Screen({ run, pipelineId }: { run: Run; pipelineId: string }) {
  const search = useSearch({ from: '/shell/runs/$runId/rollback' });
  const navigate = useNavigate({ from: '/runs/$runId/rollback' });
  const { rows, names, byId, rollbacks, pending, error, more } = useVersions(pipelineId);
  const own = rows.find((row) => row.id === run.run_id);
  const chosen = useMemo<Chosen | undefined>(() => {
    const row = rows.find((one) => one.id === (search.run ?? run.run_id));
    const position = Number(search.to);
    if (row && search.to !== undefined && row.points[position]?.execution) return { run: row.id, position };
    const others = rows.filter((one) => !one.archived).map(likely);
    return likely(row) ?? others.find((one) => one !== undefined);
  }, [rows, run.run_id, search.run, search.to]);
  // Going back to an earlier run takes the later ones out, unless the address says otherwise.
  const all = search.level ? search.level === 'run' : chosen !== undefined && chosen.run !== run.run_id && (rows.find((row) => row.id === chosen.run)?.version ?? 0) < (own?.version ?? 0);
  const choose = useCallback((next: Chosen | undefined) => next && void navigate({ search: { to: String(next.position), run: next.run === run.run_id ? undefined : next.run }, replace: true }), [navigate, run.run_id]);
  const preview = useRollbackPreview(chosen && rows.length > 0 && !search.done ? wanted(rows, chosen, all) : undefined);
  const going = useMemo(() => new Set(preview.data?.impact.executions.map((one) => one.execution_id) ?? []), [preview.data]);
  for (const [key, way] of [
    ['h', 'left'],
    ['j', 'down'],
    ['k', 'up'],
    ['l', 'right'],
  ] as const) {
    // The four are always the same, so their order is.
    // eslint-disable-next-line react-hooks/rules-of-hooks
    useShortcut(key, 'choose a point', () => choose(walk(rows, chosen, way)), { order: 10, repeats: true });
  }
  const undo = useUndoRollback();
  // The run that goes on is the one to look at then; the one that was left may be archived.
  const done = (it: Done) => {
    // The screen says it; from elsewhere, u takes it back as well.
    did(`Rolled ${told(it, names)}`, () => undo.mutateAsync(it.rollback_id).then(() => toast(undone(it))));
    void navigate({ to: '/runs/$runId/rollback', params: { runId: it.target_run_id ?? run.run_id }, search: { done: it.rollback_id }, replace: true });
  };
  const undoIt = (it: Done) =>
    void undo.mutateAsync(it.rollback_id).then(
      () => {
        toast(undone(it));
        if (it.source_run_id && it.pipeline_id === pipelineId) void navigate({ to: '/runs/$runId/rollback', params: { runId: it.source_run_id }, search: {}, replace: true });
      },
      () => {},
    );
  const made = rollbacks.find((it) => it.rollback_id === search.done);
  const name = run.pipeline_name ?? 'Run';
  return (
    <Page
      title={`Roll back ${name} v${run.run_version ?? ''}`}
      heading={
        <Crumbs>
          {[
            <Link key="run" to="/runs/$runId" params={{ runId: run.run_id }} className="flex min-w-0 items-center gap-2 hover:text-ink">
              <span className="truncate">{name}</span> <Tag>v{run.run_version}</Tag>
            </Link>,
            'Roll back',
          ]}
        </Crumbs>
      }
      meta={made ? undefined : <span className="max-tablet:hidden">Nothing changes until you confirm.</span>}
      actions={
        <Button kind="quiet" size="small" hint="escape" onClick={() => void navigate({ to: '/runs/$runId', params: { runId: run.run_id } })}>
          Back to the run
        </Button>
      }
    >
      {error ? (
        <ErrorBlock title="The points to go back to could not be read" problem={error} className="m-5 max-w-[560px]" />
      ) : (
        <div className="scroll-pane min-h-0 flex-1 desk:grid desk:grid-cols-[minmax(360px,506px)_minmax(0,1fr)] desk:grid-rows-[minmax(0,1fr)_auto] desk:overflow-hidden">
          <section aria-label="Points to go back to" className="scroll-pane min-h-0 border-line max-desk:border-b desk:border-r">
            <div className="flex h-11 items-center gap-2 border-b border-line px-5 max-tablet:px-4">
              <h2>Go back to</h2>
              <span className="truncate text-small text-ink-3">the point you choose stays done</span>
              <span className="flex-1" />
              <Keys keys="h j k l" />
            </div>
            {pending && rows.length === 0 ? <Loading label="Versions" /> : <Points rows={rows} names={names} chosen={made ? undefined : chosen} going={going} onChoose={choose} />}
            {more && (
              <div className="px-5 py-2">
                <Button size="small" kind="quiet" onClick={more}>
                  Show earlier runs
                </Button>
              </div>
            )}
            <Legend />
          </section>
          <div className="scroll-pane min-h-0">
            {made ? (
              <Result it={made} names={names} busy={undo.isPending} problem={undo.error} onUndo={() => undoIt(made)} onMore={() => void navigate({ search: {}, replace: true })} />
            ) : chosen ? (
              <Impact key={`${chosen.run} ${chosen.position}`} rows={rows} chosen={chosen} all={all} byId={byId} onDone={done} onAll={(next) => void navigate({ search: (now) => ({ ...now, level: next ? 'run' : 'checkpoint' }), replace: true })} />
            ) : (
              !pending && <Empty title="Nothing to go back to yet">When the first checkpoint of a run is done, it stands here as a point to go back to.</Empty>
            )}
          </div>
          <div className="flex max-h-[230px] min-h-0 flex-col border-t border-line max-desk:max-h-none desk:col-span-2">
            <History pipelineId={pipelineId} names={names} undo={undo} onUndo={undoIt} quiet={made !== undefined} />
          </div>
        </div>
      )}
    </Page>
  );
}
