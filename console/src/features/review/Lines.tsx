/** A text as it is written, line by line, with comments under its lines. */
import clsx from 'clsx';
import { Fragment, type ReactNode } from 'react';

/** A longer text is left to the viewer of code, which draws only what is seen. */
export const MOST_LINES = 3000;

export function Lines({ text, label, prose, under }: { text: string; label: string; prose: boolean; under: (line: number, text: string) => ReactNode }) {
  return (
    <div role="group" aria-label={label} className="py-2">
      {text
        .replace(/\n$/, '')
        .split('\n')
        .map((line, at) => (
          <Fragment key={at}>
            <div data-line={at + 1} data-sign=" " className="grid grid-cols-[1fr] px-4 hover:bg-hover tablet:grid-cols-[72px_30px_1fr] tablet:pr-5">
              <span aria-hidden="true" className="fact hidden pt-1 text-right text-ink-3 tablet:block">
                {at + 1}
              </span>
              <span className="hidden tablet:block" />
              <span className={clsx('min-w-0 [overflow-wrap:anywhere] whitespace-pre-wrap', prose ? 'work' : 'font-mono text-[12px] leading-5')}>{line || '\u200b'}</span>
            </div>
            {under(at + 1, line)}
          </Fragment>
        ))}
    </div>
  );
}
