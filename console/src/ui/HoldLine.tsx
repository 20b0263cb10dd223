/** The hold line: where a person decides. Pale: ahead. Amber: reached, needs you. Dark: passed. */
import clsx from 'clsx';

const STATES = { ahead: '[--hold-line-color:var(--color-line-2)]', reached: '', others: '[--hold-line-color:var(--color-hold-ink)]', passed: '[--hold-line-color:var(--color-ink-3)]' };

export function HoldLine({ state = 'reached', className }: { state?: keyof typeof STATES; className?: string }) {
  return <span aria-hidden="true" className={clsx('hold-line self-stretch', STATES[state], className)} />;
}
