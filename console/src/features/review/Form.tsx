/** A form as a question: the fields at the left, what it is filled in from and the decision at the right. */
import { useMemo, useState } from 'react';
import type { Execution, WaitingFor } from '@/api/types';
import { type About, planOf } from '@/model/answering';
import { consequence, undone } from '@/model/consequences';
import { many } from '@/model/figures';
import { defaults, faults, filled, type Values } from '@/model/review';
import { whyNot } from '@/model/rights';
import { useAnswering } from '@/ui/answering';
import { Button } from '@/ui/Button';
import { CopyAs } from '@/ui/CopyAs';
import { useDraft } from '@/ui/drafts';
import { Hint } from '@/ui/Hint';
import { useOffline } from '@/ui/HintBar';
import { useShortcut } from '@/ui/shortcuts';
import { ErrorBlock } from '@/ui/states';
import { FormPane } from './FormPane';
import { Panel } from './Panel';
import { useDecided } from './useDecided';
import type { Review } from './useReview';

/** Before a question is known: nothing can be sent. */
const NONE: About = { waiting: { kind: 'form', question: '', actions: [], since: '', who: { role: 'viewer' }, assurance: { minimum: 'local' } } as unknown as WaitingFor, run: '', execution: undefined, name: 'the form', pipeline: undefined, version: undefined, revision: undefined };

export function useForm(review: Review, waiting: WaitingFor | undefined) {
  const form = waiting?.kind === 'form' ? (waiting.form ?? undefined) : undefined;
  const fields = useMemo(() => form?.input_fields ?? [], [form]);
  const offline = useOffline();
  const decided = useDecided(review);
  const [given, setGiven] = useDraft<Values>(`form ${waiting?.gate_id ?? ''}`, {});
  const values = useMemo(() => ({ ...defaults(fields), ...given }), [fields, given]);
  const about = (form && review.about) ?? NONE;
  const answering = useAnswering({
    about,
    shown: form && `form ${waiting?.gate_id ?? ''}`,
    point: review.point,
    onDone: (...done) => {
      setGiven({});
      decided(...done);
    },
  });
  const { problem, busy, ready, hint } = answering;
  // What was refused is said of a field until something else is written there.
  const [sent, setSent] = useState<Values>({});
  const refused = useMemo(() => faults(problem, fields), [problem, fields]);
  const wrong = { ...refused, by: Object.fromEntries(Object.entries(refused.by).filter(([name]) => values[name] === sent[name])) };
  const off = waiting && (whyNot(review.me, waiting) ?? offline);
  const plan = planOf(about, { form: filled(fields, values) });
  const send = () => {
    if (!form || off !== undefined) return;
    setSent(values);
    answering.decide(plan);
  };
  useShortcut(form ? 'mod+enter' : undefined, 'send', send, { order: 18 });
  return { form, values, plan, wrong, refused, problem, off, busy, ready, hint, send, change: (name: string, value: Values[string]) => setGiven((now) => ({ ...now, [name]: value })) };
}

export type FormState = ReturnType<typeof useForm>;

export const FormFields = ({ state }: { state: FormState }) => state.form && <FormPane form={state.form} values={state.values} onChange={state.change} wrong={state.wrong.by} refused={state.refused} onSubmit={state.send} />;

export function FormPanel({ state, review, execution, waiting, phone = false }: { state: FormState; review: Review; execution: Execution; waiting: WaitingFor; phone?: boolean }) {
  const { plan, wrong, refused, problem, ready, hint } = state;
  const { me, stands, approved, point } = review;
  const faulty = Object.keys(wrong.by).length;
  const around = { place: stands, approved, version: execution.run_version ?? undefined, point, name: execution.checkpoint_name ?? 'the form', me };
  return (
    <Panel question={waiting.question} mine={whyNot(me, waiting) === undefined} about={`${consequence(waiting, undefined, around)} ${undone(waiting, undefined, around)}`.trim()}>
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1 [&>span]:w-full">
          <Button kind="primary" size={phone ? 'phone' : 'decisive'} hint={phone ? undefined : 'mod+enter'} busy={state.busy} ready={ready} off={state.off} offAt="below" steady onClick={state.send} className="w-full">
            {plan.verb}
          </Button>
        </div>
        {!phone && plan.copy && <CopyAs what={plan.copy} />}
      </div>
      <Hint>{hint}</Hint>
      {problem && faulty > 0 && wrong.rest.length === 0 && (
        <p role="alert" className="mt-2 text-small text-fail">
          The form was not sent: {many(faulty, 'field')} {faulty === 1 ? 'has' : 'have'} to be put right.
        </p>
      )}
      {problem && (Object.keys(refused.by).length === 0 || wrong.rest.length > 0) && <ErrorBlock title={plan.failed} problem={problem} className="mt-3" />}
    </Panel>
  );
}
