/** The decision about a result: the question, what follows, the ways, a word for the record, and one primary. */
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { useAnswer } from '@/api/hooks/inbox';
import { useAbort } from '@/api/hooks/runs';
import { Problem } from '@/api/problem';
import type { Execution, WaitingFor } from '@/api/types';
import { feedback, follows, type Option, undone, verb, ways } from '@/model/review';
import { whyNot } from '@/model/rights';
import { backTo, within } from '@/model/undo';
import { Button } from '@/ui/Button';
import { CopyAs, type Copyable } from '@/ui/CopyAs';
import { RadioRows, TextArea } from '@/ui/fields';
import { useOffline } from '@/ui/HintBar';
import { useShortcut } from '@/ui/shortcuts';
import { ErrorBlock } from '@/ui/states';
import type { Draft } from './comments';
import { useDraft } from '@/ui/drafts';
import { Panel } from './Panel';
import { useDecided } from './useDecided';
import type { Review } from './useReview';

interface Props {
  review: Review;
  execution: Execution;
  waiting: WaitingFor;
  option: Option;
  onOption: (option: Option) => void;
  comments: readonly Draft[];
  /** What was changed, by the artifact's name. */
  edits: Readonly<Record<string, string>>;
  editable: boolean;
  phone?: boolean;
  /** Called when it is done. */
  onDone: () => void;
}

export function Decision({ review, execution, waiting, option, onOption, comments, edits, editable, phone = false, onDone }: Props) {
  const { me, stands, stale, point } = review;
  const offline = useOffline();
  const navigate = useNavigate();
  const answer = useAnswer();
  const abort = useAbort();
  const decided = useDecided(review);
  const [words, setWords] = useDraft(`words ${execution.execution_id}`, '');
  const record = useRef<HTMLDivElement>(null);
  const name = execution.checkpoint_name ?? 'the result';
  const revision = execution.revision_iteration + 1;
  const version = execution.run_version ?? undefined;
  const offered = ways(execution, waiting, editable);
  const refused = whyNot(me, waiting);
  const needed = option === 'revise' || option === 'reject';
  const said = option === 'revise' ? feedback(words, comments) : words.trim();
  const changed = Object.keys(edits).length;
  const missing = needed && said === '' ? (option === 'revise' ? 'Say what should change, or comment on a line.' : 'Say why.') : option === 'edit' && changed === 0 ? 'Change something first.' : undefined;
  const off = refused ?? offline ?? missing;
  const busy = answer.isPending || abort.isPending;
  const digest = waiting.digest ?? undefined;

  // What was still being read when the key was pressed may have come while the decision was on its way.
  const known = useRef({ point, run: review.run });
  useEffect(() => {
    known.current = { point: point ?? known.current.point, run: review.run ?? known.current.run };
  });
  const send = async () => {
    if (off !== undefined || busy) return;
    const id = execution.execution_id;
    try {
      if (option === 'reject') {
        await abort.mutateAsync({ id: execution.run_id, reason: said });
        setWords('');
        onDone();
        const own = within(known.current.point);
        const given = known.current.run?.pipeline_name;
        decided(`Rejected ${name}, ${given && version !== undefined ? `${given} v${version}` : 'the run'} was given up`, undefined, own ? () => navigate(backTo(own)) : undefined);
      } else if (option === 'revise') {
        const done = await answer.mutateAsync({ act: 'reject', execution: id, refusal: { feedback: said, digest } });
        setWords('');
        onDone();
        decided(`Asked for revision ${revision + 1} of ${name}`, done);
      } else {
        const changes = option === 'edit' ? { edits: Object.entries(edits).map(([artifact_name, content]) => ({ artifact_name, content })) } : {};
        const done = await answer.mutateAsync({ act: 'approve-complete', execution: id, approval: { digest, feedback: said || undefined, ...changes } });
        setWords('');
        onDone();
        // Another approval may still be needed; then nothing counts yet that could be taken back.
        const counts = (done as Partial<Execution>).status === 'completed';
        const back = known.current.point;
        decided(option === 'edit' ? `Changed and approved ${name}` : `Approved ${name}, revision ${revision}`, done, counts && back ? () => navigate(backTo(back)) : undefined);
      }
    } catch (error) {
      // Everything else stands on the page as the mutation's error.
      if (Problem.of(error).status === 412) review.setStale(true);
    }
  };
  useShortcut(phone ? undefined : 'mod+enter', 'decide', () => void send(), { order: 18 });
  const problem = (option === 'reject' ? abort.error : answer.error) ?? undefined;
  const choose = (next: Option) => {
    onOption(next);
    if (next === 'revise' || next === 'reject') requestAnimationFrame(() => record.current?.querySelector('textarea')?.focus());
  };
  const body: ReactNode = stale ? (
    <Stale onShow={() => void review.show().then(() => answer.reset())} />
  ) : (
    <>
      {offered.map((one) => (
        <Choose key={one.value} keys={one.off || refused ? undefined : one.keys} onPress={() => choose(one.value)} />
      ))}
      <RadioRows label="Decision" value={option} options={offered.map(({ keys, ...one }) => ({ ...one, ...(phone || refused ? {} : { keys }), off: refused ? '\u00a0' : one.off }))} onChange={(next) => choose(next as Option)} />
      <div ref={record}>
        <TextArea
        rows={2}
        value={words}
        onChange={(event) => setWords(event.target.value)}
        aria-label={needed ? (option === 'revise' ? 'What should change' : 'Why') : 'A word for the record'}
        placeholder={option === 'revise' ? (comments.length > 0 ? `What should change, besides ${comments.length === 1 ? 'your comment' : 'your comments'}` : 'What should change (required)') : option === 'reject' ? 'Why (required)' : 'A word for the record (optional)'}
        className="mt-2"
      />
      </div>
      <div className="mt-2.5 flex items-start gap-2">
        <div className="min-w-0 flex-1 [&>span]:w-full">
          <Button kind={option === 'reject' ? 'danger-fill' : 'primary'} size={phone ? 'phone' : 'decisive'} hint={phone ? undefined : 'mod+enter'} busy={busy} off={off} offAt="below" onClick={() => void send()} className="w-full">
            {verb(option, revision, comments.length)}
          </Button>
        </div>
        {!phone && <CopyAs what={asCommand(execution.execution_id, execution.run_id, option, digest, said, edits)} />}
      </div>
      {problem && <ErrorBlock title={`${name} was not ${option === 'approve' || option === 'edit' ? 'approved' : option === 'revise' ? 'sent back' : 'rejected'}`} problem={problem} className="mt-3" />}
    </>
  );
  const { who } = waiting;
  return (
    <Panel question={waiting.question} mine={refused === undefined} about={stale ? undefined : `${follows(option, waiting, stands, version)} ${undone(option, waiting, point, name)}`.trim()} digest={digest}>
      {who.required_approvals && who.required_approvals > 1 && (
        <p className="mb-2 text-small text-ink-2">
          {who.approved_by?.length ?? 0} of {who.required_approvals}
          {who.approved_by?.map((one) => `, ${one} approved`).join('')}
        </p>
      )}
      {body}
    </Panel>
  );
}

