/** The ways to answer a question. A decision waits for the server's word, and never shows before it is made. */
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { type Answer, useAnswer } from '@/api/hooks/inbox';
import { useAbort } from '@/api/hooks/runs';
import { useMe } from '@/api/hooks/session';
import { Problem } from '@/api/problem';
import type { Execution } from '@/api/types';
import type { Question } from '@/model/inbox';
import { unitOf, wrongAmount } from '@/model/review';
import { whyNot } from '@/model/rights';
import { backTo, begun, takenUp, within } from '@/model/undo';
import { Button } from '@/ui/Button';
import { CopyAs, type Copyable } from '@/ui/CopyAs';
import { Field, Input, TextArea } from '@/ui/fields';
import { useOffline } from '@/ui/HintBar';
import { Dialog, Sheet } from '@/ui/overlays';
import { ErrorBlock } from '@/ui/states';
import { useShortcut } from '@/ui/shortcuts';
import { useStop } from '@/ui/stop';
import { toast, type Undo } from '@/ui/toast';
import { answeredHere } from './answered-here';
import type { Work } from './useWork';

interface Props {
  question: Question;
  work: Work;
  /** Whether all of the content is on the screen. */
  whole: boolean;
  phone?: boolean;
}

type Asking = 'revision' | 'reject' | undefined;

