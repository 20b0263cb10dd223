/** Loops: a part of the product that comes later. */
import { useNavigate } from '@tanstack/react-router';
import { Button } from '@/ui/Button';
import { Page } from '@/ui/page';
import { Empty } from '@/ui/states';

export default function Loops() {
  const navigate = useNavigate();
  return (
    <Page title="Loops">
      <Empty
        title="Loops are not part of this version yet"
        action={
          <Button size="small" hint="g p" onClick={() => void navigate({ to: '/pipelines' })}>
            Go to pipelines
          </Button>
        }
      >
        They will show work that is repeated until its checks pass, with every iteration; until then a checkpoint that is checked and tried again does the same within a pipeline, and its tries stand in the run.
      </Empty>
    </Page>
  );
}