function Choose({ keys, onPress }: { keys: string | undefined; onPress: () => void }) {
  useShortcut(keys, 'choose', onPress, { order: 16 });
  return null;
}

/** Takes the primary's place until the new content is shown. */
export function Stale({ onShow, children = 'The content has changed since it was shown. Nothing was decided.', verb: word = 'Show the new content' }: { onShow: () => void; children?: ReactNode; verb?: string }) {
  return (
    <div role="alert" className="rounded-2 border border-line-2 bg-raised px-3 py-[10px]">
      <p className="mb-2">{children}</p>
      <Button kind="primary" size="decisive" onClick={onShow} className="w-full">
        {word}
      </Button>
    </div>
  );
}

function asCommand(id: string, run: string, option: Option, digest: string | undefined, said: string, edits: Readonly<Record<string, string>>): Copyable {
  const quoted = `'${said.replaceAll("'", "'\\''")}'`;
  switch (option) {
    case 'reject':
      return { method: 'POST', path: `/api/runs/${run}/abort`, body: { reason: said } };
    case 'revise':
      return { command: `holdpoint answer ${id} --reject ${quoted} --digest ${digest ?? ''}`, method: 'POST', path: `/api/executions/${id}/reject`, body: { feedback: said, digest } };
    case 'edit':
      return { method: 'POST', path: `/api/executions/${id}/approve-complete`, body: { digest, edits: Object.entries(edits).map(([artifact_name, content]) => ({ artifact_name, content })) } };
    default:
      return { command: `holdpoint answer ${id} --approve --digest ${digest ?? ''}`, method: 'POST', path: `/api/executions/${id}/approve-complete`, body: { digest, ...(said ? { feedback: said } : {}) } };
  }
}
