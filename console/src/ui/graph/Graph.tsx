/** A graph with its table twin, one key apart: what is drawn can also be read in rows. */
import clsx from 'clsx';
import { lazy, Suspense, useState } from 'react';
import { Button } from '../Button';
import { StatusMark } from '../Icon';
import { Loading } from '../states';
import { loaded } from '@/api/loaded';
import { CAUSES, type Cause, type GraphProps } from './types';

const Canvas = lazy(loaded(() => import('./Canvas')));

export function Graph(props: GraphProps) {
  const [table, setTable] = useState(false);
  const causes = [...new Set(props.lines.map((line) => line.cause))];
  return (
    <div className={clsx('flex min-h-0 flex-col', props.className)}>
      <div className="flex min-h-10 flex-none flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-5 py-1 text-small text-ink-3 max-tablet:px-4">
        {causes.map((cause) => (
          <Key key={cause} cause={cause} />
        ))}
        <span className="flex-1" />
        <Button size="small" kind="quiet" keys="v" word={table ? 'as a graph' : 'as a table'} onClick={() => setTable(!table)}>
          {table ? 'As a graph' : 'As a table'}
        </Button>
      </div>
      {table ? (
        <Twin {...props} />
      ) : (
        <Suspense fallback={<Loading label={props.label} rows={2} />}>
          <Canvas {...props} className="flex-1" />
        </Suspense>
      )}
    </div>
  );
}

function Key({ cause }: { cause: Cause }) {
  const { word, color, width, dash } = CAUSES[cause];
  return (
    <span className="inline-flex items-center gap-1.5">
      <svg width="24" height="6" aria-hidden="true">
        <line x1="0" x2="24" y1="3" y2="3" stroke={color} strokeWidth={width} strokeDasharray={dash} />
      </svg>
      {word}
    </span>
  );
}

function Twin({ items, lines, selected, onSelect, onOpen, label }: GraphProps) {
  const names = new Map(items.map((item) => [item.id, item.label]));
  return (
    <div className="scroll-pane min-h-0 flex-1" tabIndex={0} role="region" aria-label={label}>
      <table className="w-full text-left">
        <thead>
          <tr className="label h-8 border-b border-line bg-canvas">
            <th scope="col" className="pl-5">
              Node
            </th>
            <th scope="col">State</th>
            <th scope="col" className="pr-5">
              Comes from
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={item.id} className={clsx('min-h-[34px] border-b border-line', item.id === selected && 'selected-row')}>
              <td className="py-1.5 pl-5">
                <button type="button" onClick={() => onSelect(item.id)} onDoubleClick={() => onOpen?.(item.id)} className="rounded-1 text-left font-name">
                  {item.label}
                </button>
                {item.meta && <span className="block text-small text-ink-3">{item.meta}</span>}
              </td>
              <td className="py-1.5">
                <span className="inline-flex items-center gap-2">
                  {item.icon ?? <StatusMark icon={item.status.icon} tone={item.status.tone} />}
                  {item.status.word}
                </span>
              </td>
              <td className="py-1.5 pr-5 text-small text-ink-2">
                {lines
                  .filter((line) => line.to === item.id && names.has(line.from))
                  .map((line) => `${names.get(line.from)} (${CAUSES[line.cause].word})`)
                  .join(', ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
