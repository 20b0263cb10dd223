/** What can be done with a run. What cannot be done now stays, and says why. */
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useAnswer } from '@/api/hooks/inbox';
import { useCancel, useNote, useRetry } from '@/api/hooks/executions';
import { useAbort, useFail, usePause, useResume } from '@/api/hooks/runs';
import { Problem } from '@/api/problem';
import type { Execution, Run } from '@/api/types';
import { whyOff } from '@/model/run';
import { begun } from '@/model/undo';
import { Button } from '@/ui/Button';
import { CopyAs, type Copyable } from '@/ui/CopyAs';
import { Field, TextArea } from '@/ui/fields';
import { useOffline } from '@/ui/HintBar';
import { StatusMark } from '@/ui/Icon';
import { Dialog, Menu } from '@/ui/overlays';
import { useShortcut } from '@/ui/shortcuts';
import { ErrorBlock } from '@/ui/states';
import { useStop } from '@/ui/stop';
import { toast, type Undo } from '@/ui/toast';
import type { RunView } from './useRunView';

type Asking = 'note' | 'fail' | 'abort' | 'cancel' | undefined;

const GOES_ON = 'The run goes on';
const paused = (now: Pick<Run, 'status'>) => (now.status === 'paused' ? 'The run is paused' : 'Pauses between checkpoints');

/** The acts of the page, where they go to, and what came of the last one. */
export function useActs(view: RunView, run: Run) {
  const { execution, me } = view;
  const navigate = useNavigate();
  const offline = useOffline();
  const off = { ...whyOff(run, execution, me, offline), compare: run.previous_run_id ? undefined : `v${run.run_version ?? ''} extends no other run.` };
  const acts = { pause: usePause(), resume: useResume(), start: useAnswer(), retry: useRetry(), cancel: useCancel(), fail: useFail(), abort: useAbort(), note: useNote() };
  const [asking, ask] = useState<Asking>();
  const setAsking = (next: Asking) => {
    // What went wrong before is not about what is asked now.
    for (const act of Object.values(acts)) act.reset();
    ask(next);
  };
  const name = execution?.checkpoint_name ?? 'the checkpoint';
  const said = <Done,>(promise: Promise<Done>, text: string | ((done: Done) => string), undo?: (done: Done) => Undo | undefined) =>
    void promise.then(
      (done) => {
        setAsking(undefined);
        toast(typeof text === 'string' ? text : text(done), undo?.(done));
      },
      // It stands on the page.
      () => {},
    );
  const stop = useStop();
  const first = run.current_execution?.checkpoint_name ?? 'the first checkpoint';
  const began = (done: unknown) => begun(done as Partial<Execution>, first, ` in ${run.pipeline_name ?? 'the run'} v${run.run_version ?? ''}`);
  // Pausing and going on undo each other, as often as somebody likes.
  const goOn = (): Promise<void> => acts.resume.mutateAsync(run.run_id).then(() => toast(GOES_ON, halt));
  const halt = (): Promise<void> => acts.pause.mutateAsync(run.run_id).then((now) => toast(paused(now), goOn));
  const failed = Object.entries(acts).find(([, act]) => act.error)?.[1].error;
  return {
    off,
    asking,
    setAsking,
    name,
    problem: failed ? Problem.of(failed) : undefined,
    busy: Object.values(acts).some((act) => act.isPending),
    pausing: acts.pause.isPending || acts.resume.isPending,
    start: () => said(acts.start.mutateAsync({ act: 'start', run: run.run_id }), (done) => began(done).said, (done) => (began(done).stops ? stop((done as Execution).execution_id, first) : undefined)),
    pause: () => said(acts.pause.mutateAsync(run.run_id), paused, () => goOn),
    resume: () => said(acts.resume.mutateAsync(run.run_id), GOES_ON, () => halt),
    retry: () => execution && said(acts.retry.mutateAsync(execution.execution_id), `Trying ${name} again`, (done) => (done.status === 'in_progress' ? stop(done.execution_id, name) : undefined)),
    cancel: () => run.current_execution && said(acts.cancel.mutateAsync(run.current_execution.execution_id), 'The work was stopped, and the run is paused'),
    fail: (reason: string) => said(acts.fail.mutateAsync({ id: run.run_id, reason }), `v${run.run_version ?? ''} was declared failed`),
    abort: (reason: string) => said(acts.abort.mutateAsync({ id: run.run_id, reason }), `v${run.run_version ?? ''} was given up`),
    note: (text: string) => execution && said(acts.note.mutateAsync({ id: execution.execution_id, text }), 'The note reaches the agent with its next question'),
    rollback: () => void navigate({ to: '/runs/$runId/rollback', params: { runId: run.run_id }, search: execution ? { to: String(execution.checkpoint_position) } : {} }),
    compare: () => run.previous_run_id && void navigate({ to: '/compare', search: { a: run.previous_run_id, b: run.run_id } }),
    review: () => execution && void navigate({ to: '/review/$executionId', params: { executionId: execution.execution_id } }),
  };
}

export type Acts = ReturnType<typeof useActs>;

