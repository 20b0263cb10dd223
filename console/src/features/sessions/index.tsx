/** The run graphs of agent-driven work: a part of the product that comes later. */
import { useNavigate } from '@tanstack/react-router';
import { Button } from '@/ui/Button';
import { Page } from '@/ui/page';
import { Empty } from '@/ui/states';

export default function Sessions() {
  const navigate = useNavigate();
  return (
    <Page title="Sessions">
      <Empty
        title="Sessions are not part of this version yet"
        action={
          <Button size="small" hint="g p" onClick={() => void navigate({ to: '/pipelines' })}>
            Go to pipelines
          </Button>
        }
      >
        They will show agents that drive their own work as a graph of steps, checkpoints and blocked tries; until then agents work in the checkpoints of a pipeline, and what they said stands in its run.
      </Empty>
    </Page>
  );
}
