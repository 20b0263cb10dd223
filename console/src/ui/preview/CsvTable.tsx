/** A table from CSV. Only the rows that are seen are drawn; cells are text, whatever they begin with. */
import { useVirtualizer } from '@tanstack/react-virtual';
import clsx from 'clsx';
import { useMemo, useRef } from 'react';
import { isFigure, table } from '@/model/csv';
import { many } from '@/model/figures';

const HEIGHT = 30;

export default function CsvTable({ text, label }: { text: string; label: string }) {
  const { head, rows, widths } = useMemo(() => table(text), [text]);
  const right = useMemo(() => widths.map((_, column) => rows.length > 0 && rows.slice(0, 50).every((row) => !row[column] || isFigure(row[column]))), [rows, widths]);
  // A cell that is longer than its column ends in dots.
  const isCut = useMemo(() => [head, ...rows].some((row) => row.some((cell, column) => cell.length > (widths[column] ?? 0))), [head, rows, widths]);
  const pane = useRef<HTMLDivElement>(null);
  // The virtualizer keeps its own state, and is made for being called like this.
  // eslint-disable-next-line react-hooks/incompatible-library
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => pane.current, estimateSize: () => HEIGHT, overscan: 12 });
  const drawn = virtual.getVirtualItems();
  const above = drawn[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (drawn.at(-1)?.end ?? 0);
  if (head.length === 0) return <p className="px-5 py-4 text-ink-2" data-content="whole">The table is empty.</p>;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div ref={pane} className="scroll-pane min-h-0 flex-1" tabIndex={0} role="region" aria-label={label} data-content={isCut ? 'raw' : 'whole'}>
        <table aria-label={label} aria-rowcount={rows.length + 1} className="table-fixed border-separate text-body border-spacing-0" style={{ width: widths.reduce((sum, width) => sum + width * 8 + 36, 52) }}>
          <colgroup>
            <col style={{ width: 52 }} />
            {widths.map((width, column) => (
              <col key={column} style={{ width: width * 8 + 36 }} />
            ))}
          </colgroup>
          <thead>
            <tr>
              <th scope="col" className="sticky top-0 border-b border-line-2 bg-canvas">
                <span className="sr-only">Line</span>
              </th>
              {head.map((name, column) => (
                <th key={column} scope="col" className={clsx('label sticky top-0 h-8 truncate border-b border-line-2 bg-canvas px-[14px]', right[column] ? 'text-right' : 'text-left')} title={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {above > 0 && (
              <tr aria-hidden="true">
                <td colSpan={head.length + 1} style={{ height: above }} />
              </tr>
            )}
            {drawn.map(({ index }) => (
              <tr key={index} aria-rowindex={index + 2}>
                <td className="fact border-b border-line px-2 text-right text-ink-3">{index + 2}</td>
                {head.map((_, column) => {
                  const cell = rows[index]?.[column] ?? '';
                  return (
                    <td key={column} style={{ height: HEIGHT }} title={cell.length > 40 ? cell : undefined} className={clsx('truncate border-b border-line px-[14px]', right[column] && 'text-right')}>
                      {cell}
                    </td>
                  );
                })}
              </tr>
            ))}
            {below > 0 && (
              <tr aria-hidden="true">
                <td colSpan={head.length + 1} style={{ height: below }} />
              </tr>
            )}
          </tbody>
        </table>
      </div>
      <p className="flex-none border-t border-line px-5 py-1 text-small text-ink-3">
        {many(rows.length, 'row')}, {many(head.length, 'column')}
      </p>
    </div>
  );
}
