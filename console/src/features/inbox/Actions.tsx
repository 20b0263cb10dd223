/** The ways to answer a question. A decision waits for the server's word, and never shows before it is made. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMe } from '@/api/hooks/session';
import { type Given, planOf } from '@/model/answering';
import { consequence, undone } from '@/model/consequences';
import type { Question } from '@/model/inbox';
import { whyNot } from '@/model/rights';
import { unseen } from '@/model/seen';
import { Button } from '@/ui/Button';
import { useAnswering } from '@/ui/answering';
import { CopyAs } from '@/ui/CopyAs';
import { Hint } from '@/ui/Hint';
import { useOffline } from '@/ui/HintBar';
import { Sheet } from '@/ui/overlays';
import { useSeen } from '@/ui/seen';
import { ErrorBlock } from '@/ui/states';
import { useShortcut } from '@/ui/shortcuts';
import { toast } from '@/ui/toast';
import { answeredHere } from './answered-here';
import { Reason } from './Reason';
import type { Work } from './useWork';
import { Raise, Write } from './Written';

interface Props {
  question: Question;
  work: Work;
  phone?: boolean;
}

type Asking = 'revise' | 'reject' | undefined;

export function Actions({ question, work, phone = false }: Props) {
  const { item } = question;
  const { waiting_for: waiting, execution_id: execution } = item;
  const { about, point, approved, stands, outputs } = work;
  const { data: me } = useMe();
  const navigate = useNavigate();
  const offline = useOffline();
  const seen = useSeen(work.content);
  const [asking, setAsking] = useState<Asking>();
  const [more, setMore] = useState(false);
  const off = whyNot(me, waiting) ?? offline;
  const { name } = about;
  const size = phone ? 'phone' : 'normal';
  const review = (act?: string) => execution && void navigate({ to: '/review/$executionId', params: { executionId: execution }, search: act ? { do: act } : {} });
  const answering = useAnswering({
    about,
    // A result is another question once its content is on the screen.
    shown: `${question.key} ${work.content ?? ''} ${String(work.now !== undefined)}`,
    point,
    onSend: () => answeredHere(question.key),
    onDone: (said, undo) => {
      setAsking(undefined);
      toast(said, undo);
    },
  });
  const { busy, ready, hint, problem } = answering;
  const send = (given: Given) => answering.decide(planOf(about, given));
  useShortcut(execution && !phone ? 'enter' : undefined, 'open', () => review(), { order: 40 });

  // A result is approved here only when its checks passed and all of it was on the screen.
  const passed = work.execution.data?.check?.passed !== false;
  const atOnce = work.isSame && work.execution.data !== undefined && unseen(outputs, seen) === undefined && !about.waiting.form_data_cut && passed;
  const rollback = () => void navigate({ to: '/runs/$runId/rollback', params: { runId: item.run_id }, search: { to: String(item.checkpoint_position ?? 0) } });
  const open = { kind: 'primary', size, offAt: phone ? 'hidden' : 'beside', className: phone ? 'flex-1' : undefined } as const;
  const first = { ...open, busy, off, ready } as const;
  const second = { size, off, offAt: 'hidden', className: phone ? 'flex-1' : undefined } as const;
  const keys = (key: string) => (phone ? undefined : key);

  // On a phone the lesser ways are one button, beside the others.
  const others = phone && question.mine && <Button size="phone" icon="more" label="More" onClick={() => setMore(true)} />;
  const written = waiting.kind === 'guidance' || waiting.kind === 'script_input' || waiting.kind === 'budget';
  const buttons = () => {
    switch (waiting.kind) {
      case 'approve_complete':
        return (
          <>
            {atOnce ? (
              <Button key="approve" {...first} keys={keys('a')} word="approve" onClick={() => send({ option: 'approve' })}>
                Approve
              </Button>
            ) : (
              <Button key="review" {...open} keys={keys('a')} word="review" onClick={() => review()} title={passed ? 'Not all of it was on the screen' : 'A check did not pass'}>
                Review
              </Button>
            )}
            <Button {...second} keys={keys('r')} word="revise" onClick={() => setAsking('revise')}>
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
          <Button {...first} keys={keys('a')} word="start" onClick={() => send({ option: 'yes' })}>
            {`Start ${name}`}
          </Button>
        );
      case 'retry':
        return (
          <>
            <Button {...first} keys={keys('a')} word="try again" onClick={() => send({})}>
              Try again
            </Button>
            <Button {...second} keys={keys('b')} word="roll back" onClick={rollback}>
              Roll back
            </Button>
          </>
        );
      case 'form':
        return (
          <Button {...open} off={off} keys={keys('a')} word="fill in" onClick={() => review()}>
            Fill in the form
          </Button>
        );
      case 'script_input':
      case 'guidance':
        return <Write waiting={waiting} size={size} extra={others} off={off} busy={busy} ready={ready} onSend={(words) => send({ words })} />;
      case 'budget':
        return <Raise waiting={waiting} size={size} extra={others} off={off} busy={busy} ready={ready} onSend={(words) => send({ option: 'yes', words })} onStop={() => send({ option: 'no' })} />;
      case 'choice':
        return waiting.options?.map((option, at) => (
          <Button key={option} {...(at === 0 ? first : { ...second, busy, ready })} keys={keys(String(at + 1))} word="pick" onClick={() => send({ option })}>
            {option}
          </Button>
        ));
      default:
        return (
          <Button {...open} off={off} keys={keys('a')} onClick={() => review()}>
            Open review
          </Button>
        );
    }
  };
  const asked = Object.fromEntries((waiting.form?.input_fields ?? []).map((field) => [field.name, '…']));
  const copyable = planOf(about, { option: waiting.kind === 'approve_complete' ? 'approve' : waiting.kind === 'choice' ? waiting.options?.[0] : 'yes', form: { fields: asked, files: {} } }).copy;
  const giveUp = (
    <Button kind="danger" size={size} off={offline} offAt="hidden" onClick={() => setAsking('reject')}>
      Reject
    </Button>
  );
  // Rejecting a start keeps the run; everything else that is rejected gives it up.
  const rejects = waiting.kind === 'approve_start' ? about : { ...about, waiting: { ...waiting, kind: 'approve_complete' as const } };
  const option = asking === 'revise' ? 'revise' : waiting.kind === 'approve_start' ? 'no' : 'reject';
  const around = { place: stands, approved, version: about.version, point, name, me };
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 max-tablet:[&>span]:flex-1">
        {buttons()}
        {!phone && <span className="flex-1" />}
        {!phone && question.mine && giveUp}
        {!phone && copyable && <CopyAs what={copyable} />}
        {!written && others}
      </div>
      <Hint>{asking ? undefined : hint}</Hint>
      {phone && off && <p className="mt-2 text-small text-ink-3">{off}</p>}
      {problem && !asking && <ErrorBlock title={`${name} was not answered`} problem={problem} className="mt-3" />}
      <Reason
        asking={asking}
        name={name}
        about={`${consequence(rejects.waiting, option, around)} ${undone(rejects.waiting, option, around)}`.trim()}
        busy={busy}
        ready={ready}
        hint={hint}
        problem={problem}
        onClose={() => setAsking(undefined)}
        onSend={(words) => answering.decide(planOf(rejects, { option, words }))}
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
