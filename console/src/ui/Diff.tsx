/** A diff: line numbers, sign, text. Prose in serif with changed words marked; code in mono. Signs carry the meaning. */
import clsx from 'clsx';
import { Fragment, type ReactNode } from 'react';
import type { Difference, Hunk, Line } from '@/model/difference';
import { many } from '@/model/figures';

interface Props {
  difference: Difference;
  /** Prose is wrapped and set in serif. */
  prose?: boolean;
  /** What stands under a line, such as comments. */
  under?: (line: Line) => ReactNode;
  onLine?: (line: Line) => void;
  label: string;
}

export function Diff({ difference, prose = false, under, onLine, label }: Props) {
  const { hunks, rest } = difference;
  if (hunks.length === 0) return <p className="px-5 py-4 text-ink-2">Nothing changed.</p>;
  return (
    <div role="group" aria-label={label} className={prose ? undefined : 'scroll-pane overflow-y-hidden'}>
      {hunks.map((hunk, at) => (
        <Fragment key={`${hunk.from}-${at}`}>
          <Heading hunk={hunk} at={at} of={hunks.length} />
          {hunk.lines.map((line) => (
            <Fragment key={`${line.sign}${line.before}-${line.after}`}>
              <Row line={line} prose={prose} onLine={onLine} />
              {under?.(line)}
            </Fragment>
          ))}
        </Fragment>
      ))}
      {rest > 0 && <p className="border-y border-line bg-sunken px-5 py-1 text-small text-ink-3 tablet:pl-[102px]">{many(rest, 'unchanged line')} folded</p>}
    </div>
  );
}

function Heading({ hunk, at, of }: { hunk: Hunk; at: number; of: number }) {
  return (
    <h3 data-change={at} tabIndex={-1} className="sticky top-0 z-10 flex min-h-[30px] items-center justify-between gap-4 border-y border-line bg-sunken px-5 text-small font-body tracking-normal text-ink-3 tablet:pl-[102px]">
      <span>
        {hunk.where ? `${hunk.where}, from` : 'From'} line {hunk.from}
      </span>
      <span>
        {at + 1} of {many(of, 'change')}
        {hunk.folded > 0 && `, ${many(hunk.folded, 'unchanged line')} folded`}
      </span>
    </h3>
  );
}

const SIGNS = { ' ': ['', ''], '+': ['bg-done-wash', 'Added: '], '-': ['bg-fail-wash', 'Removed: '] } as const;

function Row({ line, prose, onLine }: { line: Line; prose: boolean; onLine?: ((line: Line) => void) | undefined }) {
  const [ground, word] = SIGNS[line.sign];
  return (
    // The line itself is plain text; commenting on it has its own key.
    <div
      className={clsx('grid grid-cols-[20px_1fr] px-4 tablet:grid-cols-[36px_36px_30px_1fr] tablet:pr-5 tablet:pl-4', ground, onLine && 'cursor-text')}
      data-line={line.after ?? line.before}
      data-sign={line.sign}
      onDoubleClick={() => onLine?.(line)}
    >
      <span aria-hidden="true" className="fact hidden pt-1 text-right text-ink-3 tablet:block">
        {line.before}
      </span>
      <span aria-hidden="true" className="fact hidden pt-1 text-right text-ink-3 tablet:block">
        {line.after}
      </span>
      <span aria-hidden="true" className={clsx('text-center font-mono font-name', line.sign === '+' ? 'text-done' : 'text-fail', prose && 'leading-[27px]')}>
        {line.sign === '-' ? '−' : line.sign}
      </span>
      <span className={clsx('min-w-0 py-px', prose ? 'work break-words whitespace-pre-wrap' : 'font-mono text-[12px] leading-5 whitespace-pre')}>
        {word && <span className="sr-only">{word}</span>}
        {line.pieces.map((piece, at) =>
          piece.changed && line.sign === '+' ? (
            <ins key={at} className="rounded-1 bg-diff-add! shadow-none!">
              {piece.text}
            </ins>
          ) : piece.changed && line.sign === '-' ? (
            <del key={at} className="rounded-1 bg-diff-del text-ink! line-through decoration-fail">
              {piece.text}
            </del>
          ) : (
            <span key={at}>{piece.text}</span>
          ),
        )}
        {line.pieces.length === 1 && line.pieces[0]?.text === '' && '\u200b'}
      </span>
    </div>
  );
}
