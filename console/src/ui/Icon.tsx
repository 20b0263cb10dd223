/** Draws an icon. A status beside its word is hidden from readers of the page; alone it carries the word. */
import clsx from 'clsx';
import type { Status, StatusIcon, Tone } from '@/model/status';
import { STATUS_ICONS } from './icons/status';
import { type Thing, THINGS } from './icons/things';

const TONES: Record<Tone, string> = {
  'ink-2': 'text-ink-2',
  'ink-3': 'text-ink-3',
  hold: 'text-hold',
  'hold-ink': 'text-hold-ink',
  live: 'text-live',
  fail: 'text-fail',
  done: 'text-done',
};

interface Size {
  /** 16 by default. */
  size?: number | undefined;
  className?: string | undefined;
}

export function StatusMark({ icon, tone, label, size = 16, className }: Size & { icon: StatusIcon; tone?: Tone; label?: string }) {
  const named = label ? ({ role: 'img', 'aria-label': label } as const) : ({ 'aria-hidden': true } as const);
  return (
    <svg viewBox="0 0 16 16" width={size} height={size} className={clsx('block flex-none overflow-visible forced-colors:text-[CanvasText]', tone && TONES[tone], className)} {...named}>
      {label && <title>{label}</title>}
      {STATUS_ICONS[icon]}
    </svg>
  );
}

/** A status with its word beside it, or, with `bare`, the icon alone with the word as its name. */
export function StatusLabel({ status, bare = false, size, className }: Size & { status: Status; bare?: boolean }) {
  if (bare) return <StatusMark icon={status.icon} tone={status.tone} label={status.word} size={size} className={className} />;
  return (
    <span className={clsx('inline-flex items-center gap-2', className)}>
      <StatusMark icon={status.icon} tone={status.tone} size={size} />
      {status.word}
    </span>
  );
}

export function Icon({ name, size = 16, className }: Size & { name: Thing }) {
  return (
    <svg viewBox="0 0 16 16" width={size} height={size} className={clsx('block flex-none overflow-visible', className)} aria-hidden="true">
      {THINGS[name]}
    </svg>
  );
}
