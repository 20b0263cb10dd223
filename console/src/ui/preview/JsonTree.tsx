/** JSON, folded and unfolded, with a field to find names and values. */
import clsx from 'clsx';
import { useCallback, useMemo, useState } from 'react';
import { many } from '@/model/figures';
import { holds, type Json, type JsonRow, rows } from '@/model/json-rows';
import { Input } from '../fields';
import { Icon } from '../Icon';
import { VirtualList } from '../VirtualList';

export default function JsonTree({ value, label }: { value: Json; label: string }) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [wanted, setWanted] = useState('');
  const [at, setAt] = useState(0);
  const shown = useMemo(() => rows(value, wanted ? new Set() : folded), [value, folded, wanted]);
  const found = useMemo(() => (wanted ? shown.flatMap((row, index) => (holds(row, wanted) ? [index] : [])) : []), [shown, wanted]);
  const active = found[at % Math.max(1, found.length)];
  const toggle = useCallback((path: string) => setFolded((now) => new Set(now.has(path) ? [...now].filter((one) => one !== path) : [...now, path])), []);
  return (
    <div className="flex min-h-0 flex-1 flex-col" data-content={folded.size > 0 && !wanted ? 'folded' : 'whole'}>
      {shown.length > 12 && (
        <div className="flex flex-none items-center gap-3 border-b border-line px-5 py-1.5">
          <Input
            find
            aria-label="Find in this JSON"
            placeholder="Find a name or value"
            value={wanted}
            className="w-56"
            onChange={(event) => {
              setWanted(event.target.value);
              setAt(0);
            }}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && found.length > 0) setAt((now) => (now + (event.shiftKey ? found.length - 1 : 1)) % found.length);
            }}
          />
          <span role="status" className="text-small text-ink-3">
            {wanted && (found.length > 0 ? `${(at % found.length) + 1} of ${found.length}` : 'Nothing found')}
          </span>
        </div>
      )}
      <VirtualList
        items={shown}
        keyOf={(row) => `${row.kind === 'close' ? '}' : ''}${row.path}`}
        height={20}
        label={label}
        active={active}
        className="min-h-0 flex-1 bg-sunken py-2"
        draw={(row, index) => <Row row={row} onToggle={toggle} state={index === active ? 'active' : wanted && found.includes(index) ? 'found' : undefined} />}
      />
    </div>
  );
}

function Row({ row, onToggle, state }: { row: JsonRow; onToggle: (path: string) => void; state: 'active' | 'found' | undefined }) {
  const comma = row.last || (row.kind === 'open' && !row.folded) ? '' : ',';
  return (
    <div className={clsx('flex items-start pr-5 font-mono text-[12px] leading-5', state === 'active' && 'selected-row', state === 'found' && 'bg-select')} style={{ paddingLeft: 8 + Math.min(row.depth, 40) * 14 }}>
      <span className="w-5 flex-none">
        {row.kind === 'open' && (
          <button type="button" aria-expanded={!row.folded} aria-label={`${row.folded ? 'Unfold' : 'Fold'} ${row.name ?? (row.path || 'all')}`} onClick={() => onToggle(row.path)} className="grid h-5 w-5 place-items-center rounded-1 text-ink-3 hover:text-ink">
            <Icon name={row.folded ? 'right' : 'down'} size={14} />
          </button>
        )}
      </span>
      <span className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
        {row.name !== undefined && (
          <>
            <span className="font-name">{JSON.stringify(row.name)}</span>
            <span className="text-ink-3">: </span>
          </>
        )}
        <span className={row.kind === 'leaf' ? 'text-ink-2' : 'text-ink-3'}>{row.text}</span>
        {row.folded && (
          <span className="text-ink-3">
            {' '}
            {many(row.inside, 'value')} {row.text === '[' ? ']' : '}'}
          </span>
        )}
        <span className="text-ink-3">{comma}</span>
      </span>
    </div>
  );
}