export function Actions({ question, work, whole, phone = false }: Props) {
  const { item } = question;
  const { waiting_for: waiting, execution_id: execution } = item;
  const { data: me } = useMe();
  const navigate = useNavigate();
  const offline = useOffline();
  const answer = useAnswer();
  const abort = useAbort();
  const [asking, setAsking] = useState<Asking>();
  const [more, setMore] = useState(false);
  const off = whyNot(me, waiting) ?? offline;
  const name = item.checkpoint_name ?? question.pipeline;
  const size = phone ? 'phone' : 'normal';
  const review = (act?: string) => execution && void navigate({ to: '/review/$executionId', params: { executionId: execution }, search: act ? { do: act } : {} });
  // The question may be gone from the screen before the answer comes back, so the promise is what is waited for.
  const send = (given: Answer, said: string | ((done: Partial<Execution>) => string), undo?: (done: Partial<Execution>) => Undo | undefined) => {
    answeredHere(question.key);
    return answer.mutateAsync(given).then(
      (done) => {
        const now = (done ?? {}) as Partial<Execution>;
        setAsking(undefined);
        toast(typeof said === 'string' ? said : said(now), undo?.(now));
      },
      // It stands on the page as `answer.error`.
      () => {},
    );
  };
  const rollback = () => void navigate({ to: '/runs/$runId/rollback', params: { runId: item.run_id }, search: { to: String(item.checkpoint_position ?? 0) } });
  const stop = useStop();
  const { point } = work;
  const where = ` in ${question.pipeline} v${item.run_version ?? ''}`;
  // Another approval may still be needed; then nothing counts yet that could be taken back.
  const back = (now: Partial<Execution>) => (now.status === 'completed' && point ? () => navigate(backTo(point)) : undefined);
  const stopped = (now: Partial<Execution>) => (begun(now, name, where).stops && now.execution_id ? stop(now.execution_id, name) : undefined);
  const askAgain = () => answer.mutateAsync({ act: 'start', run: item.run_id }).then((now) => toast(begun(now as Partial<Execution>, name, where).said));
  const started = (now: Partial<Execution>) => begun(now, name, where).said;
  useShortcut(execution && !phone ? 'enter' : undefined, 'open', () => review(), { order: 40 });

  // A result is approved at once only when its checks passed and all of it was seen.
  const passed = work.execution.data?.check?.passed !== false;
  const atOnce = waiting.kind !== 'approve_complete' || (whole && passed);
  const approve = () => {
    if (!execution) return;
    if (waiting.kind === 'approve_complete' && !atOnce && !phone) return review();
    const approval = { digest: waiting.digest ?? undefined };
    if (waiting.kind === 'approve_complete') void send({ act: 'approve-complete', execution, approval }, `Approved ${name}${revision(work)}`, back);
    else if (waiting.kind === 'approve_start') void send({ act: 'approve-start', execution, approval }, started, stopped);
    else if (waiting.kind === 'start') void send({ act: 'start', run: item.run_id }, started, stopped);
    else if (waiting.kind === 'retry') void send({ act: 'retry', execution }, `Trying ${name} again`, stopped);
  };
  const busy = answer.isPending;
  const first = { kind: 'primary', size, busy, off, offAt: phone ? 'hidden' : 'beside', className: phone ? 'flex-1' : undefined } as const;
  const second = { size, off, offAt: 'hidden', className: phone ? 'flex-1' : undefined } as const;
  const keys = (key: string) => (phone ? undefined : key);
  const problem = answer.error ? Problem.of(answer.error) : undefined;

  // On a phone the lesser ways are one button, beside the others.
  const others = phone && question.mine && <Button size="phone" icon="more" label="More" onClick={() => setMore(true)} />;
  const written = waiting.kind === 'guidance' || waiting.kind === 'script_input' || waiting.kind === 'budget';
  const buttons = () => {
    switch (waiting.kind) {
      case 'approve_complete':
        return (
          <>
            <Button {...first} keys={keys('a')} word="approve" onClick={approve} title={atOnce ? undefined : 'Not all of it was on the screen'}>
              {atOnce || phone ? 'Approve' : 'Review first'}
            </Button>
            <Button {...second} keys={keys('r')} word="revise" onClick={() => setAsking('revision')}>
              Ask for a revision
            </Button>
            {!phone && (
              <Button {...second} keys="e" word="edit" onClick={() => review('edit')}>
                Edit, then approve
              </Button>
            )}
          </>
        );
      case 'approve_start':
      case 'start':
        return (
          <Button {...first} keys={keys('a')} word="start" onClick={approve}>
            {`Start ${name}`}
          </Button>
        );
      case 'retry':
        return (
          <>
            <Button {...first} keys={keys('a')} word="try again" onClick={approve}>
              Try again
            </Button>
            <Button {...second} keys={keys('b')} word="roll back" onClick={rollback}>
              Roll back
            </Button>
          </>
        );
      case 'form':
        return (
          <Button {...first} keys={keys('a')} word="fill in" onClick={() => review()}>
            Fill in the form
          </Button>
        );
      case 'script_input':
      case 'guidance':
        return <Write question={question} size={size} extra={others} off={off} busy={busy} onSend={(text) => execution && void send({ act: 'submit', execution, submission: { user_input: text } }, `Answered ${name}`)} />;
      case 'budget':
        return (
          <Raise
            size={size}
            extra={others}
            unit={unitOf(waiting)}
            off={off}
            busy={busy}
            onSend={(amount) => waiting.gate_id && void send({ act: 'answer', gate: waiting.gate_id, digest: waiting.digest, option: 'raise', feedback: amount || undefined }, `Raised the budget of ${name}`)}
            onStop={() => waiting.gate_id && void send({ act: 'answer', gate: waiting.gate_id, digest: waiting.digest, option: 'stop' }, `Stopped ${name}`)}
          />
        );
      case 'choice':
        return waiting.options?.map((option, at) => (
          <Button key={option} {...(at === 0 ? first : second)} keys={keys(String(at + 1))} word="pick" onClick={() => waiting.gate_id && void send({ act: 'answer', gate: waiting.gate_id, digest: waiting.digest, option }, `Picked ${option}`)}>
            {option}
          </Button>
        ));
      default:
        return (
          <Button {...first} keys={keys('a')} onClick={() => review()}>
            Open review
          </Button>
        );
    }
  };
  const copyable = asCommand(question);
  const giveUp = (
    <Button kind="danger" size={size} off={offline} offAt="hidden" onClick={() => setAsking('reject')}>
      Reject
    </Button>
  );
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 max-tablet:[&>span]:flex-1">
        {buttons()}
        {!phone && <span className="flex-1" />}
        {!phone && question.mine && giveUp}
        {!phone && copyable && <CopyAs what={copyable} />}
        {!written && others}
      </div>
      {phone && off && <p className="mt-2 text-small text-ink-3">{off}</p>}
      {problem && <ErrorBlock title={`${name} was not answered`} problem={problem} className="mt-3" />}
      <Reason
        asking={asking}
        name={name}
        version={item.run_version ?? undefined}
        busy={busy || abort.isPending}
        problem={(asking === 'reject' ? abort.error : answer.error) ?? undefined}
        start={waiting.kind === 'approve_start'}
        undone={takenUp(within(point))}
        onClose={() => setAsking(undefined)}
        onSend={(text) => {
          if (asking === 'reject' && waiting.kind !== 'approve_start') {
            const said = `Rejected ${name}, ${question.pipeline} v${item.run_version ?? ''} was given up`;
            const own = within(point);
            answeredHere(question.key);
            void abort.mutateAsync({ id: item.run_id, reason: text }).then(
              () => toast(said, own ? () => navigate(backTo(own)) : undefined),
              () => {},
            );
          } else if (execution) {
            const said = asking === 'reject' ? `Rejected ${name}` : `Asked for a revision of ${name}`;
            void send({ act: 'reject', execution, refusal: { feedback: text, digest: waiting.digest ?? undefined } }, said, asking === 'reject' ? () => askAgain : undefined);
          }
        }}
      />
      <Sheet open={more} onClose={() => setMore(false)} title={name}>
        <div className="flex flex-col gap-2">
          {waiting.kind === 'approve_complete' && (
            <Button size="phone" onClick={() => review('edit')}>
              Edit, then approve
            </Button>
          )}
          <Button size="phone" onClick={() => review()}>
            Open review
          </Button>
          {giveUp}
        </div>
      </Sheet>
    </>
  );
}

