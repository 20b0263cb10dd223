/** The timeline: one row per try or revision, bars on one scale, a line for now. Its table is one key away. */
import clsx from 'clsx';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useState } from 'react';
import { clock } from '@/model/time';
import { type Placed, place, scale, ticks } from '@/model/timeline';
import type { Row } from '@/model/timeline-rows';
import { Button } from '@/ui/Button';
import { StatusMark } from '@/ui/Icon';
import { Bars } from './Bars';
import { BarTip } from './BarTip';
import { TimelineTable } from './TimelineTable';
import type { RunView } from './useRunView';

/** The columns of names, as wide as the names want, within bounds. */
const LABEL = 64;
const NARROW = 134;
const naming = (rows: readonly Row[]) => Math.max(150, Math.min(220, 28 + LABEL + 7.5 * Math.max(0, ...rows.map((row) => row.checkpoint.length))));
/** Kept free at the right, for what is to come and for marks. */
const END = 28;
const AHEAD = 68;

/** Above this many bars the line for now moves less often. */
const MANY_BARS = 1000;

/** The time, once a second while something goes on. */
function useSecond(going: boolean, every: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!going) return;
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [going, every]);
  return now;
}

function useWidth(): [number, (element: HTMLElement | null) => void] {
  const [width, setWidth] = useState(0);
  const [element, setElement] = useState<HTMLElement | null>(null);
  useEffect(() => {
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return [width, setElement];
}

interface Pointed {
  row: string;
  at: number;
  top: number;
}

export function Timeline({ view, fold, onFold, phone }: { view: RunView; fold: boolean; onFold: () => void; phone: boolean }) {
  const { rows, ahead, row: selected } = view;
  const [width, measure] = useWidth();
  const going = view.run.data?.status === 'in_progress';
  const now = useSecond(going, rows.reduce((sum, row) => sum + row.bars.length, 0) > MANY_BARS ? 5000 : 1000);
  const names = phone ? NARROW : naming(rows);
  const room = Math.max(120, width - names - (ahead.length > 0 ? AHEAD : END));
  const on = useMemo(() => scale(rows, room, now, fold), [rows, room, now, fold]);
  const { printed, short } = useMemo(() => {
    const minutes = ticks(rows, on, 46, going ? now : undefined);
    // Seconds, where minutes would not tell times apart.
    const same = minutes.some((tick, at) => at > 0 && clock(new Date(tick.at)) === clock(new Date(minutes[at - 1]?.at ?? 0)));
    return same ? { printed: ticks(rows, on, 68, going ? now : undefined), short: true } : { printed: minutes, short: false };
  }, [rows, on, going, now]);
  const placed = useMemo(() => new Map(rows.map((row) => [row.key, place(row, on, now)])), [rows, on, now]);
  const [pointed, setPointed] = useState<Pointed>();
  const point = useCallback((row: Row, at: number | undefined, element: HTMLElement) => {
    setPointed(at === undefined ? undefined : { row: row.key, at, top: element.offsetTop + element.offsetHeight });
  }, []);
  const shown = pointed && placed.get(pointed.row)?.[pointed.at];
  const table = view.search.view === 'table';
  const flip = () => view.go({ view: table ? undefined : 'table' });
  return (
    <section aria-label="Timeline" className="flex flex-none flex-col">
      <div className="flex min-h-[40px] flex-wrap items-center gap-x-[14px] gap-y-1 py-1.5 pr-4 pl-5 max-tablet:pl-4">
        <h2 className="text-body font-name">Timeline</h2>
        <span className="flex-1" />
        {!phone && <Legend />}
        <Button kind="quiet" size="small" keys="t" word={table ? 'timeline' : 'table'} aria-pressed={table} onClick={flip} className="px-1!">
          Table
        </Button>
        <Button kind="quiet" size="small" keys="f" word="fold waits" aria-pressed={fold} onClick={onFold} className="px-1!">
          {fold ? <StatusMark icon="passed" size={14} /> : <span className="size-[14px]" />}
          Fold waits
        </Button>
      </div>
      {table ? (
        <TimelineTable rows={rows} now={now} onSelect={view.selectRow} />
      ) : (
        <div ref={measure} className="relative" onPointerLeave={() => setPointed(undefined)}>
          <div aria-hidden="true" className="relative h-5 overflow-hidden">
            {printed.filter((tick) => names + tick.x + (short ? 52 : 34) <= width).map((tick) => (
              <span key={tick.at} className="fact absolute top-0 text-ink-3" style={{ left: names + tick.x }}>
                {clock(new Date(tick.at), short)}
              </span>
            ))}
            {going && (
              <span className="fact absolute top-0 -translate-x-1/2 font-name text-live" style={{ left: Math.min(names + on.x(now), width - 16) }}>
                now
              </span>
            )}
          </div>
          <ol className="relative border-b border-line" aria-label="Tries and revisions">
            {rows.map((row) => (
              <TimelineRow key={row.key} row={row} placed={placed.get(row.key) ?? []} names={names} selected={row.key === selected?.key} live={going && row.bars.some((bar) => bar.to === undefined && bar.kind !== 'wait')} phone={phone} onSelect={view.selectRow} onPoint={point} />
            ))}
            {ahead.map((stop) => (
              <li key={stop.id} className="flex h-8 items-center border-t border-line max-tablet:h-11">
                <span className="truncate pr-2 pl-5 font-name max-tablet:pl-4 max-tablet:text-[13px]">
                  {stop.name}
                </span>
                <span aria-hidden="true" className="mr-4 ml-auto h-4 w-10 flex-none rounded-1 border border-dashed border-line-2" />
                <span className="sr-only">to come</span>
              </li>
            ))}
            {going && rows.length > 0 && <li aria-hidden="true" className="pointer-events-none absolute inset-y-0 w-0.5 bg-live forced-colors:bg-[Highlight]" style={{ left: names + on.x(now) }} />}
          </ol>
          {shown && pointed && <BarTip bar={shown.bar} now={now} x={Math.max(8, Math.min(names + shown.x, width - 268))} top={pointed.top + 22} />}
        </div>
      )}
    </section>
  );
}

function Legend() {
  const swatch = 'h-[11px] w-4 rounded-1';
  return (
    <ul aria-label="What the bars mean" className="flex items-center gap-[14px] text-label text-ink-3">
      {(
        [
          ['model turn', 'bg-ink-2'],
          ['tool', 'border-[1.5px] border-edge'],
          ['check', 'bg-done'],
          ['a person', 'hatch border border-hold-line'],
        ] as const
      ).map(([name, look]) => (
        <li key={name} className="flex items-center gap-1.5">
          <span aria-hidden="true" className={clsx(swatch, look)} />
          {name}
        </li>
      ))}
    </ul>
  );
}

interface RowProps {
  row: Row;
  placed: readonly Placed[];
  names: number;
  selected: boolean;
  live: boolean;
  phone: boolean;
  onSelect: (row: Row) => void;
  onPoint: (row: Row, at: number | undefined, element: HTMLElement) => void;
}

function TimelineRow({ row, placed, names, selected, live, phone, onSelect, onPoint }: RowProps) {
  const [at, setAt] = useState<number>();
  const end = placed.reduce((most, one) => Math.max(most, one.x + one.width), 0);
  const walk = (event: KeyboardEvent<HTMLElement>) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0 || placed.length === 0) return;
    event.preventDefault();
    const next = at === undefined ? (by > 0 ? 0 : placed.length - 1) : Math.max(0, Math.min(placed.length - 1, at + by));
    setAt(next);
    onPoint(row, next, event.currentTarget);
  };
  const bar = at === undefined ? undefined : placed[at]?.bar;
  return (
    <li className={clsx(row.first && 'border-t border-line')}>
      <button
        type="button"
        aria-current={selected ? 'true' : undefined}
        onClick={() => onSelect(row)}
        onKeyDown={walk}
        onBlur={(event) => {
          setAt(undefined);
          onPoint(row, undefined, event.currentTarget);
        }}
        onPointerMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const x = event.clientX - box.left - names;
          const found = placed.findLastIndex((one) => x >= one.x - 1 && x <= one.x + Math.max(one.width, 3) + 1);
          onPoint(row, found < 0 ? undefined : found, event.currentTarget);
        }}
        className={clsx('relative flex h-8 w-full items-center text-left max-tablet:h-11 focus-visible:-outline-offset-2', selected ? (live ? 'bg-live-wash' : 'bg-select') : 'hover:bg-hover')}
      >
        <span className="flex flex-none items-center gap-2 pl-5 max-tablet:pl-4" style={{ width: names }}>
          <span className={clsx('truncate font-name', phone ? 'w-[70px] text-[13px]' : 'flex-1')}>{row.first ? row.checkpoint : <span className="sr-only">{row.checkpoint}</span>}</span>
          <span className={clsx('truncate text-small text-ink-3', phone ? 'flex-1' : 'w-14 flex-none')}>{row.label}</span>
          {row.end && <span className="sr-only">{row.end.word}</span>}
        </span>
        <span aria-hidden="true" className="relative h-full flex-1">
          <Bars placed={placed} active={at} />
          {row.end && placed.length > 0 && (
            <span className="absolute top-2" style={{ left: end + 4 }}>
              <StatusMark icon={row.end.icon} tone={row.end.tone} />
            </span>
          )}
        </span>
        {bar && (
          <span role="status" className="sr-only">
            {bar.name}
            {bar.about && `, ${bar.about}`}, {clock(new Date(bar.from), true)}
          </span>
        )}
      </button>
    </li>
  );
}
