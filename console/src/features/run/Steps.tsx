/** The steps of the selected try: what each took and cost; why it failed; what a check found; what it is compared with. */
import { Link } from '@tanstack/react-router';
import clsx from 'clsx';
import { useAttempts, useContext } from '@/api/hooks/executions';
import type { Attempt, Execution } from '@/api/types';
import { attemptName } from '@/model/conversation';
import { count, many, money } from '@/model/figures';
import type { Status } from '@/model/status';
import { clock, took } from '@/model/time';
import type { Bar } from '@/model/timeline-rows';
import { Button } from '@/ui/Button';
import { StatusMark } from '@/ui/Icon';
import { ErrorBlock } from '@/ui/states';
import { useNow } from '@/ui/values';
import type { RunView } from './useRunView';

/** More steps than this are left out here; the conversation has them all. */
const MOST = 200;

export function Steps({ view }: { view: RunView }) {
  const { execution, row } = view;
  const attempts = useAttempts(execution?.execution_id);
  const context = useContext(execution?.mode === 'agentic' ? execution.execution_id : undefined);
  const going = row?.bars.some((bar) => bar.to === undefined);
  const now = useNow(going ? 1000 : 60_000).getTime();
  if (!execution || !row) return null;
  const tries = attempts.data?.items ?? [];
  const attempt = tries.find((one) => one.revision_iteration === row.revision && one.attempt_number === row.attempt);
  const bars = row.bars.slice(-MOST);
  const cost = attempt?.usage.cost_usd || row.bars.reduce((sum, bar) => sum + (bar.usage?.cost_usd ?? 0), 0);
  const tokens = context.data?.rendered.reduce((most, one) => Math.max(most, one.tokens), 0);
  const name = tries.length > 1 && attempt ? attemptName(attempt, tries) : undefined;
  return (
    <section aria-label="Steps" className="flex flex-none flex-col">
      <div className="flex min-h-[38px] flex-wrap items-center gap-x-[14px] py-1 pr-4 pl-5 max-tablet:pl-4">
        <h2 className="text-body font-name">
          {row.checkpoint}
          {name && `, ${name.charAt(0).toLowerCase()}${name.slice(1)}`}
        </h2>
        <span className="text-small text-ink-3">
          {many(row.bars.length, 'step')}
          {cost > 0 && `, ${money(cost)}${going ? ' so far' : ''}`}
          {row.bars.length > MOST && `, the last ${MOST} are shown`}
        </span>
        <span className="flex-1" />
        {tokens !== undefined && tokens > 0 && <span className="text-small text-ink-3">context about {count(tokens)} tokens</span>}
        {execution.mode === 'agentic' && (
          <Button kind="quiet" size="small" keys="x" word="context" onClick={() => view.go({ tab: 'context' })}>
            See context
          </Button>
        )}
      </div>
      {attempt && <Outcome attempt={attempt} />}
      <div className="scroll-pane">
        <table className="w-full text-small">
          <thead>
            <tr className="label text-left">
              <th scope="col" className="w-[84px] py-1.5 pr-3 pl-5 font-name max-tablet:pl-4">
                Time
              </th>
              <th scope="col" className="py-1.5 pr-3 font-name">
                Step
              </th>
              <th scope="col" className="py-1.5 pr-3 font-name max-tablet:hidden">
                Model
              </th>
              {['In', 'Out', 'Cost'].map((head) => (
                <th key={head} scope="col" className="py-1.5 pr-3 text-right font-name max-tablet:hidden">
                  {head}
                </th>
              ))}
              <th scope="col" className="py-1.5 pr-3 text-right font-name">
                Took
              </th>
              <th scope="col" className="w-9">
                <span className="sr-only">State</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {bars.map((bar) => (
              <Step key={bar.key} bar={bar} now={now} model={view.model} asked={view.stop?.status} onOpen={() => view.go({ tab: 'conversation', message: bar.message })} />
            ))}
            <ToCome view={view} execution={execution} />
          </tbody>
        </table>
      </div>
      <Attempts tries={tries} view={view} execution={execution} />
    </section>
  );
}

