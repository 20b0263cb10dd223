/** Questions that are not about a result: whether to begin, what to tell a script or an agent, more budget, a choice, another try. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type Answer, useAnswer } from '@/api/hooks/inbox';
import type { Execution, WaitingFor } from '@/api/types';
import { money } from '@/model/figures';
import { undone } from '@/model/inbox';
import { afterwards, unitOf, wrongAmount } from '@/model/review';
import { whyNot } from '@/model/rights';
import { begun } from '@/model/undo';
import { Button } from '@/ui/Button';
import { CopyAs, type Copyable } from '@/ui/CopyAs';
import { Field, Input, RadioRows, TextArea } from '@/ui/fields';
import { useOffline } from '@/ui/HintBar';
import { useShortcut } from '@/ui/shortcuts';
import { ErrorBlock } from '@/ui/states';
import { useStop } from '@/ui/stop';
import { toast } from '@/ui/toast';
import { useDraft } from '@/ui/drafts';
import { Panel } from './Panel';
import { useDecided } from './useDecided';
import type { Review } from './useReview';

interface Props {
  review: Review;
  execution: Execution;
  waiting: WaitingFor;
  phone?: boolean;
}

export function Answers({ review, execution, waiting, phone = false }: Props) {
  const { me, stands } = review;
  const navigate = useNavigate();
  const offline = useOffline();
  const answer = useAnswer();
  const decided = useDecided(review);
  const stop = useStop();
  const [option, setOption] = useState(waiting.kind === 'choice' ? undefined : 'yes');
  const [text, setText] = useDraft(`words ${execution.execution_id} ${waiting.gate_id ?? waiting.kind}`, '');
  const refused = whyNot(me, waiting);
  const name = execution.checkpoint_name ?? 'the step';
  const plan = planOf(waiting, execution, option, text.trim(), name);
  const off = refused ?? offline ?? plan.missing;
  const send = () => {
    if (off !== undefined || answer.isPending || !plan.answer) return;
    answer.mutateAsync(plan.answer).then(
      (done) => {
        setText('');
        const now = (done ?? {}) as Partial<Execution>;
        // Quick hands decide before the run's name has come.
        const where = review.run?.pipeline_name ? ` in ${review.run.pipeline_name} v${execution.run_version ?? ''}` : '';
        const begins = plan.begins ? begun(now, name, where) : undefined;
        const askAgain = () => answer.mutateAsync({ act: 'start', run: execution.run_id }).then((then) => toast(begun(then as Partial<Execution>, name, where).said));
        const undo = plan.heldBack ? askAgain : begins?.stops && now.execution_id ? stop(now.execution_id, name) : undefined;
        decided(plan.said ?? begins?.said ?? '', waiting.kind === 'budget' || waiting.kind === 'choice' || waiting.kind === 'start' ? undefined : done, undo);
      },
      // It stands on the page as the mutation's error.
      () => {},
    );
  };
  useShortcut(phone ? undefined : 'mod+enter', 'decide', send, { order: 18 });
  const primary = (
    <div className="mt-2.5 flex items-start gap-2">
      <div className="min-w-0 flex-1 [&>span]:w-full">
        <Button kind={plan.danger ? 'danger-fill' : 'primary'} size={phone ? 'phone' : 'decisive'} hint={phone ? undefined : 'mod+enter'} busy={answer.isPending} off={off} offAt="below" onClick={send} className="w-full">
          {plan.verb}
        </Button>
      </div>
      {!phone && plan.copy && <CopyAs what={plan.copy} />}
    </div>
  );
  const rows = plan.options;
  return (
    <Panel question={waiting.question} mine={refused === undefined} about={`${afterwards(waiting, stands)} ${undone(waiting, review.point, name)}`.trim()} digest={waiting.digest ?? undefined}>
      {waiting.who.required_approvals && waiting.who.required_approvals > 1 && (
        <p className="mb-2 text-small text-ink-2">
          {waiting.who.approved_by?.length ?? 0} of {waiting.who.required_approvals}
          {waiting.who.approved_by?.map((one) => `, ${one} approved`).join('')}
        </p>
      )}
      {rows && (
        <>
          {rows.map((one) => (
            <Key key={one.value} keys={refused ? undefined : one.keys} onPress={() => setOption(one.value)} />
          ))}
          <RadioRows label="Decision" value={option} options={rows.map(({ keys, ...one }) => ({ ...one, ...(phone || refused ? {} : { keys }), off: refused ? '\u00a0' : undefined }))} onChange={setOption} />
        </>
      )}
      {plan.field && (
        <div className="mt-2">
          {plan.field.short ? (
            <Field label={plan.field.label} help={plan.field.help}>
              <Input inputMode="decimal" value={text} onChange={(event) => setText(event.target.value)} />
            </Field>
          ) : (
            <Field label={plan.field.label} help={plan.field.help} required={plan.field.required ?? false}>
              <TextArea rows={3} value={text} onChange={(event) => setText(event.target.value)} />
            </Field>
          )}
        </div>
      )}
      {primary}
      {waiting.kind === 'retry' && (
        <Button className="mt-2 w-full" keys={phone ? undefined : 'b'} word="roll back" off={offline} offAt="below" onClick={() => void navigate({ to: '/runs/$runId/rollback', params: { runId: execution.run_id }, search: { to: String(execution.checkpoint_position) } })}>
          Roll back instead
        </Button>
      )}
      {answer.error && <ErrorBlock title={`${name} was not answered`} problem={answer.error} className="mt-3" />}
    </Panel>
  );
}

function Key({ keys, onPress }: { keys: string | undefined; onPress: () => void }) {
  useShortcut(keys, 'choose', onPress, { order: 16 });
  return null;
}

interface Plan {
  answer: Answer | undefined;
  verb: string;
  /** What is said of it; of work that begins, what came of it. */
  said?: string;
  begins?: boolean;
  /** Whether the work is not let begin, which asking again undoes. */
  heldBack?: boolean;
  danger?: boolean;
  missing?: string | undefined;
  options?: { value: string; label: string; keys: string }[];
  field?: { label: string; help?: string; short?: boolean; required?: boolean };
  copy?: Copyable;
}

