/** History. */
import { Page } from '@/ui/page';
import { Empty } from '@/ui/states';

export default function History() {
  return (
    <Page title="History">
      <Empty title="Told by the command for now">The events of this pipeline say how its definition changed.</Empty>
    </Page>
  );
}
