/** Where a person decides: the hold line, the question, what follows, and what the answer covers. */
import type { ReactNode } from 'react';
import type { WaitingFor } from '@/api/types';
import { digest as short } from '@/model/figures';
import { HoldLine } from '@/ui/HoldLine';

interface Props {
  question: string;
  /** Whether this person may answer. */
  mine: boolean;
  passed?: boolean;
  about?: string | undefined;
  digest?: string | undefined;
  /** What the digest is of, and how much of that was seen. */
  covers?: string | undefined;
  children?: ReactNode;
}

export function Panel({ question, mine, passed = false, about, digest, covers, children }: Props) {
  return (
    <section aria-label="Decision" className="scroll-pane flex max-h-[70%] flex-none gap-[14px] border-t border-line-2 bg-surface px-5 pt-4 pb-4 pl-[14px] max-tablet:max-h-none max-tablet:border-0 max-tablet:bg-transparent max-tablet:p-1">
      <HoldLine state={passed ? 'passed' : mine ? 'reached' : 'others'} />
      <div className="min-w-0 flex-1">
        <h2 className="text-[17px] leading-6 tracking-[-0.015em]">{question}</h2>
        {about && <p className="mt-0.5 mb-2.5 text-small text-ink-2">{about}</p>}
        {children}
        {digest && covers && (
          <p className="mt-2.5 text-label text-ink-3">
            {covers}: <span className="fact">{short(digest)}</span>
          </p>
        )}
      </div>
    </section>
  );
}

/** How many have approved, where more than one has to. */
export function Approvals({ waiting: { who } }: { waiting: Pick<WaitingFor, 'who'> }) {
  if (!who.required_approvals || who.required_approvals < 2) return null;
  return (
    <p className="mb-2 text-small text-ink-2">
      {who.approved_by?.length ?? 0} of {who.required_approvals}
      {who.approved_by?.map((one) => `, ${one} approved`).join('')}
    </p>
  );
}