/** What the answer is, given what was chosen and written. */
function planOf(waiting: WaitingFor, execution: Execution, option: string | undefined, text: string, name: string): Plan {
  const id = execution.execution_id;
  const gate = waiting.gate_id ?? '';
  switch (waiting.kind) {
    case 'start':
      return {
        answer: { act: 'start', run: execution.run_id },
        verb: `Start ${name}`,
        begins: true,
        copy: { method: 'POST', path: '/api/executions/start', body: { run_id: execution.run_id } },
      };
    case 'approve_start': {
      const options = [
        { value: 'yes', label: 'Start', keys: 'a' },
        { value: 'no', label: 'Reject', keys: 'x' },
      ];
      const digest = waiting.digest ?? undefined;
      if (option === 'no')
        return {
          answer: { act: 'reject', execution: id, refusal: { feedback: text || undefined, digest } },
          verb: `Reject, do not start ${name}`,
          said: `Did not let ${name} begin`,
          heldBack: true,
          danger: true,
          missing: text ? undefined : 'Say why.',
          options,
          field: { label: 'Why', required: true, help: 'The work does not begin, and your reason stands with it. Starting it asks for approval again.' },
          copy: { command: `holdpoint answer ${id} --reject '…'`, method: 'POST', path: `/api/executions/${id}/reject`, body: { feedback: text } },
        };
      return {
        answer: { act: 'approve-start', execution: id, approval: { digest, feedback: text || undefined } },
        verb: `Start ${name}`,
        begins: true,
        options,
        copy: { command: `holdpoint answer ${id} --approve`, method: 'POST', path: `/api/executions/${id}/approve-start`, body: digest ? { digest } : {} },
      };
    }
    case 'script_input':
    case 'guidance':
      return {
        answer: { act: 'submit', execution: id, submission: { user_input: text } },
        verb: waiting.kind === 'guidance' ? `Send, do ${name} again` : 'Send to the script',
        said: `Answered ${name}`,
        missing: text ? undefined : 'Write something first.',
        field: { label: waiting.kind === 'guidance' ? 'What should be done' : 'Your answer', required: true },
        copy: { command: `holdpoint answer ${id} --input '…'`, method: 'POST', path: `/api/executions/${id}/submit`, body: { user_input: text } },
      };
    case 'budget': {
      const options = [
        { value: 'yes', label: 'Raise the budget', keys: 'a' },
        { value: 'no', label: 'Stop the work', keys: 'x' },
      ];
      const wrong = option === 'yes' ? wrongAmount(text) : undefined;
      const unit = unitOf(waiting);
      return {
        answer: { act: 'answer', gate, digest: waiting.digest, option: option === 'no' ? 'stop' : 'raise', ...(option === 'no' || !text ? {} : { feedback: text }) },
        verb: option === 'no' ? `Stop ${name}` : text && !wrong ? `Raise the budget by ${waiting.budget?.measure === 'cost_usd' ? money(Number(text)) : `${text} ${unit}`}` : 'Raise the budget by as much again',
        said: option === 'no' ? `Stopped ${name}` : `Raised the budget of ${name}`,
        danger: option === 'no',
        missing: wrong,
        options,
        ...(option === 'no' ? {} : { field: { label: `Raise by${unit ? `, ${unit}` : ''}`, help: 'Empty: by as much again.', short: true } }),
        copy: { method: 'POST', path: `/api/gates/${gate}/answer`, body: { digest: waiting.digest, option: option === 'no' ? 'stop' : 'raise', ...(text ? { feedback: text } : {}) } },
      };
    }
    case 'choice':
      return {
        answer: option === undefined ? undefined : { act: 'answer', gate, digest: waiting.digest, option, ...(text ? { feedback: text } : {}) },
        verb: option === undefined ? 'Pick one' : `Pick ${option}`,
        said: `Picked ${option ?? ''}`,
        missing: option === undefined ? 'Pick one first.' : undefined,
        options: (waiting.options ?? []).map((label, at) => ({ value: label, label, keys: String(at + 1) })),
        field: { label: 'A word for the record' },
        copy: { command: `holdpoint answer ${gate} --option '${option ?? '…'}'`, method: 'POST', path: `/api/gates/${gate}/answer`, body: { digest: waiting.digest, option } },
      };
    case 'retry':
      return {
        answer: { act: 'retry', execution: id },
        verb: `Try ${name} again`,
        said: `Trying ${name} again`,
        begins: true,
        copy: { command: `holdpoint answer ${id} --approve`, method: 'POST', path: `/api/executions/${id}/retry`, body: {} },
      };
    default:
      return { answer: undefined, verb: 'Answer', said: '', missing: 'This question is answered elsewhere.' };
  }
}
