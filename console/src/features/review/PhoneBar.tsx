/** The review on a phone: two buttons within reach of the thumb; the rest is in a sheet. */
import type { Option } from '@/model/review';
import { Button } from '@/ui/Button';
import { Hint } from '@/ui/Hint';

interface Props {
  mine: boolean;
  /** Whether it is a result that is decided about. */
  deciding: boolean;
  /** What has not been seen of it yet. */
  missing: string | undefined;
  verb: string;
  onOpen: (option?: Option) => void;
  /** Sends the form at once. */
  onSend: (() => void) | undefined;
  busy: boolean;
  ready: boolean;
  hint: string | undefined;
}

export function PhoneBar({ mine, deciding, missing, verb, onOpen, onSend, busy, ready, hint }: Props) {
  const more = <Button size="phone" icon="more" label="More" onClick={() => onOpen()} />;
  return (
    <div className="flex-none border-t border-line bg-surface px-4 py-2">
      {mine && missing && <p aria-hidden="true" className="mb-2 text-small text-ink-2">{missing}</p>}
      <div className="flex gap-2 [&>span:first-child]:flex-1">
        {deciding && mine ? (
          <>
            <Button kind="primary" size="phone" className="flex-1" off={missing} offAt="hidden" steady onClick={() => onOpen('approve')}>
              Approve
            </Button>
            <Button size="phone" className="flex-1 px-2!" onClick={() => onOpen('revise')}>
              Ask for a revision
            </Button>
            {more}
          </>
        ) : onSend && mine ? (
          <>
            <Button kind="primary" size="phone" className="flex-1" busy={busy} ready={ready} onClick={onSend}>
              {verb}
            </Button>
            {more}
          </>
        ) : (
          <Button kind={mine ? 'primary' : 'default'} size="phone" className="flex-1" onClick={() => onOpen()}>
            {verb}
          </Button>
        )}
      </div>
      <Hint>{hint}</Hint>
    </div>
  );
}