function Step({ bar, now, model, asked, onOpen }: { bar: Bar; now: number; model: string | undefined; asked: Status | undefined; onOpen: () => void }) {
  const lesser = bar.kind === 'tool' || bar.kind === 'delay';
  const text = bar.kind === 'wait' ? `${bar.name}${bar.word ? ` ${bar.word}` : ''}` : bar.kind === 'tool' ? (bar.about ?? bar.name) : bar.name;
  const number = 'py-[5px] pr-3 text-right whitespace-nowrap max-tablet:hidden';
  return (
    <tr className={clsx('border-t border-line', lesser && 'text-ink-3')}>
      <td className="fact py-[5px] pr-3 pl-5 max-tablet:pl-4">{clock(new Date(bar.from), true)}</td>
      <td className={clsx('max-w-[220px] truncate py-[5px] pr-3', lesser ? 'fact' : 'font-value')}>
        {bar.message ? (
          <button type="button" onClick={onOpen} className="max-w-full truncate text-left hover:underline">
            {text}
          </button>
        ) : (
          text
        )}
        {bar.about && bar.kind !== 'tool' && <span className="font-body text-ink-3"> {bar.about}</span>}
      </td>
      <td className="fact py-[5px] pr-3 text-ink-3 max-tablet:hidden">{bar.kind === 'turn' && model}</td>
      <td className={number}>{bar.usage ? count(bar.usage.input_tokens) : ''}</td>
      <td className={number}>{bar.usage ? count(bar.usage.output_tokens) : ''}</td>
      <td className={number}>{bar.usage ? money(bar.usage.cost_usd) : ''}</td>
      <td className="py-[5px] pr-3 text-right whitespace-nowrap">{took((bar.to ?? now) - bar.from)}</td>
      <td className="py-[5px] pr-4">
        <Mark bar={bar} asked={asked} />
      </td>
    </tr>
  );
}

/** `asked` is the question that the checkpoint waits with. */
function Mark({ bar, asked }: { bar: Bar; asked: Status | undefined }) {
  if (bar.to === undefined) return bar.kind === 'wait' ? <StatusMark icon={asked?.icon ?? 'hold-ask'} tone={asked?.tone} label={asked?.word ?? 'Waiting'} size={14} /> : <StatusMark icon="live" tone="live" label="Running" size={14} />;
  if (bar.bad) return <StatusMark icon="failed" tone="fail" label="Failed" size={14} />;
  if (bar.kind === 'wait') return <StatusMark icon={bar.word === 'sent back' ? 'sent-back' : 'person-done'} tone="ink-2" label={bar.word ?? 'Done'} size={14} />;
  return bar.kind === 'delay' ? null : <StatusMark icon="passed" tone="done" label="Done" size={14} />;
}

/** What comes after the work that goes on. */
function ToCome({ view, execution }: { view: RunView; execution: Execution }) {
  const { definition } = view;
  if (execution.status !== 'in_progress' || execution.waiting_for || !definition) return null;
  const { human_interaction: human, output } = definition;
  const who = human.approvers?.length ? human.approvers.join(' or ') : 'Somebody';
  const rows = [output.validation?.enabled ? { text: 'Checks', icon: 'pending' as const } : undefined, human.requires_approval_to_complete ? { text: `${who} decides`, icon: 'person-pending' as const } : undefined].filter((one) => one !== undefined);
  return rows.map(({ text, icon }) => (
    <tr key={text} className="border-t border-line text-ink-3">
      <td />
      <td colSpan={6} className="py-[5px]">
        {text}
      </td>
      <td className="py-[5px] pr-4">
        <StatusMark icon={icon} tone="ink-3" label="To come" size={14} />
      </td>
    </tr>
  ));
}

