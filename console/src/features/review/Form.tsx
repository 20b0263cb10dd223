/** A form as a question: the fields at the left, what it is filled in from and the decision at the right. */
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useSubmitForm } from '@/api/hooks/submit';
import { Problem } from '@/api/problem';
import type { Execution, WaitingFor } from '@/api/types';
import { many } from '@/model/figures';
import { afterwards, defaults, faults, filled, type Values } from '@/model/review';
import { hasRole, whyNot } from '@/model/rights';
import { backTo, takenBack } from '@/model/undo';
import { Button } from '@/ui/Button';
import { CopyAs } from '@/ui/CopyAs';
import { useOffline } from '@/ui/HintBar';
import { useShortcut } from '@/ui/shortcuts';
import { ErrorBlock } from '@/ui/states';
import { useDraft } from '@/ui/drafts';
import { FormPane } from './FormPane';
import { Panel } from './Panel';
import { useDecided } from './useDecided';
import type { Review } from './useReview';

export function useForm(review: Review, execution: Execution | undefined, waiting: WaitingFor | undefined) {
  const form = waiting?.kind === 'form' ? (waiting.form ?? undefined) : undefined;
  const fields = useMemo(() => form?.input_fields ?? [], [form]);
  const offline = useOffline();
  const submit = useSubmitForm();
  const decided = useDecided(review);
  const navigate = useNavigate();
  const [given, setGiven] = useDraft<Values>(`form ${waiting?.gate_id ?? ''}`, {});
  const values = useMemo(() => ({ ...defaults(fields), ...given }), [fields, given]);
  const problem = submit.error ? Problem.of(submit.error) : undefined;
  const wrong = useMemo(() => faults(problem, fields), [problem, fields]);
  const off = waiting && (whyNot(review.me, waiting) ?? offline);
  const send = () => {
    if (!execution || off !== undefined || submit.isPending) return;
    const { fields: sent, files } = filled(fields, values);
    submit.mutateAsync({ execution: execution.execution_id, fields: sent, files }).then(
      (done) => {
        setGiven({});
        // Where nobody has to approve it, it counts at once, and who may roll back can take it back.
        const counts = done.status === 'completed' && hasRole(review.me, 'approver');
        const { point } = review;
        decided(`Filled in ${execution.checkpoint_name ?? 'the form'}`, done, counts && point ? () => navigate(backTo(point)) : undefined);
      },
      // It stands beside the fields.
      () => {},
    );
  };
  useShortcut(form ? 'mod+enter' : undefined, 'send', send, { order: 18 });
  return { form, fields, values, wrong, problem, off, busy: submit.isPending, send, change: (name: string, value: Values[string]) => setGiven((now) => ({ ...now, [name]: value })) };
}

export type FormState = ReturnType<typeof useForm>;

export const FormFields = ({ state }: { state: FormState }) => state.form && <FormPane form={state.form} values={state.values} onChange={state.change} wrong={state.wrong.by} onSubmit={state.send} />;

export function FormPanel({ state, review, execution, waiting, phone = false }: { state: FormState; review: Review; execution: Execution; waiting: WaitingFor; phone?: boolean }) {
  const { fields, values, wrong, problem } = state;
  const sent = filled(fields, values);
  const faulty = Object.keys(wrong.by).length;
  // What has to be approved can still be sent back; what counts at once is taken back by who may roll back.
  const undone = review.approved ? 'Until then it can be sent back.' : hasRole(review.me, 'approver') ? takenBack(review.point, execution.checkpoint_name ?? 'the form') : 'It cannot be undone by you: rolling back needs approver.';
  const id = execution.execution_id;
  const flags = [...Object.entries(sent.fields).map(([name, value]) => `--field '${name}=${String(value).replaceAll("'", "'\\''")}'`), ...Object.entries(sent.files).map(([name, file]) => `--file ${name}=${file.name}`)];
  return (
    <Panel question={waiting.question} mine={whyNot(review.me, waiting) === undefined} about={`${afterwards(waiting, review.stands, review.approved)} ${undone}`.trim()}>
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1 [&>span]:w-full">
          <Button kind="primary" size={phone ? 'phone' : 'decisive'} hint={phone ? undefined : 'mod+enter'} busy={state.busy} off={state.off} offAt="below" onClick={state.send} className="w-full">
            {`Send ${execution.checkpoint_name ?? 'the form'}`}
          </Button>
        </div>
        {!phone && <CopyAs what={{ command: `holdpoint answer ${id} ${flags.join(' ')}`, method: 'POST', path: `/api/executions/${id}/submit`, body: { fields: sent.fields } }} />}
      </div>
      {problem && faulty > 0 && wrong.rest.length === 0 && (
        <p role="alert" className="mt-2 text-small text-fail">
          The form was not sent: {many(faulty, 'field')} {faulty === 1 ? 'has' : 'have'} to be put right.
        </p>
      )}
      {problem && (faulty === 0 || wrong.rest.length > 0) && <ErrorBlock title="The form was not sent" problem={problem} className="mt-3" />}
    </Panel>
  );
}
