/** One run. */
import { useParams } from '@tanstack/react-router';
import { useRun, useRunCheckpoints } from '@/api/hooks/runs';
import { useMe } from '@/api/hooks/session';
import { isMine } from '@/model/rights';
import { execution as executionStatus, run as runStatus } from '@/model/status';
import { Badge } from '@/ui/Badge';
import { Crumbs, Page } from '@/ui/page';
import { ErrorBlock, Loading } from '@/ui/states';
import { Track } from '@/ui/Track';

export default function Run() {
  const { runId } = useParams({ from: '/shell/runs/$runId' });
  const { data: me } = useMe();
  const run = useRun(runId);
  const checkpoints = useRunCheckpoints(runId);
  const mine = (waiting: Parameters<typeof isMine>[1]) => isMine(me, waiting);
  const name = run.data ? `${run.data.pipeline_name ?? 'Run'} v${run.data.run_version ?? ''}` : 'Run';
  return (
    <Page title={name} heading={run.data && <Crumbs>{[run.data.pipeline_name ?? 'Run', `v${run.data.run_version ?? ''}`]}</Crumbs>} meta={run.data && <Badge status={runStatus(run.data, mine)} />}>
      {run.error && <ErrorBlock title="The run could not be read" problem={run.error} className="m-5" />}
      {run.isPending && <Loading label="Run" />}
      {checkpoints.data && (
        <div className="p-5">
          <Track
            label="Checkpoints"
            current={run.data?.current_execution?.execution_id}
            stops={checkpoints.data.items.map((it) => ({
              id: it.execution_id,
              name: it.checkpoint_name ?? `Checkpoint ${it.checkpoint_position + 1}`,
              status: executionStatus(it, mine),
              reached: it.status !== 'pending',
            }))}
          />
        </div>
      )}
    </Page>
  );
}
