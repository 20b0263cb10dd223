/** An address at which nothing stands. */
import { useNavigate } from '@tanstack/react-router';
import { Button } from '@/ui/Button';
import { caps } from '@/ui/Keys';
import { Page } from '@/ui/page';
import { Empty } from '@/ui/states';

export default function Missing() {
  const navigate = useNavigate();
  return (
    <Page title="Not found">
      <Empty
        title="Nothing stands at this address"
        action={
          <Button size="small" hint="g i" onClick={() => void navigate({ to: '/inbox' })}>
            Go to the inbox
          </Button>
        }
      >
        It may have been deleted, or the link was cut off. Find it by its name<span className="max-tablet:hidden"> with {caps('mod+k')}</span>.
      </Empty>
    </Page>
  );
}
