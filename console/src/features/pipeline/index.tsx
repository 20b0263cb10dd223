/** One pipeline: its checkpoints and its runs. */
import { Link, useParams } from '@tanstack/react-router';
import { usePipeline } from '@/api/hooks/pipelines';
import { useRuns } from '@/api/hooks/runs';
import { useMe } from '@/api/hooks/session';
import { isMine } from '@/model/rights';
import { run as runStatus } from '@/model/status';
import { GroupHeading, Page } from '@/ui/page';
import { RowBody } from '@/ui/Row';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { Money, Time } from '@/ui/values';

export default function Pipeline() {
  const { pipelineId } = useParams({ from: '/shell/pipelines/$pipelineId' });
  const { data: me } = useMe();
  const pipeline = usePipeline(pipelineId);
  const runs = useRuns({ pipeline: pipelineId });
  const all = runs.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page title={pipeline.data?.pipeline_name ?? 'Pipeline'} meta={pipeline.data?.pipeline_description}>
      <div className="scroll-pane min-h-0 flex-1">
        {pipeline.error && <ErrorBlock title="The pipeline could not be read" problem={pipeline.error} className="m-5" />}
        {runs.isPending && <Loading label="Runs" />}
        {runs.data && all.length === 0 && <Empty title="No runs yet">Start one with holdpoint pipeline run.</Empty>}
        {all.length > 0 && <GroupHeading end={all.length}>Runs</GroupHeading>}
        <ul>
          {all.map((run) => (
            <li key={run.run_id}>
              <Link to="/runs/$runId" params={{ runId: run.run_id }} className="block">
                <RowBody status={runStatus(run, (waiting) => isMine(me, waiting))} name={`v${run.run_version}`} meta={run.status} right={<Time at={run.created_at} />} below={<Money usd={run.usage.cost_usd} />} />
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </Page>
  );
}
