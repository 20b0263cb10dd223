/** A row of a list: icon, name, meta below, figures at the right. It never changes its height when live data comes. */
import clsx from 'clsx';
import type { ReactNode } from 'react';
import type { Status } from '@/model/status';
import { StatusLabel } from './Icon';

interface Props {
  status?: Status | undefined;
  icon?: ReactNode;
  name: ReactNode;
  meta?: ReactNode;
  /** Two lines of figures. */
  right?: ReactNode;
  below?: ReactNode;
  selected?: boolean;
  /** For what somebody else must do: told by shade. */
  dim?: boolean;
  className?: string;
}

export function RowBody({ status, icon, name, meta, right, below, selected = false, dim = false, className }: Props) {
  return (
    <span
      className={clsx(
        'grid grid-cols-[16px_1fr_auto] gap-x-[11px] border-b border-line px-5 pt-[10px] pb-[11px] max-tablet:min-h-[68px] max-tablet:gap-x-3 max-tablet:px-4 max-tablet:py-3',
        selected ? 'selected-row' : 'hover:bg-hover',
        className,
      )}
    >
      <span className="mt-0.5">{status ? <StatusLabel status={status} bare /> : icon}</span>
      <span className="min-w-0">
        <span className={clsx('block leading-5 tracking-[-0.004em] [overflow-wrap:anywhere]', dim ? 'font-medium text-ink-2' : 'font-name')}>{name}</span>
        {meta && <span className="mt-px block truncate text-small text-ink-3 max-tablet:text-[13px]">{meta}</span>}
      </span>
      <span className="text-right text-small leading-5 whitespace-nowrap text-ink-2 max-tablet:text-[13px]">
        <span className="block">{right}</span>
        {below !== undefined && <span className="mt-px block leading-[18px] text-ink-3">{below}</span>}
      </span>
    </span>
  );
}
