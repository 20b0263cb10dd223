/** Edit pipeline. */
import { Page } from '@/ui/page';
import { Empty } from '@/ui/states';

export default function Editor() {
  return (
    <Page title="Edit pipeline">
      <Empty title="Edited as a file for now">Change the file and apply it with holdpoint pipeline apply FILE.</Empty>
    </Page>
  );
}
