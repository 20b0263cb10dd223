/** What a graph draws: nodes with a status, lines with a cause. */
import type { ReactNode } from 'react';
import type { Status } from '@/model/status';

export interface GraphItem {
  id: string;
  label: string;
  meta?: string | undefined;
  status: Status;
  /** Left behind: told by shade. */
  dim?: boolean | undefined;
  /** A word under the node, such as "tip". */
  tag?: string | undefined;
  /** Drawn in place of the status icon, where the node is a thing and not a state. */
  icon?: ReactNode;
}

/** Why one node stands behind another. Dashed has not happened, dotted was refused. */
export type Cause = 'next' | 'ahead' | 'reads' | 'needs' | 'branch' | 'left' | 'blocked';

export interface GraphLine {
  from: string;
  to: string;
  cause: Cause;
}

export const CAUSES: Record<Cause, { word: string; color: string; width: number; dash?: string }> = {
  next: { word: 'then', color: 'var(--color-ink-2)', width: 2 },
  ahead: { word: 'to come', color: 'var(--color-line-2)', width: 2, dash: '4 4' },
  reads: { word: 'reads what it made', color: 'var(--color-edge)', width: 1.25 },
  needs: { word: 'waits for it', color: 'var(--color-edge)', width: 1.25, dash: '5 4' },
  branch: { word: 'branch', color: 'var(--color-ink-2)', width: 2 },
  left: { word: 'branch left behind', color: 'var(--color-line-2)', width: 1.75 },
  blocked: { word: 'blocked attempt', color: 'var(--color-fail)', width: 1.75, dash: '1.5 4' },
};

export interface GraphProps {
  items: readonly GraphItem[];
  lines: readonly GraphLine[];
  selected: string | undefined;
  onSelect: (id: string) => void;
  /** Enter, or a second click. */
  onOpen?: ((id: string) => void) | undefined;
  direction?: 'LR' | 'TB';
  /** The accessible name. */
  label: string;
  className?: string;
}
