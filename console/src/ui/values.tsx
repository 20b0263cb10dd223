/** Values: times, money, tokens, facts with their labels. */
import clsx from 'clsx';
import { type ReactNode, useEffect, useState } from 'react';
import { count, money } from '@/model/figures';
import { ago, clock, exact, moment, since } from '@/model/time';

/** The present minute: what is relative moves once a minute, and by itself. */
export function useNow(every = 30_000): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

/** A time. `ago`: how long, for columns. `since`: the same in a sentence. `clock`: to the minute. `second`: in mono, to the second. `moment`: clock or date. */
export function Time({ at, as = 'ago', className }: { at: string | Date; as?: 'ago' | 'since' | 'clock' | 'second' | 'moment'; className?: string }) {
  const now = useNow();
  const time = new Date(at);
  const text = as === 'ago' ? ago(time, now) : as === 'since' ? since(time, now) : as === 'clock' ? clock(time) : as === 'second' ? clock(time, true) : moment(time, now);
  return (
    <time dateTime={time.toISOString()} title={exact(time)} className={clsx(as === 'second' && 'fact', className)}>
      {text}
    </time>
  );
}

/** `$2.31`, or `$2.31 of $6.00`; an estimate says "about". */
export function Money({ usd, of, about = false, className }: { usd: number; of?: number | null | undefined; about?: boolean; className?: string }) {
  return (
    <span className={className}>
      {about && 'about '}
      {money(usd)}
      {of != null && ` of ${money(of)}`}
    </span>
  );
}

export function Tokens({ tokens, className }: { tokens: number; className?: string }) {
  return <span className={clsx('fact', className)}>{count(tokens)} tok</span>;
}

/** A horizontal bar: a part, from 0 to 1, of the longest beside it. The figure stands next to it. */
export const Share = ({ of, className }: { of: number; className?: string }) => (
  <span aria-hidden="true" className={clsx('block h-2.5 rounded-1 bg-ink-2 forced-colors:border', className)} style={{ width: `${Math.max(1, of * 100)}%` }} />
);

/** A label above its value: one block. */
export function Fact({ label, children, className }: { label: string; children: ReactNode; className?: string }) {
  return (
    <div className={clsx('min-w-0', className)}>
      <dt className="label">{label}</dt>
      <dd className="leading-[18px] font-value">{children}</dd>
    </div>
  );
}

/** Facts side by side; they wrap where there is no room. */
export function Facts({ children, className }: { children: ReactNode; className?: string }) {
  return <dl className={clsx('flex flex-wrap gap-x-[30px] gap-y-2', className)}>{children}</dl>;
}
