/** A long list of which only what is seen is drawn. It can follow its end, until the reader scrolls up. */
import { useVirtualizer } from '@tanstack/react-virtual';
import clsx from 'clsx';
import { type ReactNode, useEffect, useRef } from 'react';

interface Props<Item> {
  items: readonly Item[];
  keyOf: (item: Item) => string;
  draw: (item: Item, at: number) => ReactNode;
  /** About how high a row is; each is measured when drawn. */
  height: number;
  label: string;
  /** Stay at the end while new rows come. */
  follow?: boolean;
  /** Told when the reader leaves the end or comes back to it. */
  onAtEnd?: (atEnd: boolean) => void;
  /** Told when the last row is drawn, to get more. */
  onEnd?: () => void;
  /** Keep this row in sight. */
  active?: number | undefined;
  className?: string;
}

/** For so many milliseconds a scrolling is taken for the hand's. */
const HAND = 400;
const UPWARDS = new Set(['ArrowUp', 'PageUp', 'Home']);

export function VirtualList<Item>({ items, keyOf, draw, height, label, follow = false, onAtEnd, onEnd, active, className }: Props<Item>) {
  const pane = useRef<HTMLDivElement>(null);
  // The virtualizer keeps its own state, and is made for being called like this.
  // eslint-disable-next-line react-hooks/incompatible-library
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => pane.current,
    estimateSize: () => height,
    getItemKey: (at) => keyOf(items[at] as Item),
    overscan: 8,
  });
  const last = items.length - 1;
  // The last row may grow as well, while somebody speaks.
  const size = rows.getTotalSize();
  useEffect(() => {
    if (follow && last >= 0) rows.scrollToIndex(last, { align: 'end' });
  }, [follow, last, size, rows]);
  useEffect(() => {
    if (active !== undefined && active >= 0) rows.scrollToIndex(active, { align: 'auto' });
  }, [active, rows]);
  const drawn = rows.getVirtualItems();
  const reached = drawn.at(-1)?.index === last;
  useEffect(() => {
    if (reached) onEnd?.();
  }, [reached, onEnd]);
  // Following scrolls too; only a hand on the wheel, the bar or the keys leaves the end.
  const hand = useRef({ at: Number.NEGATIVE_INFINITY, up: false });
  const touched = (up: boolean) => {
    hand.current = { at: performance.now(), up };
    const it = pane.current;
    // At once: what follows may scroll before the hand's own scrolling has begun.
    if (up && it && it.scrollHeight > it.clientHeight) onAtEnd?.(false);
  };
  const scrolled = () => {
    const it = pane.current;
    if (!it || !onAtEnd) return;
    const atEnd = it.scrollHeight - it.scrollTop - it.clientHeight < 24;
    const { at, up } = hand.current;
    const byHand = performance.now() - at < HAND;
    if (byHand ? !(up && atEnd) : atEnd) onAtEnd(atEnd);
  };
  return (
    <div ref={pane} onScroll={scrolled} onWheel={(event) => touched(event.deltaY < 0)} onTouchMove={() => touched(false)} onPointerMove={(event) => event.buttons && touched(false)} onKeyDown={(event) => touched(UPWARDS.has(event.key))} className={clsx('scroll-pane contain-content', className)} tabIndex={0} role="region" aria-label={label}>
      <ul className="relative" style={{ height: size }}>
        {drawn.map((row) => (
          <li key={row.key} ref={rows.measureElement} data-index={row.index} aria-setsize={items.length} aria-posinset={row.index + 1} className="absolute inset-x-0 top-0" style={{ transform: `translateY(${row.start}px)` }}>
            {draw(items[row.index] as Item, row.index)}
          </li>
        ))}
      </ul>
    </div>
  );
}
