/** A button: icon, verb, key. Off, it says why beside itself; busy, it keeps its width. */
import clsx from 'clsx';
import { type ButtonHTMLAttributes, type ReactNode, useId, useRef } from 'react';
import { Icon, StatusMark } from './Icon';
import type { Thing } from './icons/things';
import { Keys } from './Keys';
import { useShortcut } from './shortcuts';

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> {
  children?: ReactNode;
  /** `primary`: at most one in view. `danger`: quiet with red text; `danger-fill`: only in a confirmation. */
  kind?: 'default' | 'primary' | 'quiet' | 'danger' | 'danger-fill';
  size?: 'small' | 'normal' | 'decisive' | 'phone';
  icon?: Thing | undefined;
  /** The key that does the same, such as `a` or `mod+enter`. Registered while the button is on the page. */
  keys?: string | undefined;
  /** A short word for the hint bar: "approve". Without one the key stands on the button alone. */
  word?: string | undefined;
  /** Shows the key without registering it, where something else listens. */
  hint?: string | undefined;
  busy?: boolean;
  /** For a button that decides: whether its question can be decided now. The guard refuses what comes earlier, and says so. */
  ready?: boolean | undefined;
  /** Why it is off. */
  off?: string | undefined;
  /** Where the reason stands; `below` in narrow places, `hidden` where the text beside says it already. */
  offAt?: 'beside' | 'below' | 'hidden';
  /** Keeps its element, and with it the focus and a press that has begun, when it goes on or off. */
  steady?: boolean;
  /** For a button that is an icon alone. */
  label?: string;
}

const KINDS = {
  default: 'border-line-2 bg-raised text-ink shadow-1 hover:border-edge hover:bg-[linear-gradient(var(--color-hover),var(--color-hover))]',
  primary: 'border-ink bg-ink text-surface shadow-1 hover:bg-[linear-gradient(var(--color-on-ink-wash),var(--color-on-ink-wash))]',
  quiet: 'border-transparent text-ink-2 hover:bg-hover hover:text-ink',
  danger: 'border-transparent text-fail hover:bg-fail-wash',
  'danger-fill': 'border-fail bg-fail text-surface shadow-1',
};
const SIZES = {
  // A thumb needs 44, whatever the size elsewhere.
  small: 'h-[26px] gap-1.5 px-2 text-small max-tablet:h-11 max-tablet:px-3',
  normal: 'h-[30px] gap-[7px] px-[11px] max-tablet:h-11',
  decisive: 'h-[34px] gap-[7px] px-[13px] max-tablet:h-[46px]',
  phone: 'h-[46px] gap-2 rounded-3 px-4 text-phone',
};

/** Nobody presses twice within this many milliseconds and means it. */
const AT_ONCE = 30;

export function Button({
  children,
  kind = 'default',
  size = 'normal',
  icon,
  keys,
  word,
  hint,
  busy,
  ready,
  off,
  offAt = 'beside',
  steady = false,
  label,
  className,
  onClick,
  disabled,
  ...rest
}: ButtonProps) {
  const reason = useId();
  const last = useRef(-AT_ONCE);
  const stopped = off !== undefined || disabled === true;
  const press = onClick as (() => void) | undefined;
  useShortcut(stopped || busy ? undefined : keys, label ?? text(children), () => press?.(), { hint: word !== undefined, as: word, order: 20 });
  const onInk = kind === 'primary' || kind === 'danger-fill';
  const shown = keys ?? hint;
  const button = (
    <button
      type="button"
      {...rest}
      // Off is still reachable, so that its reason is found.
      aria-disabled={stopped || busy || undefined}
      aria-describedby={off ? reason : undefined}
      aria-busy={busy || undefined}
      data-ready={ready}
      aria-label={label}
      title={label ?? rest.title}
      aria-keyshortcuts={keys ? ariaKeys(keys) : undefined}
      onClick={(event) => {
        // The second click of two comes before it is known that the first one has begun something.
        const again = busy !== undefined && ready === undefined && (event.detail > 1 || event.timeStamp - last.current < AT_ONCE);
        if (stopped || busy || again) return event.preventDefault();
        last.current = event.timeStamp;
        onClick?.(event);
      }}
      className={clsx(
        'inline-flex shrink-0 items-center justify-center rounded-2 border font-value whitespace-nowrap transition-[background,border-color] select-none',
        KINDS[kind],
        SIZES[size],
        !children && 'aspect-square px-0!',
        stopped ? 'opacity-45' : 'active:translate-y-px',
        className,
      )}
    >
      {icon && <Icon name={icon} size={size === 'small' ? 14 : 16} className={kind === 'default' ? 'text-ink-2' : undefined} />}
      {children}
      {busy ? <StatusMark icon="live" size={14} className={onInk ? 'text-surface' : undefined} /> : shown && <Keys keys={shown} onInk={onInk} />}
    </button>
  );
  if (!off) return steady ? <span className="contents">{button}</span> : button;
  return (
    <span className={clsx('inline-flex gap-2', offAt === 'hidden' ? 'flex-none' : 'min-w-0', offAt === 'below' ? 'flex-col' : 'items-center')}>
      {button}
      <span id={reason} className={clsx('text-small text-ink-3', offAt === 'hidden' && 'sr-only')}>
        {off}
      </span>
    </span>
  );
}

const text = (children: ReactNode): string => (typeof children === 'string' ? children : Array.isArray(children) ? children.filter((one) => typeof one === 'string').join('') : '');

/** `mod+enter` as ARIA writes it. */
export function ariaKeys(keys: string): string {
  const names: Record<string, string> = { mod: 'Control', enter: 'Enter', escape: 'Escape', alt: 'Alt', shift: 'Shift' };
  return keys
    .split(' ')
    .map((step) =>
      step
        .split('+')
        .map((part) => names[part.toLowerCase()] ?? part)
        .join('+'),
    )
    .join(' ');
}