const revision = (work: Work) => (work.execution.data ? `, revision ${work.execution.data.revision_iteration + 1}` : '');

/** A word that the work is done again with. */
function Write({ question, size, extra, off, busy, onSend }: { question: Question; size: 'normal' | 'phone'; extra: ReactNode; off: string | undefined; busy: boolean; onSend: (text: string) => void }) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim()) onSend(text.trim());
  };
  return (
    <form onSubmit={submit} className="flex w-full flex-col gap-2">
      <Field label={question.item.waiting_for.kind === 'guidance' ? 'What should be done' : 'Your answer'}>
        <TextArea rows={2} value={text} onChange={(event) => setText(event.target.value)} />
      </Field>
      <span className="flex gap-2 max-tablet:[&>span]:flex-1">
        <Button type="submit" kind="primary" size={size} busy={busy} off={off ?? (text.trim() ? undefined : 'Write something first.')} className="max-tablet:flex-1">
          Send
        </Button>
        {extra}
      </span>
    </form>
  );
}

/** By how much a budget that is used up is raised; by as much again, where nothing is written. */
function Raise({ size, extra, unit, off, busy, onSend, onStop }: { size: 'normal' | 'phone'; extra: ReactNode; unit: string; off: string | undefined; busy: boolean; onSend: (amount: string) => void; onStop: () => void }) {
  const [amount, setAmount] = useState('');
  const wrong = wrongAmount(amount.trim());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!wrong) onSend(amount.trim());
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap items-end gap-2 max-tablet:w-full">
      <Field label={`Raise by${unit && `, ${unit}`}`} help="Empty: by as much again." error={wrong}>
        <Input inputMode="decimal" value={amount} onChange={(event) => setAmount(event.target.value)} className="w-28" />
      </Field>
      <span className="flex gap-2 pb-[22px] max-tablet:w-full max-tablet:pb-0 max-tablet:[&>:not([aria-label=More])]:flex-1">
        <Button type="submit" kind="primary" size={size} busy={busy} off={off} className="max-tablet:px-2!">
          Raise the budget
        </Button>
        <Button size={size} off={off} offAt="hidden" onClick={onStop} className="max-tablet:px-2!">
          Stop the work
        </Button>
        {extra}
      </span>
    </form>
  );
}

