/** Settings. */
import { Page } from '@/ui/page';
import { Empty } from '@/ui/states';

export default function Settings() {
  return (
    <Page title="Settings">
      <Empty title="Made with commands for now">People and tokens are made with holdpoint token, and settings shown by holdpoint config.</Empty>
    </Page>
  );
}
