/** Who: square is a person, round is an agent or the system. */
import clsx from 'clsx';
import { initials } from '@/model/figures';

export function Avatar({ name, kind, size = 20, live = false, className }: { name: string; kind: string; size?: number; live?: boolean; className?: string }) {
  const person = kind === 'person' || kind === 'user';
  const letters = person ? initials(name) : initials(name).charAt(0);
  return (
    <span
      aria-hidden="true"
      className={clsx(
        'grid flex-none place-items-center border font-name leading-none',
        person ? 'rounded-person border-ink bg-ink text-surface' : 'rounded-full bg-sunken',
        !person && (live ? 'border-live text-live' : 'border-line-2 text-ink-2'),
        className,
      )}
      style={{ width: size, height: size, fontSize: Math.max(10, Math.round(size * 0.42)) }}
    >
      {letters}
    </span>
  );
}
