/** Beside the work: what the checks said, what people decided so far, and what it cost. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useInteractions } from '@/api/hooks/executions';
import type { Execution } from '@/api/types';
import { count, many } from '@/model/figures';
import { did, wrote } from '@/model/review';
import { Earlier } from '@/ui/Earlier';
import { StatusMark } from '@/ui/Icon';
import { Money, Time } from '@/ui/values';

export function Side({ execution, spent }: { execution: Execution; spent: number | undefined }) {
  const interactions = useInteractions(execution);
  const { check, waiting_for: waiting, error_details: errors } = execution;
  const reasons = waiting?.reasons ?? [];
  const failed = reasons.length > 0 || (waiting?.kind === 'retry' && errors.last_error != null);
  return (
    <div className="flex flex-col gap-4 px-5 pt-4 pb-5 max-tablet:px-4">
      {(check || reasons.length > 0) && (
        <section aria-label="Checks">
          <Heading end={execution.usage.cost_usd > 0 ? <Money usd={execution.usage.cost_usd} /> : undefined} about={check && reasons.length === 0 ? (check.passed ? 'passed' : 'not passed') : `${many(reasons.length, 'complaint')}`}>
            Checks
          </Heading>
          <ul>
            {reasons.length > 0
              ? reasons.map((reason) => <Finding key={reason} passed={false} text={reason} />)
              : (check?.reasons.length ? check.reasons : [check?.passed ? 'Everything that is checked is as it should be' : 'The check did not pass']).map((reason) => <Finding key={reason} passed={check?.passed ?? false} text={reason} />)}
          </ul>
        </section>
      )}
      {failed && errors.last_error && reasons.length === 0 && (
        <section aria-label="What went wrong">
          <Heading about={errors.error_count > 1 ? `${errors.error_count} tries` : undefined}>What went wrong</Heading>
          <ul>
            <Finding passed={false} text={errors.last_error.error_message} />
          </ul>
        </section>
      )}
      <section aria-label="Decisions so far">
        <Heading>Decisions so far</Heading>
        <Earlier what="decisions" lists={[interactions]} onShow={interactions.showEarlier} />
        {interactions.items.length === 0 ? (
          <p className="py-1.5 text-small text-ink-3">Nobody has decided anything here yet.</p>
        ) : (
          <ul>
            {interactions.items.map((one) => (
              <li key={one.interaction_id} className="grid grid-cols-[16px_1fr_auto] gap-x-[9px] border-t border-line py-[5px]">
                <StatusMark icon={one.type === 'revision_request' ? 'sent-back' : 'person-done'} tone="ink-2" className="mt-0.5" />
                <span className="min-w-0">
                  {one.actor ?? 'Somebody'} {did(one)}
                </span>
                <Time at={one.timestamp} as="moment" className="text-small text-ink-3" />
                {wrote(one) !== undefined && <span className="col-start-2 text-small [overflow-wrap:anywhere] whitespace-pre-line text-ink-3">{wrote(one)}</span>}
              </li>
            ))}
          </ul>
        )}
      </section>
      <section aria-label="So far">
        <Heading>So far</Heading>
        <dl className="text-small">
          <Line label="Spent on this step">
            <Money usd={execution.usage.cost_usd} />
            {execution.usage.calls > 0 && `, ${many(execution.usage.calls, 'call')}, ${count(execution.usage.input_tokens + execution.usage.output_tokens)} tokens`}
          </Line>
          {spent !== undefined && (
            <Line label="Spent on the run">
              <Money usd={spent} />
            </Line>
          )}
          <Line label="Try">
            {execution.attempt_number} of {execution.max_attempts}
          </Line>
        </dl>
        <Link to="/runs/$runId" params={{ runId: execution.run_id }} search={{ execution: execution.execution_id }} className="mt-1 inline-block text-small underline underline-offset-2">
          Open the run
        </Link>
      </section>
    </div>
  );
}

function Heading({ children, about, end }: { children: string; about?: string | undefined; end?: ReactNode }) {
  return (
    <div className="flex h-7 items-center gap-2">
      <h3 className="text-body">{children}</h3>
      {about && <span className="text-small text-ink-3">{about}</span>}
      <span className="flex-1" />
      {end && <span className="text-small text-ink-3">{end}</span>}
    </div>
  );
}

function Finding({ passed, text }: { passed: boolean; text: string }) {
  return (
    <li className="flex items-start gap-[9px] border-t border-line py-[7px]">
      <StatusMark icon={passed ? 'passed' : 'failed'} tone={passed ? 'done' : 'fail'} label={passed ? 'Passed' : 'Failed'} className="mt-0.5" />
      <span className="min-w-0 [overflow-wrap:anywhere]">{text.replaceAll('`', '')}</span>
    </li>
  );
}

function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex justify-between gap-3 border-t border-line py-1">
      <dt className="text-ink-3">{label}</dt>
      <dd className="text-right">{children}</dd>
    </div>
  );
}
