/** The session is over, and the screen stands with what was written on it: whoever signs in again goes on there. */
import { Dialog } from '@/ui/overlays';
import { Token } from './Token';

/** Nothing else can be done first, so it does not close. */
const stay = () => {};

export default function Again({ name }: { name: string }) {
  return (
    <Dialog open onClose={stay} title="Sign in again" about={`The session of ${name} is over. What you wrote is still here.`}>
      <Token label="Token" help="Or run holdpoint open, which opens the console with you signed in." className="flex flex-col gap-3" />
    </Dialog>
  );
}
