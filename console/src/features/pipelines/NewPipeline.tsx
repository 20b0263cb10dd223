/** A new pipeline: its name, what it is for, whether it goes on by itself. Its checkpoints are added in the editor. */
import { type FormEvent, useState } from 'react';
import { useNavigate } from '@tanstack/react-router';
import { useCreatePipeline } from '@/api/hooks/pipelines';
import { Problem } from '@/api/problem';
import { Button } from '@/ui/Button';
import { CopyAs } from '@/ui/CopyAs';
import { Field, Input, Switch, TextArea } from '@/ui/fields';
import { Dialog } from '@/ui/overlays';
import { ErrorBlock } from '@/ui/states';
import { toast } from '@/ui/toast';

export function NewPipeline({ onClose, onFile, off }: { onClose: () => void; onFile: () => void; off: string | undefined }) {
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [advance, setAdvance] = useState(false);
  const [tried, setTried] = useState(false);
  const create = useCreatePipeline();
  const navigate = useNavigate();
  const problem = create.error ? Problem.of(create.error) : undefined;
  const at = (pointer: string) => problem?.errors.find((error) => error.pointer === pointer)?.message;
  const body = { pipeline_name: name.trim(), ...(description.trim() ? { pipeline_description: description.trim() } : {}), config: { auto_advance: advance } };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (name.trim() === '' || off || create.isPending) return;
    create.mutate(body, {
      onSuccess: (made) => {
        toast(`Made ${made.pipeline_name}`);
        void navigate({ to: '/pipelines/$pipelineId/edit', params: { pipelineId: made.pipeline_id }, replace: true });
      },
    });
  };
  const missing = tried && name.trim() === '' ? 'Give it a name.' : undefined;
  return (
    <Dialog open onClose={onClose} title="New pipeline" about="A pipeline is a list of checkpoints. You add them next.">
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        <Field label="Name" required error={missing ?? at('/pipeline_name')}>
          <Input value={name} onChange={(event) => setName(event.target.value)} autoFocus autoComplete="off" />
        </Field>
        <Field label="What it is for">
          <TextArea value={description} onChange={(event) => setDescription(event.target.value)} rows={2} />
        </Field>
        <div>
          <Switch checked={advance} onChange={setAdvance} label="Go on by itself" />
          <p className="mt-1 text-small text-ink-3">The next checkpoint starts when the one before is done. Hold points still stop it.</p>
        </div>
        {problem && problem.errors.length === 0 && <ErrorBlock title="The pipeline was not made" problem={problem} />}
        <div className="flex flex-wrap items-center justify-end gap-2">
          <Button kind="quiet" onClick={onFile}>
            From a file instead
          </Button>
          <span className="flex-1" />
          <CopyAs what={{ method: 'POST', path: '/api/pipelines', body }} />
          <Button kind="quiet" onClick={onClose} hint="escape">
            Cancel
          </Button>
          <Button type="submit" kind="primary" busy={create.isPending} off={off} offAt="below">
            Make the pipeline
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
