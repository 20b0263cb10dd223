/** All pipelines: where each stands, and what it did lately. */
import { Link } from '@tanstack/react-router';
import { usePipelines } from '@/api/hooks/pipelines';
import { many } from '@/model/figures';
import { Icon } from '@/ui/Icon';
import { Page } from '@/ui/page';
import { RowBody } from '@/ui/Row';
import { Empty, ErrorBlock, Loading } from '@/ui/states';

export default function Pipelines() {
  const { data, error, isPending } = usePipelines();
  const pipelines = data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page title="Pipelines" meta={data && many(pipelines.length, 'pipeline')}>
      <div className="scroll-pane min-h-0 flex-1">
        {error && <ErrorBlock title="The pipelines could not be read" problem={error} className="m-5" />}
        {isPending && <Loading label="Pipelines" />}
        {data && pipelines.length === 0 && (
          <Empty title="No pipelines yet">A pipeline is a list of checkpoints. Make one from a file with holdpoint pipeline apply FILE.</Empty>
        )}
        <ul>
          {pipelines.map((pipeline) => (
            <li key={pipeline.pipeline_id}>
              <Link to="/pipelines/$pipelineId" params={{ pipelineId: pipeline.pipeline_id }} className="block">
                <RowBody
                  icon={<Icon name="pipelines" className="text-ink-3" />}
                  name={pipeline.pipeline_name}
                  meta={pipeline.checkpoints.map((checkpoint) => checkpoint.checkpoint_name).join(', ')}
                  right={many(pipeline.runs.total, 'run')}
                />
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </Page>
  );
}
