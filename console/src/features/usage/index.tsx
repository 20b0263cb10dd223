/** What work cost, and what it keeps on disk. */
import { Page } from '@/ui/page';
import { Empty } from '@/ui/states';

export default function Usage() {
  return (
    <Page title="Usage">
      <Empty title="No work has cost anything yet">When agents work, what it costs stands here by pipeline, checkpoint and model.</Empty>
    </Page>
  );
}
