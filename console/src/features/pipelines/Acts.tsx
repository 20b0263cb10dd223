/** Starting, putting away and bringing back, each with what will happen. */
import { Link, useNavigate } from '@tanstack/react-router';
import { useDeletePipeline, useRestorePipeline } from '@/api/hooks/pipelines';
import { useStartRun } from '@/api/hooks/runs';
import { Problem } from '@/api/problem';
import type { Pipeline } from '@/api/types';
import { many } from '@/model/figures';
import { Confirm } from '@/ui/overlays';
import { toast } from '@/ui/toast';

export function StartRun({ pipeline, onClose }: { pipeline: Pipeline; onClose: () => void }) {
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
      {extended ? `It extends v${extended}: checkpoints that ask for it are given what v${extended} made.` : 'It is the first run under this definition, so it extends nothing.'}{' '}
      {pipeline.checkpoints[0] ? `It begins with ${pipeline.checkpoints[0].checkpoint_name}.` : 'It has no checkpoints yet.'}
    </Confirm>
  );
}

export function DeletePipeline({ pipeline, onClose }: { pipeline: Pipeline; onClose: () => void }) {
  const remove = useDeletePipeline();
  const restore = useRestorePipeline();
  const problem = remove.error ? Problem.of(remove.error) : undefined;
  const refused = Array.isArray(problem?.more.runs) ? (problem.more.runs as string[]) : pipeline.runs.active_run_ids;
  const name = pipeline.pipeline_name;
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Delete ${name}?`}
      verb={`Delete ${name}`}
      danger
      busy={remove.isPending}
      problem={problem}
      onConfirm={() =>
        remove.mutate(pipeline.pipeline_id, {
          onSuccess: () => {
            onClose();
            toast(`Deleted ${name}`, () => restore.mutate(pipeline.pipeline_id, { onSuccess: () => toast(`Brought ${name} back`) }));
          },
        })
      }
    >
      <ul className="list-disc pl-4">
        <li>It leaves this list, and no run of it can be started.</li>
        <li>Its folder, with {pipeline.runs.total === 0 ? 'no runs yet' : `${many(pipeline.runs.total, 'run')} and what they made`}, moves to the archive.</li>
        <li>You can bring it back as it was, from the bottom of the list.</li>
      </ul>
      {refused.length > 0 && (
        <p className="mt-2">
          {refused.length === 1 ? 'A run has' : `${refused.length} runs have`} not ended, and a pipeline with such a run is not deleted:{' '}
          {refused.map((id, at) => (
            <span key={id}>
              {at > 0 && ', '}
              <Link to="/runs/$runId" params={{ runId: id }} className="font-value text-ink underline underline-offset-2">
                run {id.slice(-8)}
              </Link>
            </span>
          ))}
          .
        </p>
      )}
    </Confirm>
  );
}
