/** Loops and their iterations. */
import { Page } from '@/ui/page';
import { Empty } from '@/ui/states';

export default function Loops() {
  return (
    <Page title="Loops">
      <Empty title="No loops yet">When a loop runs, its iterations and their checks stand here.</Empty>
    </Page>
  );
}
