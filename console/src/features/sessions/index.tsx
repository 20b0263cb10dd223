/** The run graphs of agent-driven work. */
import { Page } from '@/ui/page';
import { Empty } from '@/ui/states';

export default function Sessions() {
  return (
    <Page title="Sessions">
      <Empty title="No sessions yet">When an agent works through Holdpoint, its session stands here as a graph of steps, checkpoints and blocked attempts.</Empty>
    </Page>
  );
}
