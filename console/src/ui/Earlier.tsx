/** Says that a list does not begin where it is shown to begin, and shows more of it. */
import { Button } from './Button';

interface List {
  hasEarlier: boolean;
  loadingEarlier: boolean;
  earlierError: Error | null;
}

export function Earlier({ what, lists, onShow }: { what: string; lists: readonly List[]; onShow: () => void }) {
  if (!lists.some((list) => list.hasEarlier)) return null;
  const failed = lists.some((list) => list.earlierError);
  return (
    <p className="flex flex-none items-center gap-2 border-b border-line px-5 py-1 text-small text-ink-3 max-tablet:px-4">
      <span className="min-w-0 flex-1">{failed ? `The earlier ${what} could not be read.` : `There are earlier ${what}.`}</span>
      <Button kind="quiet" size="small" busy={lists.some((list) => list.loadingEarlier)} onClick={onShow}>
        Show earlier
      </Button>
    </p>
  );
}
