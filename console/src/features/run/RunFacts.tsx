/** When it began, by whom, what it extends, how long it worked and waited, what it cost. */
import { Link } from '@tanstack/react-router';
import type { Run } from '@/api/types';
import { took } from '@/model/time';
import { waited } from '@/model/timeline-rows';
import { Fact, Facts, Money, Time, useNow } from '@/ui/values';
import type { RunView } from './useRunView';

interface Budgets {
  run?: { cost_usd?: number | null } | null;
}

export function RunFacts({ run, view, reasons, phone }: { run: Run; view: RunView; reasons: readonly string[]; phone: boolean }) {
  const now = useNow(run.status === 'in_progress' ? 5000 : 60_000);
  const began = view.events.data?.items.find((event) => event.event_type === 'run.started' || event.event_type === 'run.created');
  const by = began?.actor.kind === 'person' ? began.actor.name : undefined;
  const people = waited(view.rows, (run.completed_at ? new Date(run.completed_at) : now).getTime());
  const budgets = (view.pipeline.data?.config as { budgets?: Budgets | null } | undefined)?.budgets;
  const digest = view.execution?.definition_digest?.replace('sha256:', '').slice(0, 6);
  return (
    <div className="flex flex-wrap items-start gap-x-[30px] gap-y-2 px-5 pt-[14px] max-tablet:px-4">
      <Facts className="max-tablet:gap-x-5">
        {phone && run.pipeline_id && (
          <Fact label="Pipeline" className="w-full">
            <Link to="/pipelines/$pipelineId" params={{ pipelineId: run.pipeline_id }} className="underline decoration-line-2 underline-offset-2">
              {run.pipeline_name}
            </Link>
          </Fact>
        )}
        <Fact label="Started">
          {run.started_at ? <Time at={run.started_at} as="moment" /> : 'Not yet'}
          {by && run.started_at && `, by ${by}`}
        </Fact>
        {run.previous_run_id && (
          <Fact label="Extends">
            <Link to="/runs/$runId" params={{ runId: run.previous_run_id }} className="underline decoration-line-2 underline-offset-2 hover:decoration-ink">
              v{run.extends_from_run_version}
            </Link>
          </Fact>
        )}
        {run.completed_at && (
          <Fact label="Ended">
            <Time at={run.completed_at} as="moment" />
          </Fact>
        )}
        <Fact label="Work">{took((view.usage.data?.seconds ?? 0) * 1000)}</Fact>
        <Fact label="Waiting for people">{took(people)}</Fact>
        <Fact label="Spent">
          <Money usd={run.usage.cost_usd} of={budgets?.run?.cost_usd} />
        </Fact>
        <Fact label="Definition">
          {run.pipeline_definition_version}
          {digest && (
            <>
              , <span className="font-mono text-[12px]">{digest}</span>
            </>
          )}
        </Fact>
      </Facts>
      {reasons.length > 0 && <p className="ml-auto max-w-[360px] self-end text-right text-small text-ink-3 max-tablet:ml-0 max-tablet:text-left">{reasons.join(' ')}</p>}
    </div>
  );
}
