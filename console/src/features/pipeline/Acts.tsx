/** Starting a run, putting the pipeline away and bringing it back; each says what will happen. */
import { useNavigate } from '@tanstack/react-router';
import { useDeletePipeline, useRestorePipeline } from '@/api/hooks/pipelines';
import { useStartRun } from '@/api/hooks/runs';
import { Problem } from '@/api/problem';
import type { Pipeline } from '@/api/types';
import { many } from '@/model/figures';
import { Confirm } from '@/ui/overlays';
import { toast } from '@/ui/toast';

interface Props {
  pipeline: Pipeline;
  onClose: () => void;
}

export function StartRun({ pipeline, onClose }: Props) {
  const start = useStartRun();
  const navigate = useNavigate();
  const { run_version: version, extends_from_run_version: extended } = pipeline.next_run;
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Start v${version} of ${pipeline.pipeline_name}?`}
      verb={`Start v${version}`}
      busy={start.isPending}
      problem={start.error ? Problem.of(start.error) : undefined}
      onConfirm={() => start.mutate({ pipeline_id: pipeline.pipeline_id, start: true }, { onSuccess: (run) => void navigate({ to: '/runs/$runId', params: { runId: run.run_id } }) })}
    >
      {extended ? `This will be v${version}, extending from v${extended}: checkpoints that ask for it are given what v${extended} made.` : `This will be v${version}. It is the first run under this definition, so it extends nothing.`}{' '}
      {pipeline.checkpoints[0] && `It begins with ${pipeline.checkpoints[0].checkpoint_name}.`}
    </Confirm>
  );
}

export function PutAway({ pipeline, onClose }: Props) {
  const remove = useDeletePipeline();
  const restore = useRestorePipeline();
  const name = pipeline.pipeline_name;
  const done = () => {
    onClose();
    // The dialog is gone when this is undone, so the promise is what is waited for.
    const undo = () =>
      void restore.mutateAsync(pipeline.pipeline_id).then(
        () => toast(`Brought ${name} back`),
        () => {},
      );
    toast(`Deleted ${name}`, undo);
  };
  return (
    <Confirm open onClose={onClose} danger title={`Delete ${name}?`} verb={`Delete ${name}`} busy={remove.isPending} problem={remove.error ? Problem.of(remove.error) : undefined} onConfirm={() => remove.mutate(pipeline.pipeline_id, { onSuccess: done })}>
      <ul className="list-disc pl-4">
        <li>No run of it can be started any more.</li>
        <li>Its folder, with {pipeline.runs.total === 0 ? 'no runs yet' : `${many(pipeline.runs.total, 'run')} and what they made`}, moves to the archive.</li>
        <li>You can bring it back as it was.</li>
      </ul>
    </Confirm>
  );
}