/** Why it failed, what the check said, what a person wanted. */
function Outcome({ attempt }: { attempt: Attempt }) {
  const { error, check, feedback } = attempt;
  return (
    <div className="flex flex-col gap-2 px-5 empty:hidden max-tablet:px-4">
      {error && (
        <div role="group" aria-label="Why it failed" className="flex items-start gap-3 rounded-3 border border-line-2 bg-raised px-3 py-2">
          <StatusMark icon="failed" tone="fail" className="mt-0.5" />
          <div className="min-w-0 flex-1">
            <p className="font-name [overflow-wrap:anywhere]">{error.error_message}</p>
            <p className="fact text-ink-3">{error.error_type}</p>
            {error.stack_trace && (
              <details className="mt-1" open>
                <summary className="cursor-pointer text-small text-ink-2">Stack trace</summary>
                <pre tabIndex={0} className="scroll-pane mt-1 max-h-60 rounded-2 bg-sunken px-2 py-1.5 font-mono text-[12px] leading-[18px]">
                  {error.stack_trace}
                </pre>
              </details>
            )}
          </div>
        </div>
      )}
      {check && (
        <div role="group" aria-label="What the checks found">
          <p className="flex items-center gap-2 font-name">
            <StatusMark icon={check.passed ? 'passed' : 'failed'} tone={check.passed ? 'done' : 'fail'} />
            {check.passed ? 'Checks passed' : 'Checks did not pass'}
          </p>
          {check.reasons.length > 0 && (
            <ul className="mb-1 list-disc pl-10 text-small text-ink-2">
              {check.reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          )}
        </div>
      )}
      {feedback && (
        <p className="text-small text-ink-2">
          <span className="font-name">Asked for afterwards:</span> {feedback}
        </p>
      )}
      {attempt.restarted && <p className="text-small text-ink-3">It was begun again after the server had stopped.</p>}
    </div>
  );
}

const OUTCOMES: Record<string, string> = { working: 'Working', done: 'Done', approved: 'Approved', revision_requested: 'Sent back', failed: 'Failed' };

/** All tries, with a way to put two beside each other. */
function Attempts({ tries, view, execution }: { tries: readonly Attempt[]; view: RunView; execution: Execution }) {
  if (tries.length < 2) return null;
  const id = (one: Attempt) => `${execution.execution_id}@${one.revision_iteration}.${one.attempt_number}`;
  return (
    <div className="border-t border-line pt-1 pb-3">
      <h3 className="px-5 py-1.5 text-body font-name max-tablet:px-4">Tries and revisions</h3>
      <ul>
        {tries.map((one, at) => {
          const before = tries[at - 1];
          return (
            <li key={id(one)} className="flex min-h-[30px] flex-wrap items-center gap-x-3 border-t border-line px-5 text-small max-tablet:px-4">
              <button type="button" className="font-name hover:underline" onClick={() => view.go({ attempt: `${one.revision_iteration}.${one.attempt_number}` })}>
                {attemptName(one, tries)}
              </button>
              <span className={one.outcome === 'failed' ? 'text-fail' : 'text-ink-3'}>{OUTCOMES[one.outcome] ?? one.outcome}</span>
              <span className="min-w-0 flex-1 truncate text-ink-3">{one.error?.error_message ?? one.feedback}</span>
              <span className="text-ink-3">{one.ended_at && took(new Date(one.ended_at).getTime() - new Date(one.started_at).getTime())}</span>
              <span className="w-16 text-right">{money(one.usage.cost_usd)}</span>
              <span className="w-[178px] text-right whitespace-nowrap max-tablet:w-auto">
                {before && (
                  <Link to="/compare" search={{ a: id(before), b: id(one) }} className="underline decoration-line-2 underline-offset-2 hover:decoration-ink">
                    Compare with the one before
                  </Link>
                )}
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

export function ExecutionError({ problem }: { problem: unknown }) {
  return <ErrorBlock title="It could not be read" problem={problem} className="m-5" />;
}
