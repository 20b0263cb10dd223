/** An address at which nothing stands. */
import { Link } from '@tanstack/react-router';
import { Page } from '@/ui/page';
import { Empty } from '@/ui/states';

export default function Missing() {
  return (
    <Page title="Not found">
      <Empty
        title="Nothing stands at this address"
        action={
          <Link to="/inbox" className="underline underline-offset-2">
            Go to the inbox
          </Link>
        }
      >
        It may have been deleted, or the link was cut off. Find it by its name with ⌘K.
      </Empty>
    </Page>
  );
}
