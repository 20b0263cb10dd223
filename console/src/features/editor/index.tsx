/** The pipeline editor. */
import { useParams } from '@tanstack/react-router';
import { usePipeline } from '@/api/hooks/pipelines';
import { useMe } from '@/api/hooks/session';
import { Button } from '@/ui/Button';
import { Page } from '@/ui/page';
import { ErrorBlock, Loading } from '@/ui/states';
import { Editor } from './Editor';

export default function EditPipeline() {
  const { pipelineId } = useParams({ from: '/shell/pipelines/$pipelineId/edit' });
  const { data: me } = useMe();
  const pipeline = usePipeline(pipelineId);
  if (pipeline.data) return <Editor key={pipelineId} pipeline={pipeline.data} me={me} />;
  return (
    <Page title="Edit pipeline">
      {pipeline.error ? (
        <ErrorBlock title="The pipeline could not be read" problem={pipeline.error} className="m-5 max-w-[560px]" action={<Button size="small" onClick={() => void pipeline.refetch()}>Try again</Button>} />
      ) : (
        <Loading label="Checkpoints" />
      )}
    </Page>
  );
}
