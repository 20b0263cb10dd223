/** A difference of two texts: side by side where there is room, one under the other elsewhere. */
import clsx from 'clsx';
import { Fragment } from 'react';
import type { Difference, Line } from '@/model/difference';
import { pairs } from '@/model/compare';
import { many } from '@/model/figures';
import { Diff } from '@/ui/Diff';
import { useNarrow } from '@/ui/media';

interface Props {
  difference: Difference;
  prose: boolean;
  label: string;
  beside: boolean;
}

export function Texts({ difference, prose, label, beside }: Props) {
  const narrow = useNarrow();
  if (narrow || !beside) return <Diff difference={difference} prose={prose} label={label} />;
  return (
    <div role="group" aria-label={label}>
      {difference.hunks.map((hunk, at) => (
        <Fragment key={`${hunk.from}-${at}`}>
          <h4 data-change={at} tabIndex={-1} className="flex min-h-[28px] items-center justify-between gap-4 border-y border-line bg-sunken px-5 text-small focus-visible:-outline-offset-2 font-body tracking-normal text-ink-3">
            <span>
              {hunk.where ? `${hunk.where}, from` : 'From'} line {hunk.from}
            </span>
            <span>
              {at + 1} of {many(difference.hunks.length, 'change')}
              {hunk.folded > 0 && `, ${many(hunk.folded, 'unchanged line')} folded`}
            </span>
          </h4>
          {pairs(hunk).map((pair, row) => (
            <div key={row} className="grid grid-cols-2 divide-x divide-line">
              <Half line={pair.left} number={pair.left?.before} prose={prose} />
              <Half line={pair.right} number={pair.right?.after} prose={prose} />
            </div>
          ))}
        </Fragment>
      ))}
      {difference.rest > 0 && <p className="border-t border-line bg-sunken px-5 py-1 text-small text-ink-3">{many(difference.rest, 'unchanged line')} folded</p>}
    </div>
  );
}

function Half({ line, number, prose }: { line: Line | undefined; number: number | undefined; prose: boolean }) {
  if (!line) return <div className="bg-canvas" />;
  const { sign } = line;
  return (
    <div className={clsx('grid grid-cols-[36px_22px_minmax(0,1fr)] pr-4', sign === '+' && 'bg-done-wash', sign === '-' && 'bg-fail-wash')}>
      <span aria-hidden="true" className="fact pt-1 text-right text-ink-3">
        {number}
      </span>
      <span aria-hidden="true" className={clsx('text-center font-mono font-name', sign === '+' ? 'text-done' : 'text-fail')}>
        {sign === '-' ? '−' : sign}
      </span>
      <span className={clsx('min-w-0 py-px [overflow-wrap:anywhere] whitespace-pre-wrap', prose ? 'work' : 'font-mono text-[12px] leading-5')}>
        {sign !== ' ' && <span className="sr-only">{sign === '+' ? 'Added: ' : 'Removed: '}</span>}
        {line.pieces.map((piece, at) =>
          piece.changed && sign === '+' ? (
            <ins key={at} className="rounded-1 bg-diff-add! shadow-none!">
              {piece.text}
            </ins>
          ) : piece.changed && sign === '-' ? (
            <del key={at} className="rounded-1 bg-diff-del text-ink! line-through decoration-fail">
              {piece.text}
            </del>
          ) : (
            <span key={at}>{piece.text}</span>
          ),
        )}
        {line.pieces.every((piece) => piece.text === '') && '\u200b'}
      </span>
    </div>
  );
}
