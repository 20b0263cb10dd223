/** Where a person decides: the hold line, the question, what follows, and what the answer covers. */
import type { ReactNode } from 'react';
import { digest as short } from '@/model/figures';
import { HoldLine } from '@/ui/HoldLine';

interface Props {
  question: string;
  /** Whether this person may answer. */
  mine: boolean;
  passed?: boolean;
  about?: string | undefined;
  digest?: string | undefined;
  children?: ReactNode;
}

export function Panel({ question, mine, passed = false, about, digest, children }: Props) {
  return (
    <section aria-label="Decision" className="scroll-pane flex max-h-[70%] flex-none gap-[14px] border-t border-line-2 bg-surface px-5 pt-4 pb-4 pl-[14px] max-tablet:max-h-none max-tablet:border-0 max-tablet:bg-transparent max-tablet:p-1">
      <HoldLine state={passed ? 'passed' : mine ? 'reached' : 'others'} />
      <div className="min-w-0 flex-1">
        <h2 className="text-[17px] leading-6 tracking-[-0.015em]">{question}</h2>
        {about && <p className="mt-0.5 mb-2.5 text-small text-ink-2">{about}</p>}
        {children}
        {digest && (
          <p className="mt-2.5 text-label text-ink-3">
            Covers exactly what is shown: <span className="fact">{short(digest)}</span>
          </p>
        )}
      </div>
    </section>
  );
}
