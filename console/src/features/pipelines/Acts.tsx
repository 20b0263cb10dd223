/** Starting a run, putting a pipeline away and bringing it back, each with what will happen. */
import { Link, useNavigate } from '@tanstack/react-router';
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
      focused
      onClose={onClose}
      title={`Start v${version} of ${pipeline.pipeline_name}?`}
      verb={`Start v${version}`}
      busy={start.isPending}
      problem={start.error ? Problem.of(start.error) : undefined}
      onConfirm={() => start.mutate({ pipeline_id: pipeline.pipeline_id, start: true }, { onSuccess: (run) => void navigate({ to: '/runs/$runId', params: { runId: run.run_id } }) })}
    >
      {extended ? `This will be v${version}, extending from v${extended}: checkpoints that ask for it are given what v${extended} made.` : `This will be v${version}. It is the first run under this definition, so it extends nothing.`}{' '}
      {pipeline.checkpoints[0] ? `It begins with ${pipeline.checkpoints[0].checkpoint_name}.` : 'It has no checkpoints yet.'}
    </Confirm>
  );
}

const away = (name: string) => `Deleted ${name}`;
const back = (name: string) => `Brought ${name} back`;

/** Belongs to the screen, which stands longer than the row that is brought back. */
export function useBringBack() {
  const restore = useRestorePipeline();
  const turns = useTurns();
  const bring = ({ pipeline_id: id, pipeline_name: name }: Pipeline) =>
    void restore.mutateAsync(id).then(
      () => toast(back(name), () => turns.remove(id, name)),
      // It stands on the screen as `error`.
      () => {},
    );
  return { back: bring, error: restore.error, busy: restore.isPending ? restore.variables : undefined };
}

export type BringBack = ReturnType<typeof useBringBack>;

/** Deleting and bringing back undo each other, as often as somebody likes. */
function useTurns() {
  const deleting = useDeletePipeline();
  const restoring = useRestorePipeline();
  const remove = (id: string, name: string): Promise<void> => deleting.mutateAsync(id).then(() => toast(away(name), () => restore(id, name)));
  const restore = (id: string, name: string): Promise<void> => restoring.mutateAsync(id).then(() => toast(back(name), () => remove(id, name)));
  return { remove, restore };
}

export function DeletePipeline({ pipeline, onClose, onDone }: Props & { onDone?: () => void }) {
  const remove = useDeletePipeline();
  const problem = remove.error ? Problem.of(remove.error) : undefined;
  const refused = Array.isArray(problem?.more.runs) ? (problem.more.runs as string[]) : pipeline.runs.active_run_ids;
  const name = pipeline.pipeline_name;
  const turns = useTurns();
  const done = () => {
    onClose();
    onDone?.();
    toast(away(name), () => turns.restore(pipeline.pipeline_id, name));
  };
  return (
    <Confirm open onClose={onClose} danger title={`Delete ${name}?`} verb={`Delete ${name}`} busy={remove.isPending} problem={problem} onConfirm={() => remove.mutate(pipeline.pipeline_id, { onSuccess: done })}>
      <ul className="list-disc pl-4">
        <li>It leaves the list of pipelines, and no run of it can be started.</li>
        <li>Its folder, with {pipeline.runs.total === 0 ? 'no runs yet' : `${many(pipeline.runs.total, 'run')} and what they made`}, moves to the archive.</li>
        <li>You can bring it back as it was, from the bottom of that list.</li>
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