export function Actions({ run, view, acts }: { run: Run; view: RunView; acts: Acts }) {
  const { off, setAsking } = acts;
  const paused = run.status === 'paused' || run.pause_requested;
  const small = { size: 'small', offAt: 'hidden' } as const;
  const begins = off.start === undefined;
  const failed = view.execution?.status === 'failed';
  return (
    <>
      {begins && (
        <Button size="small" kind="primary" keys="s" word="start" busy={acts.busy} onClick={acts.start}>
          {run.status === 'not_started' ? 'Start the run' : `Start ${run.current_execution?.checkpoint_name ?? 'the next checkpoint'}`}
        </Button>
      )}
      {failed && (
        <Button {...small} kind="primary" keys="r" word="try again" busy={acts.busy} off={off.retry} onClick={acts.retry}>
          Try again
        </Button>
      )}
      <Button {...small} keys="=" word="compare" off={off.compare} title={off.compare} onClick={acts.compare}>
        Compare
      </Button>
      <Button {...small} keys="b" word="roll back" onClick={acts.rollback}>
        Roll back or fork
      </Button>
      <Button {...small} icon="comment" keys="m" word="note" off={off.note} title={off.note} onClick={() => setAsking('note')}>
        Note
      </Button>
      {paused ? (
        <Button {...small} keys="." word="resume" busy={acts.pausing} off={off.resume} title={off.resume} onClick={acts.resume}>
          Resume
        </Button>
      ) : (
        <Button {...small} keys="." word="pause" busy={acts.pausing} off={off.pause} title={off.pause} onClick={acts.pause}>
          <StatusMark icon="paused" size={14} />
          {run.current_execution?.status === 'in_progress' ? 'Pause after this step' : 'Pause'}
        </Button>
      )}
      <Menu
        trigger={<Button size="small" icon="more" label="More" />}
        items={[
          { label: 'Try again', off: off.retry, onSelect: acts.retry },
          { label: 'Stop the work', off: off.cancel, danger: true, onSelect: () => setAsking('cancel') },
          { label: 'Declare failed', off: off.fail, danger: true, onSelect: () => setAsking('fail') },
          { label: 'Give the run up', off: off.abort, danger: true, onSelect: () => setAsking('abort') },
        ]}
      />
      <CopyAs what={copyable(run, paused, begins, failed ? view.execution?.execution_id : undefined)} />
    </>
  );
}

/** The act that stands first, to copy. */
function copyable(run: Run, paused: boolean, begins: boolean, failed: string | undefined): Copyable {
  if (begins) return { command: run.current_execution ? `holdpoint answer ${run.current_execution.execution_id} --approve` : undefined, method: 'POST', path: '/api/executions/start', body: { run_id: run.run_id } };
  if (failed) return { command: `holdpoint answer ${failed} --approve`, method: 'POST', path: `/api/executions/${failed}/retry`, body: {} };
  return { method: 'POST', path: `/api/runs/${run.run_id}/${paused ? 'resume' : 'pause'}`, body: {} };
}

const DIALOGS = {
  note: { title: (name: string) => `Note for ${name}`, about: 'It reaches the agent with its next question. What was said before stays as it is.', label: 'Note', verb: 'Leave the note', required: true },
  fail: { title: () => 'Declare the run failed', about: 'The run ends as failed. What was made is kept, and it can be rolled back.', label: 'Why', verb: 'Declare failed', required: false },
  abort: { title: () => 'Give the run up', about: 'The run ends. What was made is kept; work that goes on is stopped.', label: 'Why', verb: 'Give the run up', required: false },
  cancel: { title: (name: string) => `Stop the work of ${name}`, about: 'This try fails as cancelled and the run pauses. You can try again afterwards.', label: '', verb: 'Stop the work', required: false },
};

export function Asked({ acts }: { acts: Acts }) {
  const { asking } = acts;
  return asking && <Ask key={asking} asking={asking} acts={acts} />;
}

function Ask({ asking, acts }: { asking: NonNullable<Asking>; acts: Acts }) {
  const [text, setText] = useState('');
  const { title, about, label, verb, required } = DIALOGS[asking];
  const ready = (!required || text.trim() !== '') && !acts.busy;
  const send = () => {
    if (!ready) return;
    const said = text.trim();
    if (asking === 'note') acts.note(said);
    else if (asking === 'fail') acts.fail(said);
    else if (asking === 'abort') acts.abort(said);
    else acts.cancel();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  useShortcut('mod+enter', 'send', send, { group: 'In this dialog', hint: false });
  const close = () => acts.setAsking(undefined);
  return (
    <Dialog open onClose={close} title={title(acts.name)} about={about}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        {label && (
          <Field label={label} required={required}>
            <TextArea rows={3} value={text} onChange={(event) => setText(event.target.value)} />
          </Field>
        )}
        {acts.problem && <ErrorBlock title="Nothing was changed" problem={acts.problem} />}
        <div className="flex justify-end gap-2">
          <Button kind="quiet" hint="escape" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" kind={asking === 'note' ? 'primary' : 'danger-fill'} busy={acts.busy} disabled={!ready && !acts.busy} hint="mod+enter">
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
