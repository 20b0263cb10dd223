/** Horizontal bars with figures at the end, in one colour. The table beneath says the same. */
import type { ReactNode } from 'react';
import type { Bar } from '@/model/usage';

export function Bars({ bars, label, children }: { bars: readonly Bar[]; label: string; children?: (bar: Bar) => ReactNode }) {
  return (
    <ul aria-label={label} className="flex flex-col">
      {bars.map((bar) => (
        <Strip key={bar.key} name={children?.(bar) ?? bar.name} title={bar.name} length={bar.length} figure={bar.figure} />
      ))}
    </ul>
  );
}

export function Strip({ name, title, length, figure }: { name: ReactNode; title: string; length: number; figure: ReactNode }) {
  return (
    <li className="grid min-h-7 grid-cols-[minmax(96px,200px)_minmax(0,1fr)] items-center gap-x-4 max-tablet:grid-cols-[120px_minmax(0,1fr)]">
      <span className="truncate" title={title}>
        {name}
      </span>
      <span className="flex items-center gap-2">
        <span aria-hidden="true" className="h-3 min-w-px rounded-r-1 bg-ink-2 forced-colors:bg-[CanvasText]" style={{ width: `calc(${(length * 100).toFixed(2)}% - ${length * 110}px)` }} />
        <span className="text-small whitespace-nowrap">{figure}</span>
      </span>
    </li>
  );
}
