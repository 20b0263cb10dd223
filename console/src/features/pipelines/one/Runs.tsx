/** The runs of a pipeline, newest first: how each stands, how far it came, how long it took, what it cost. */
import { Link } from '@tanstack/react-router';
import clsx from 'clsx';
import type { Me, Run } from '@/api/types';
import { lasted } from '@/model/pipelines';
import { isMine } from '@/model/rights';
import { run as runStatus } from '@/model/status';
import { took } from '@/model/time';
import { Tag } from '@/ui/Badge';
import { StatusLabel } from '@/ui/Icon';
import { Money, Time, useNow } from '@/ui/values';

const COLUMNS = 'desk:grid desk:grid-cols-[72px_minmax(0,1fr)_120px_150px_96px_84px] desk:items-center desk:gap-x-[18px]';

interface Props {
  runs: readonly Run[];
  me: Me | undefined;
  /** What waits, by run: lists of runs do not say. */
  asks: ReadonlyMap<string, Parameters<typeof isMine>[1]>;
  definition: number;
  selected: string | undefined;
}

export function Runs({ runs, me, asks, definition, selected }: Props) {
  const now = useNow();
  return (
    <>
      <div className={clsx('label hidden h-8 border-b border-line bg-canvas px-5', COLUMNS)} aria-hidden="true">
        <span>Version</span>
        <span>Stands at</span>
        <span>Checkpoints</span>
        <span>Started</span>
        <span className="text-right">Took</span>
        <span className="text-right">Spent</span>
      </div>
      <ul aria-label="Runs">
        {runs.map((run) => {
          const status = runStatus(run, (waiting) => isMine(me, waiting), asks.get(run.run_id) as Parameters<typeof runStatus>[2]);
          const { completed_checkpoints: done, total_checkpoints: total } = run.metadata;
          return (
            <li key={run.run_id}>
              <Link
                to="/runs/$runId"
                params={{ runId: run.run_id }}
                data-run={run.run_id}
                aria-current={selected === run.run_id ? 'true' : undefined}
                className={clsx('flex min-h-[46px] flex-wrap items-center gap-x-3 border-b border-line px-5 py-1.5 focus-visible:-outline-offset-2 max-tablet:min-h-[68px] max-tablet:px-4', COLUMNS, selected === run.run_id ? 'selected-row' : 'hover:bg-hover')}
              >
                <span className="flex items-center gap-2 font-name">
                  v{run.run_version}
                  {run.pipeline_definition_version !== definition && <Tag>def {run.pipeline_definition_version}</Tag>}
                </span>
                <StatusLabel status={status} className="min-w-0 truncate" />
                <span aria-hidden="true" className="basis-full desk:hidden" />
                <span className="text-small text-ink-2">
                  {done} of {total} done
                </span>
                <span className="text-small text-ink-3">
                  <Time at={run.started_at ?? run.created_at} as="moment" />
                </span>
                <span className="text-right text-small text-ink-2">{took(lasted(run, now))}</span>
                <span className="text-right text-small">
                  <Money usd={run.usage.cost_usd} />
                </span>
              </Link>
            </li>
          );
        })}
      </ul>
    </>
  );
}
