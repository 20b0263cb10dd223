/** Icons of places, things and acts: outlines that follow the text's colour. */
import type { ReactNode } from 'react';

const line = (width = 1.4) => ({ fill: 'none', stroke: 'currentColor', strokeWidth: width, strokeLinecap: 'round', strokeLinejoin: 'round' }) as const;

export const THINGS = {
  inbox: <path d="M2 9.5 3.8 3.5h8.4L14 9.5v3H2zM2 9.5h3.5l1 1.7h3l1-1.7H14" {...line()} />,
  pipelines: (
    <>
      <path d="M1.5 8h3M11.5 8h3M8 3v10" {...line()} />
      <circle cx="5.5" cy="8" r="1.3" fill="currentColor" />
      <circle cx="10.7" cy="8" r="1.1" {...line(1.2)} />
    </>
  ),
  sessions: (
    <>
      <path d="M4 4.5v7M4 8c4 0 4-3.5 6.5-3.5" {...line()} />
      <g fill="var(--color-surface)" stroke="currentColor" strokeWidth="1.4">
        <circle cx="4" cy="3" r="1.6" />
        <circle cx="4" cy="13" r="1.6" />
        <circle cx="12" cy="4.5" r="1.6" />
      </g>
    </>
  ),
  loops: <path d="M4.5 5h5.3a3 3 0 0 1 0 6H6a3 3 0 0 1-3-3M6.3 3 4.3 5l2 2" {...line()} />,
  file: <path d="M3.5 1.8h5.7l3.3 3.3v9.1h-9zM9 1.8v3.5h3.5" {...line()} />,
  events: (
    <>
      <path d="M5.5 4h8.5M5.5 8h8.5M5.5 12h8.5" {...line()} />
      <g fill="currentColor">
        <circle cx="2.5" cy="4" r="1" />
        <circle cx="2.5" cy="8" r="1" />
        <circle cx="2.5" cy="12" r="1" />
      </g>
    </>
  ),
  usage: <path d="M2.5 13.5v-4M6.2 13.5v-8M9.9 13.5v-6M13.5 13.5V2.5" {...line(1.6)} />,
  settings: (
    <>
      <path d="M2 5h5M11 5h3M2 11h3M9 11h5" {...line()} />
      <circle cx="9" cy="5" r="1.8" {...line()} />
      <circle cx="7" cy="11" r="1.8" {...line()} />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.3" {...line()} />
      <path d="m10.3 10.3 3.5 3.5" {...line()} />
    </>
  ),
  down: <path d="M3.5 6 8 10.5 12.5 6" {...line()} />,
  right: <path d="M6 3.5 10.5 8 6 12.5" {...line()} />,
  left: <path d="M10 3.5 5.5 8l4.5 4.5" {...line()} />,
  plus: <path d="M8 3v10M3 8h10" {...line(1.5)} />,
  minus: <path d="M3 8h10" {...line(1.5)} />,
  close: <path d="m4 4 8 8m0-8-8 8" {...line(1.5)} />,
  grip: (
    <g fill="currentColor">
      {[4, 8, 12].flatMap((y) => [6, 10].map((x) => <circle key={`${x}${y}`} cx={x} cy={y} r="1" />))}
    </g>
  ),
  script: <path d="m3 5 3.5 3L3 11M8 12h5" {...line(1.5)} />,
  back: <path d="M13 12c0-3.5-2-5-9.5-5M7 3 3 7l4 4" {...line(1.5)} />,
  fork: (
    <>
      <path d="M2 8h4c3 0 2.5-4 6-4M6 8c3 0 2.5 4 6 4" {...line()} />
      <circle cx="13" cy="4" r="1.3" fill="currentColor" />
      <circle cx="13" cy="12" r="1.3" {...line(1.2)} />
    </>
  ),
  copy: <path d="M5.5 5.5h7v7h-7zM10.5 5.5v-2h-7v7h2" {...line()} />,
  more: (
    <g fill="currentColor">
      <circle cx="3.5" cy="8" r="1.1" />
      <circle cx="8" cy="8" r="1.1" />
      <circle cx="12.5" cy="8" r="1.1" />
    </g>
  ),
  comment: <path d="M2.5 3h11v8h-6l-3 2.5V11h-2z" {...line()} />,
  edit: <path d="m3 13 .7-3L10.5 3.2l2.3 2.3L6 12.3z" {...line()} />,
  trash: <path d="M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.6 9h5.8l.6-9" {...line()} />,
  download: <path d="M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10" {...line()} />,
  upload: <path d="M8 11V3M4.5 6 8 2.5 11.5 6M3 13.5h10" {...line()} />,
  compare: <path d="M5 3v10M11 3v10M2.5 6h5M8.5 10h5" {...line()} />,
  /** Agents that answer each other, rather than one after another. */
  team: (
    <>
      <circle cx="5.5" cy="5.5" r="3" {...line()} />
      <circle cx="10.5" cy="5.5" r="3" {...line()} />
      <circle cx="8" cy="10.3" r="3" {...line()} />
    </>
  ),
  person: (
    <>
      <rect x="2.5" y="2.5" width="11" height="11" rx="2.5" {...line()} />
      <circle cx="8" cy="6.6" r="1.6" fill="currentColor" />
      <path d="M5 11c.6-2 5.4-2 6 0" {...line()} />
    </>
  ),
  key: <path d="M9.2 6.8 13.5 2.5M11.5 4.5l1.5 1.5M3 10.8a2.7 2.7 0 1 0 5.4 0 2.7 2.7 0 0 0-5.4 0" {...line()} />,
  link: <path d="M7 9a2.6 2.6 0 0 0 3.7 0l2-2A2.6 2.6 0 0 0 9 3.3L8 4.3M9 7a2.6 2.6 0 0 0-3.7 0l-2 2A2.6 2.6 0 0 0 7 12.7l1-1" {...line()} />,
  theme: (
    <>
      <circle cx="8" cy="8" r="5.75" {...line()} />
      <path d="M8 2.25v11.5a5.75 5.75 0 0 0 0-11.5" fill="currentColor" />
    </>
  ),
  tool: <path d="M3 3h10v10H3zM5.5 6h5M5.5 8.5h5M5.5 11h2.5" {...line()} />,
  out: <path d="M9.5 3H13v10H9.5M3 8h7M7 5l3 3-3 3" {...line()} />,
} satisfies Record<string, ReactNode>;

export type Thing = keyof typeof THINGS;
