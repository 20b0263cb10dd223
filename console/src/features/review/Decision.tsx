/** The decision about a result: the question, what follows, the ways, a word for the record, and one primary. */
import { useRef } from 'react';
import type { Execution, WaitingFor } from '@/api/types';
import { type About, planOf } from '@/model/answering';
import { consequence, undone } from '@/model/consequences';
import { type Option, ways } from '@/model/review';
import { whyNot } from '@/model/rights';
import { covers, unseen, withEdits } from '@/model/seen';
import { useAnswering } from '@/ui/answering';
import { Button } from '@/ui/Button';
import { CopyAs } from '@/ui/CopyAs';
import { useDraft } from '@/ui/drafts';
import { RadioRows, TextArea } from '@/ui/fields';
import { Hint } from '@/ui/Hint';
import { useOffline } from '@/ui/HintBar';
import { useShortcut } from '@/ui/shortcuts';
import { ErrorBlock } from '@/ui/states';
import type { Draft } from './comments';
import { Approvals, Panel } from './Panel';
import { useDecided } from './useDecided';
import type { Review } from './useReview';

interface Props {
  review: Review;
  about: About;
  execution: Execution;
  waiting: WaitingFor;
  option: Option | undefined;
  onOption: (option: Option) => void;
  comments: readonly Draft[];
  /** What was changed, by the artifact's name. */
  edits: Readonly<Record<string, string>>;
  editable: boolean;
  phone?: boolean;
  /** Called when it is done. */
  onDone: () => void;
}

export function Decision({ review, about, execution, waiting, option, onOption, comments, edits, editable, phone = false, onDone }: Props) {
  const { me, stands, stale, point, outputs, seen, approved, content } = review;
  const offline = useOffline();
  const decided = useDecided(review);
  const [words, setWords] = useDraft(`words ${execution.execution_id}`, '');
  const record = useRef<HTMLDivElement>(null);
  const answering = useAnswering({
    about,
    // It is another question once its content is on the screen.
    shown: `${content ?? ''} ${String(outputs.some((one) => seen[one.artifact_record_id] !== undefined))}`,
    point,
    onDone: (...done) => {
      setWords('');
      onDone();
      decided(...done);
    },
    onRefused: (problem) => {
      // Everything else is shown below the button.
      if (problem.status === 412) review.setStale(true);
    },
  });
  const { busy, ready, hint, problem } = answering;
  const offered = ways(execution, waiting, editable);
  const refused = whyNot(me, waiting);
  const needed = option === 'revise' || option === 'reject';
  const approves = option === 'approve' || option === 'edit';
  const plan = planOf(about, { option, words, comments, edits });
  const edited = option === 'edit' ? Object.keys(edits) : [];
  const off = refused ?? offline ?? plan.missing ?? (approves ? unseen(outputs, withEdits(seen, outputs, edited)) : undefined);
  const send = () => {
    if (off === undefined) answering.decide(plan);
  };
  useShortcut(phone ? undefined : 'mod+enter', 'decide', send, { order: 18 });
  const choose = (next: Option) => {
    onOption(next);
    if (next === 'revise' || next === 'reject') requestAnimationFrame(() => record.current?.querySelector('textarea')?.focus());
  };
  const around = { place: stands, approved, version: about.version, point, name: about.name, me };
  const follows = `${consequence(waiting, option, around)} ${undone(waiting, option, around)}`.trim();
  return (
    <Panel question={waiting.question} mine={refused === undefined} about={stale ? undefined : follows} digest={waiting.digest ?? undefined} covers={covers(outputs, seen, edited)}>
      <Approvals waiting={waiting} />
      {stale ? (
        <Stale onShow={() => void review.show().then(answering.reset)} />
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
              <Button kind={plan.danger ? 'danger-fill' : 'primary'} size={phone ? 'phone' : 'decisive'} hint={phone ? undefined : 'mod+enter'} busy={busy} ready={ready} off={off} offAt="below" steady onClick={send} className="w-full">
                {plan.verb}
              </Button>
            </div>
            {!phone && plan.copy && <CopyAs what={plan.copy} />}
          </div>
          <Hint>{hint}</Hint>
          {problem && <ErrorBlock title={plan.failed} problem={problem} className="mt-3" />}
        </>
      )}
    </Panel>
  );
}

function Choose({ keys, onPress }: { keys: string | undefined; onPress: () => void }) {
  useShortcut(keys, 'choose', onPress, { order: 16 });
  return null;
}

interface StaleProps {
  onShow: () => void;
  children?: string;
  verb?: string;
}

/** Takes the primary's place until the new content is shown. */
export function Stale({ onShow, children = 'The content has changed since it was shown. Nothing was decided.', verb = 'Show the new content' }: StaleProps) {
  return (
    <div role="alert" className="rounded-2 border border-line-2 bg-raised px-3 py-[10px]">
      <p className="mb-2">{children}</p>
      <Button kind="primary" size="decisive" onClick={onShow} className="w-full">
        {verb}
      </Button>
    </div>
  );
}
