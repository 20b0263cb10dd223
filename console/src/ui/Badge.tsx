/** A badge: one status in a header. A tag: a version or a format, in mono. */
import clsx from 'clsx';
import type { ReactNode } from 'react';
import type { Status, Tone } from '@/model/status';
import { StatusMark } from './Icon';

const TONES: Record<Tone, string> = {
  hold: 'border-hold bg-hold font-name text-on-hold',
  'hold-ink': 'border-hold-line bg-hold-wash text-hold-ink',
  live: 'border-transparent bg-live-wash text-live',
  fail: 'border-transparent bg-fail-wash text-fail',
  done: 'border-transparent bg-done-wash text-done',
  'ink-2': 'border-line text-ink-2',
  'ink-3': 'border-line text-ink-3',
};

export function Badge({ status, children, className }: { status: Status; children?: ReactNode; className?: string }) {
  return (
    <span
      className={clsx(
        'inline-flex h-5 min-w-0 items-center gap-[5px] rounded-1 border pr-[7px] pl-[5px] text-small font-medium whitespace-nowrap forced-colors:border-[CanvasText]',
        TONES[status.tone],
        className,
      )}
    >
      <StatusMark icon={status.icon} size={14} />
      <span className="truncate">{children ?? status.word.charAt(0).toLowerCase() + status.word.slice(1)}</span>
    </span>
  );
}

export function Tag({ children, className }: { children: ReactNode; className?: string }) {
  return <span className={clsx('fact flex-none rounded-1 border border-line px-1 font-medium text-ink-3', className)}>{children}</span>;
}

/** A count that needs somebody: the only solid amber besides the question itself. */
export function HoldCount({ count, className }: { count: number; className?: string }) {
  if (count === 0) return null;
  return <span className={clsx('rounded-1 bg-hold px-[5px] font-mono text-[11px] leading-4 font-name text-on-hold', className)}>{count > 99 ? '99+' : count}</span>;
}
