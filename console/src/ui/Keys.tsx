/** A key cap. Phones have no keys, so it is not drawn there. */
import clsx from 'clsx';
import { isMac } from './shortcuts';

const NAMES: Record<string, string> = { enter: '⏎', escape: 'esc', arrowup: '↑', arrowdown: '↓', arrowleft: '←', arrowright: '→' };
const MAC: Record<string, string> = { ...NAMES, mod: '⌘', shift: '⇧', alt: '⌥' };
const OTHERS: Record<string, string> = { ...NAMES, mod: 'Ctrl', shift: 'Shift', alt: 'Alt' };

/** "mod+k" as caps: ["⌘K"] on a Mac, ["Ctrl+K"] elsewhere; "g i" as two. */
export function caps(keys: string, mac = isMac): string[] {
  const names = mac ? MAC : OTHERS;
  return keys.split(' ').map((step) => {
    const parts = step.split('+');
    const shown = parts.map((part) => names[part.toLowerCase()] ?? (parts.length > 1 ? part.toUpperCase() : part));
    return shown.join(mac ? '' : '+');
  });
}

export function Keys({ keys, onInk = false, className }: { keys: string; onInk?: boolean; className?: string }) {
  return (
    <span className={clsx('hidden gap-1 tablet:inline-flex', className)} aria-hidden="true">
      {caps(keys).map((cap) => (
        <kbd
          key={cap}
          className={clsx(
            'inline-block h-[17px] min-w-[17px] rounded-1 border border-b-2 px-1 text-center font-mono text-[11px] leading-[14px] font-medium',
            onInk ? 'border-on-ink-line text-current' : 'border-line-2 bg-surface text-ink-2',
          )}
        >
          {cap}
        </kbd>
      ))}
    </span>
  );
}
