/** Compare. */
import { Page } from '@/ui/page';
import { Empty } from '@/ui/states';

export default function Compare() {
  return (
    <Page title="Compare">
      <Empty title="Nothing chosen to compare">The address names two runs, executions or attempts: /compare?a=…&amp;b=…</Empty>
    </Page>
  );
}