interface ReasonProps {
  asking: Asking;
  name: string;
  version: number | undefined;
  busy: boolean;
  problem: unknown;
  /** Whether the work has not begun. */
  start: boolean;
  /** How giving the run up is undone. */
  undone: string;
  onClose: () => void;
  onSend: (text: string) => void;
}

/** Sending back and rejecting always say why. */
function Reason({ asking, name, version, busy, problem, start, undone, onClose, onSend }: ReasonProps) {
  const [text, setText] = useState('');
  const revise = asking === 'revision';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() && !busy) onSend(text.trim());
  };
  useShortcut(asking ? 'mod+enter' : undefined, 'send', () => text.trim() && !busy && onSend(text.trim()), { group: 'In this dialog', hint: false });
  const about = revise
    ? 'The work is done again with your words, and comes back to be approved. It cannot be undone; what was made is kept.'
    : start
      ? 'The work does not begin, and your reason stands with it. Starting it asks for approval again.'
      : `Run v${version ?? ''} is given up with your reason. What was made is kept. ${undone}`;
  return (
    <Dialog open={asking !== undefined} onClose={onClose} title={revise ? `Ask for a revision of ${name}` : `Reject ${name}`} about={about}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <Field label={revise ? 'What should change' : 'Why'} required>
          <TextArea rows={4} value={text} onChange={(event) => setText(event.target.value)} />
        </Field>
        {problem !== undefined && <ErrorBlock title={`${name} was not ${revise ? 'sent back' : 'rejected'}`} problem={problem} />}
        <div className="flex justify-end gap-2">
          <Button kind="quiet" onClick={onClose} hint="escape">
            Cancel
          </Button>
          <Button type="submit" kind={revise ? 'primary' : 'danger-fill'} busy={busy} disabled={!text.trim()} hint="mod+enter">
            {revise ? 'Ask for a revision' : `Reject ${name}`}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The same answer as a command and as a request. */
function asCommand({ item }: Question): Copyable | undefined {
  const { waiting_for: waiting, execution_id: id } = item;
  if (waiting.kind === 'choice' && waiting.gate_id) return { method: 'POST', path: `/api/gates/${waiting.gate_id}/answer`, body: { digest: waiting.digest, option: waiting.options?.[0] } };
  if (!id) return undefined;
  switch (waiting.kind) {
    case 'approve_complete':
      return { command: `holdpoint answer ${id} --approve`, method: 'POST', path: `/api/executions/${id}/approve-complete`, body: { digest: waiting.digest } };
    case 'approve_start':
      return { command: `holdpoint answer ${id} --approve`, method: 'POST', path: `/api/executions/${id}/approve-start`, body: {} };
    case 'start':
      return { method: 'POST', path: '/api/executions/start', body: { run_id: item.run_id } };
    case 'form': {
      const fields = waiting.form?.input_fields ?? [];
      const body = { fields: Object.fromEntries(fields.map((field) => [field.name, ''])) };
      return { command: `holdpoint answer ${id} ${fields.map((field) => `--field ${field.name}=…`).join(' ')}`, method: 'POST', path: `/api/executions/${id}/submit`, body };
    }
    case 'script_input':
    case 'guidance':
      return { command: `holdpoint answer ${id} --input '…'`, method: 'POST', path: `/api/executions/${id}/submit`, body: { user_input: '' } };
    case 'retry':
      return { method: 'POST', path: `/api/executions/${id}/retry`, body: {} };
    default:
      return undefined;
  }
}
