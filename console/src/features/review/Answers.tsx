/** Questions that are not about a result: whether to start, what to tell a script or an agent, more budget, a choice, another try. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Execution, WaitingFor } from '@/api/types';
import { type About, choices, field, planOf } from '@/model/answering';
import { consequence, undone } from '@/model/consequences';
import { whyNot } from '@/model/rights';
import { useAnswering } from '@/ui/answering';
import { Button } from '@/ui/Button';
import { CopyAs } from '@/ui/CopyAs';
import { useDraft } from '@/ui/drafts';
import { Field, Input, RadioRows, TextArea } from '@/ui/fields';
import { Hint } from '@/ui/Hint';
import { useOffline } from '@/ui/HintBar';
import { useShortcut } from '@/ui/shortcuts';
import { ErrorBlock } from '@/ui/states';
import { Approvals, Panel } from './Panel';
import { useDecided } from './useDecided';
import type { Review } from './useReview';

interface Props {
  review: Review;
  about: About;
  execution: Execution;
  waiting: WaitingFor;
  /** Whether nothing is chosen at first. */
  undecided: boolean;
  phone?: boolean;
}

export function Answers({ review, about, execution, waiting, undecided, phone = false }: Props) {
  const { me, stands, point, approved, content } = review;
  const navigate = useNavigate();
  const offline = useOffline();
  const decided = useDecided(review);
  const [option, setOption] = useState(undecided || waiting.kind === 'choice' ? undefined : 'yes');
  const [words, setWords] = useDraft(`words ${execution.execution_id} ${waiting.gate_id ?? waiting.kind}`, '');
  const answering = useAnswering({
    about,
    shown: content ?? '',
    point,
    onDone: (...done) => {
      setWords('');
      decided(...done);
    },
  });
  const { busy, ready, hint, problem } = answering;
  const refused = whyNot(me, waiting);
  const plan = planOf(about, { option, words });
  const off = refused ?? offline ?? plan.missing;
  const send = () => {
    if (off === undefined) answering.decide(plan);
  };
  useShortcut(phone ? undefined : 'mod+enter', 'decide', send, { order: 18 });
  const rows = choices(waiting);
  const asked = field(waiting, option);
  const around = { place: stands, approved, version: about.version, point, name: about.name, me };
  const written = { value: words, onChange: (event: { target: { value: string } }) => setWords(event.target.value) };
  return (
    <Panel question={waiting.question} mine={refused === undefined} about={`${consequence(waiting, option, around)} ${undone(waiting, option, around)}`.trim()} digest={waiting.digest ?? undefined} covers="Covers the question as it is asked here">
      <Approvals waiting={waiting} />
      {rows && (
        <>
          {rows.map((one) => (
            <Key key={one.value} keys={refused ? undefined : one.keys} onPress={() => setOption(one.value)} />
          ))}
          <RadioRows label="Decision" value={option} options={rows.map(({ keys, ...one }) => ({ ...one, ...(phone || refused ? {} : { keys }), off: refused ? '\u00a0' : undefined }))} onChange={setOption} />
        </>
      )}
      {asked && (
        <div className="mt-2">
          <Field label={asked.label} help={asked.help} required={asked.required ?? false}>
            {asked.short ? <Input inputMode="decimal" {...written} /> : <TextArea rows={3} {...written} />}
          </Field>
        </div>
      )}
      <div className="mt-2.5 flex items-start gap-2">
        <div className="min-w-0 flex-1 [&>span]:w-full">
          <Button kind={plan.danger ? 'danger-fill' : 'primary'} size={phone ? 'phone' : 'decisive'} hint={phone ? undefined : 'mod+enter'} busy={busy} ready={ready} off={off} offAt="below" steady onClick={send} className="w-full">
            {plan.verb}
          </Button>
        </div>
        {!phone && plan.copy && <CopyAs what={plan.copy} />}
      </div>
      <Hint>{hint}</Hint>
      {waiting.kind === 'retry' && (
        <Button className="mt-2 w-full" keys={phone ? undefined : 'b'} word="roll back" off={offline} offAt="below" onClick={() => void navigate({ to: '/runs/$runId/rollback', params: { runId: execution.run_id }, search: { to: String(execution.checkpoint_position) } })}>
          Roll back instead
        </Button>
      )}
      {problem && <ErrorBlock title={plan.failed} problem={problem} className="mt-3" />}
    </Panel>
  );
}

function Key({ keys, onPress }: { keys: string | undefined; onPress: () => void }) {
  useShortcut(keys, 'choose', onPress, { order: 16 });
  return null;
}
