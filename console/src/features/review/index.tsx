/** Review. */
import { Page } from '@/ui/page';
import { Empty } from '@/ui/states';

export default function Review() {
  return (
    <Page title="Review">
      <Empty title="This question is answered from the inbox">The result and its checks are shown there, with the ways to answer.</Empty>
    </Page>
  );
}
