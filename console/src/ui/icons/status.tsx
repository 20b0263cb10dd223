/** The icons of the status vocabulary: 16-px grid, 1.5-px strokes, shape before colour. */
import type { ReactNode } from 'react';
import type { StatusIcon } from '@/model/status';

const round = { fill: 'none', stroke: 'currentColor', strokeWidth: 1.5 } as const;
const stroke = (width: number) => ({ fill: 'none', stroke: 'currentColor', strokeWidth: width, strokeLinecap: 'round', strokeLinejoin: 'round' }) as const;
/** A glyph cut out of a filled shape. */
const cut = (width: number) => ({ ...stroke(width), stroke: 'var(--color-surface)' }) as const;
const onHold = (width: number) => ({ ...stroke(width), stroke: 'var(--color-on-hold)' }) as const;

const ring = <circle cx="8" cy="8" r="5.75" {...round} />;
const dashes = <circle cx="8" cy="8" r="5.75" {...round} strokeDasharray="2.4 2.12" />;
const bars = <path d="M6.4 5.8v4.4M9.6 5.8v4.4" {...stroke(1.6)} />;
const octagon = <path d="M5.2 1.2h5.6l4 4v5.6l-4 4H5.2l-4-4V5.2z" fill="currentColor" />;
const square = <rect x="1.5" y="1.5" width="13" height="13" rx="3" fill="currentColor" />;
const amber = <rect x="1" y="1" width="14" height="14" rx="3" fill="var(--color-hold)" />;

export const STATUS_ICONS: Record<StatusIcon, ReactNode> = {
  pending: dashes,
  'person-pending': <rect x="2.25" y="2.25" width="11.5" height="11.5" rx="2.5" {...round} strokeDasharray="2.6 2.3" />,
  live: (
    <>
      <circle cx="8" cy="8" r="5.75" {...round} opacity=".28" />
      <path className="origin-[8px_8px] animate-arc" d="M8 2.25A5.75 5.75 0 1 1 2.25 8" {...stroke(1.75)} />
      <circle cx="8" cy="8" r="2" fill="currentColor" />
    </>
  ),
  done: (
    <>
      <circle cx="8" cy="8" r="6.5" fill="currentColor" />
      <path d="m5.1 8.2 2 2 3.8-4.2" {...cut(1.6)} />
    </>
  ),
  'person-done': (
    <>
      {square}
      <path d="m5 8.2 2 2 4-4.4" {...cut(1.6)} />
    </>
  ),
  'sent-back': (
    <>
      {square}
      <path d="M11 10.3c0-2.3-1.3-3.3-5-3.3m1.9-2L5.8 7l2.1 2" {...cut(1.5)} />
    </>
  ),
  failed: (
    <>
      {octagon}
      <path d="m5.7 5.7 4.6 4.6m0-4.6-4.6 4.6" {...cut(1.7)} />
    </>
  ),
  blocked: (
    <>
      <path d="M5.3 1.75h5.4l3.55 3.55v5.4l-3.55 3.55H5.3L1.75 10.7V5.3z" fill="var(--color-surface)" stroke="currentColor" strokeWidth="1.5" />
      <path d="M4.8 8h6.4" {...stroke(1.8)} />
    </>
  ),
  paused: (
    <>
      {ring}
      {bars}
    </>
  ),
  pausing: (
    <>
      <path d="M8 2.25A5.75 5.75 0 1 1 2.25 8" {...stroke(1.5)} />
      {bars}
    </>
  ),
  skipped: (
    <>
      {ring}
      <path d="m6 5.5 2.5 2.5L6 10.5M10.3 5.5v5" {...stroke(1.4)} />
    </>
  ),
  aborted: (
    <>
      {ring}
      <path d="M5.3 8h5.4" {...stroke(1.6)} />
    </>
  ),
  archived: (
    <>
      {dashes}
      <path d="M10.5 10.2c0-2-1.2-2.9-4.4-2.9m1.6-1.9L5.8 7.3l1.9 1.9" {...stroke(1.3)} />
    </>
  ),
  reused: (
    <>
      {ring}
      <path d="M5.6 6.7h4.8M5.6 9.3h4.8" {...stroke(1.5)} />
    </>
  ),
  retry: <path d="M13.2 8a5.2 5.2 0 1 1-1.7-3.85M13.4 2.2v2.6h-2.6" {...stroke(1.5)} />,
  'hold-start': (
    <>
      {amber}
      <g fill="var(--color-on-hold)">
        <circle cx="5.6" cy="8" r="2.1" />
        <rect x="9.6" y="3.8" width="2.1" height="8.4" rx=".5" />
      </g>
    </>
  ),
  'hold-complete': (
    <>
      {amber}
      <g fill="var(--color-on-hold)">
        <rect x="4.3" y="3.8" width="2.1" height="8.4" rx=".5" />
        <circle cx="10.4" cy="8" r="2.1" />
      </g>
    </>
  ),
  'hold-form': (
    <>
      {amber}
      <path d="M4.5 5.3h7M4.5 8h7M4.5 10.7h4" {...onHold(1.6)} />
    </>
  ),
  'hold-choice': (
    <>
      {amber}
      <path d="M4 8h3.3c2 0 1.4-3 4.3-3M7.3 8c2 0 1.4 3 4.3 3" {...onHold(1.6)} />
    </>
  ),
  'hold-ask': (
    <>
      {amber}
      <path d="M6.1 6.2c0-2.5 3.9-2.4 3.9-.1 0 1.5-1.9 1.5-1.9 3" {...onHold(1.6)} />
      <circle cx="8.1" cy="11.6" r="1" fill="var(--color-on-hold)" />
    </>
  ),
  'hold-budget': (
    <>
      {amber}
      <path d="M4 11.5h8M5.5 9V7M8 9V4.5M10.5 9V6" {...onHold(1.7)} />
    </>
  ),
  others: (
    <>
      <rect x="1.75" y="1.75" width="12.5" height="12.5" rx="2.5" fill="var(--color-hold-wash)" stroke="var(--color-hold-ink)" strokeWidth="1.5" />
      <g fill="var(--color-hold-ink)">
        <rect x="4.6" y="4.4" width="1.8" height="7.2" rx=".5" />
        <circle cx="10" cy="8" r="1.9" />
      </g>
    </>
  ),
  step: <circle cx="8" cy="8" r="3.5" fill="currentColor" />,
  checkpoint: (
    <>
      {ring}
      <circle cx="8" cy="8" r="2.5" fill="currentColor" />
    </>
  ),
  passed: <path d="m3.5 8.5 3 3 6-7" {...stroke(1.7)} />,
  note: (
    <>
      <path d="M8 2 14.6 13.5H1.4z" {...round} strokeLinejoin="round" />
      <path d="M8 6.3v3.2" {...stroke(1.5)} />
      <circle cx="8" cy="11.5" r=".9" fill="currentColor" />
    </>
  ),
};
