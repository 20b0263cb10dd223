/** Roll back. */
import { Page } from '@/ui/page';
import { Empty } from '@/ui/states';

export default function Rollback() {
  return (
    <Page title="Roll back">
      <Empty title="Done by the command for now">Use holdpoint rollback RUN --to POSITION, with --dry-run to see what would go.</Empty>
    </Page>
  );
}
