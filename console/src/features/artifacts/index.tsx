/** Outputs by name, and where each came from. */
import { useArtifacts } from '@/api/hooks/artifacts';
import { bytes } from '@/model/figures';
import { Icon } from '@/ui/Icon';
import { Page } from '@/ui/page';
import { RowBody } from '@/ui/Row';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { Time } from '@/ui/values';

export default function Artifacts() {
  const { data, error, isPending } = useArtifacts();
  const artifacts = data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page title="Artifacts">
      <div className="scroll-pane min-h-0 flex-1">
        {error && <ErrorBlock title="The artifacts could not be read" problem={error} className="m-5" />}
        {isPending && <Loading label="Artifacts" />}
        {data && artifacts.length === 0 && <Empty title="No artifacts yet">What checkpoints make stands here, with the run that made it.</Empty>}
        <ul>
          {artifacts.map((artifact) => (
            <li key={artifact.artifact_record_id}>
              <RowBody icon={<Icon name="file" className="text-ink-3" />} name={artifact.file_name} meta={`v${artifact.run_version ?? ''}, ${artifact.checkpoint_name ?? ''}`} right={<Time at={artifact.created_at} />} below={bytes(artifact.size_bytes)} />
            </li>
          ))}
        </ul>
      </div>
    </Page>
  );
}
