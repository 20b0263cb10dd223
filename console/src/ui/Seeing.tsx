/**
 * Watches how much of an output was on the screen. What draws an output marks it with `data-content`: `whole` where all of it is drawn
 * and can be scrolled through, else why not (`folded`, `raw`, `elsewhere`). Nothing is taken for seen that was scrolled past in one jump,
 * was outside of the window, or was covered by something else.
 */
import { type ReactNode, useEffect, useRef } from 'react';
import { cover, covered, type Range, type Sight } from '@/model/seen';
import { see } from './seen';

interface Props {
  /** The question's content; without one nothing is watched. */
  content: string | undefined;
  record: string;
  className?: string | undefined;
  children: ReactNode;
}

export function Seeing({ content, record, className, children }: Props) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const it = place.current;
    if (!it || content === undefined) return;
    const panes = new Map<Element, Pane>();
    let frame = 0;
    const look = () => {
      frame = 0;
      const sight = sightOf(it, panes);
      if (sight) see(content, record, sight);
      if (sight === 'whole') stop();
    };
    // Once a frame, just before it is drawn: a place that is left within a frame is never drawn.
    const soon = () => {
      if (frame === 0) frame = requestAnimationFrame(look);
    };
    const changes = new MutationObserver(soon);
    const sizes = new ResizeObserver(soon);
    const capture = { capture: true, passive: true };
    changes.observe(it, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-content'] });
    sizes.observe(it);
    window.addEventListener('scroll', soon, capture);
    window.addEventListener('resize', soon);
    window.visualViewport?.addEventListener('resize', soon);
    it.addEventListener('load', soon, capture);
    // What lay over it may have gone.
    const timer = setInterval(soon, 300);
    const stop = () => {
      changes.disconnect();
      sizes.disconnect();
      window.removeEventListener('scroll', soon, capture);
      window.removeEventListener('resize', soon);
      window.visualViewport?.removeEventListener('resize', soon);
      it.removeEventListener('load', soon, capture);
      clearInterval(timer);
      cancelAnimationFrame(frame);
    };
    soon();
    return stop;
  }, [content, record]);
  return (
    <div ref={place} className={className}>
      {children}
    </div>
  );
}

/** What was seen of something that scrolls, in its own pixels. */
interface Pane {
  width: number;
  across: readonly Range[];
  down: readonly Range[];
}

const SCROLLS = '.scroll-pane, .cm-scroller';

function sightOf(place: HTMLElement, panes: Map<Element, Pane>): Sight | undefined {
  const marked = [...place.querySelectorAll<HTMLElement>('[data-content]')];
  if (marked.length === 0) return undefined;
  for (const why of ['elsewhere', 'raw', 'folded'] as const)
    if (marked.some((one) => one.dataset.content === why)) {
      panes.clear();
      return why;
    }
  // A dialog lies over everything that is not in it.
  const dialog = document.querySelector('[role=dialog]');
  if (dialog && !dialog.contains(place)) return 'scroll';
  // All of them, also after one that is not covered: each remembers what it shows.
  const whole = marked.flatMap((one) => [one, ...one.querySelectorAll<HTMLElement>(SCROLLS)]).map((one) => watch(one, panes));
  const drawn = [...place.querySelectorAll('img')].every((one) => one.complete && one.hasAttribute('src'));
  return drawn && whole.every(Boolean) ? 'whole' : 'scroll';
}

/** Remembers what is visible of an element now, and says whether all of it was. */
function watch(it: HTMLElement, panes: Map<Element, Pane>): boolean {
  const known = panes.get(it);
  // Another width breaks lines elsewhere, so what was seen is other pixels now.
  const pane = known && Math.abs(known.width - it.clientWidth) <= 1 ? known : { width: it.clientWidth, across: [], down: [] };
  const seen = visible(it);
  if (seen) {
    const { box, left, top, right, bottom } = seen;
    panes.set(it, {
      width: pane.width,
      across: cover(pane.across, [left - box.left + it.scrollLeft, right - box.left + it.scrollLeft]),
      down: cover(pane.down, [top - box.top + it.scrollTop, bottom - box.top + it.scrollTop]),
    });
  } else panes.set(it, pane);
  const now = panes.get(it) ?? pane;
  return covered(now.across, it.scrollWidth) && covered(now.down, heightOf(it));
}

/** How far down the content goes; a pane that does not scroll may be empty below it. */
function heightOf(it: HTMLElement): number {
  if (it.scrollHeight > it.clientHeight + 1) return it.scrollHeight;
  const top = it.getBoundingClientRect().top;
  const bottoms = [...it.children].map((one) => one.getBoundingClientRect().bottom - top);
  return Math.max(0, ...(bottoms.length > 0 ? bottoms : [it.clientHeight]).map((one) => Math.min(one, it.clientHeight)));
}

interface Visible {
  box: { left: number; top: number };
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** The part of an element's inside that is in the window, in no clipped corner, and under nothing else. */
function visible(it: HTMLElement): Visible | undefined {
  const outer = it.getBoundingClientRect();
  const box = { left: outer.left + it.clientLeft, top: outer.top + it.clientTop };
  const view = window.visualViewport;
  const [x, y] = [view?.offsetLeft ?? 0, view?.offsetTop ?? 0];
  let left = Math.max(box.left, x);
  let top = Math.max(box.top, y);
  let right = Math.min(box.left + it.clientWidth, x + (view?.width ?? window.innerWidth));
  let bottom = Math.min(box.top + it.clientHeight, y + (view?.height ?? window.innerHeight));
  for (let at = it.parentElement; at; at = at.parentElement) {
    if (getComputedStyle(at).overflow === 'visible') continue;
    const clip = at.getBoundingClientRect();
    left = Math.max(left, clip.left);
    top = Math.max(top, clip.top);
    right = Math.min(right, clip.right);
    bottom = Math.min(bottom, clip.bottom);
  }
  const middle = (left + right) / 2;
  const isFree = (line: number) => {
    const over = document.elementFromPoint(middle, line);
    return over !== null && (it.contains(over) || over.contains(it));
  };
  while (bottom - top > STEP && !isFree(bottom - 1)) bottom -= STEP;
  while (bottom - top > STEP && !isFree(top + 1)) top += STEP;
  return right - left > 1 && bottom - top > 1 && isFree((top + bottom) / 2) ? { box, left, top, right, bottom } : undefined;
}

/** In how large steps it is found where something that lies over an element ends. */
const STEP = 6;
