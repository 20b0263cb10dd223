/** What floats: dialogs, confirmations, sheets, popovers, menus and tips. Focus goes back where it came from. */
import clsx from 'clsx';
import { Dialog as RadixDialog, DropdownMenu, Popover as RadixPopover, Tooltip as RadixTooltip } from 'radix-ui';
import { type FormEvent, type ReactElement, type ReactNode, useState } from 'react';
import type { Problem } from '@/api/problem';
import { Button } from './Button';
import { Field, Input } from './fields';
import { Icon } from './Icon';
import type { Thing } from './icons/things';
import { Keys } from './Keys';
import { ErrorBlock } from './states';

const floating = 'rounded-3 border border-line-2 bg-raised shadow-2 outline-none';

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** One sentence under the title. */
  about?: ReactNode;
  children?: ReactNode;
  /** `palette` is 560 wide and 96 from the top. */
  place?: 'middle' | 'palette';
  /** Hides the title from sight, where the content says it. */
  plain?: boolean;
  className?: string;
}

export function Dialog({ open, onClose, title, about, children, place = 'middle', plain = false, className }: DialogProps) {
  return (
    <RadixDialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="fixed inset-0 z-40 bg-veil" />
        <RadixDialog.Content
          {...(about ? {} : { 'aria-describedby': undefined })}
          className={clsx(
            floating,
            'fixed left-1/2 z-50 w-[min(560px,calc(100vw-32px))] -translate-x-1/2',
            place === 'palette' ? 'top-24 rounded-4 max-tablet:top-4' : 'scroll-pane top-1/2 max-h-[calc(100dvh-64px)] -translate-y-1/2 p-5',
            className,
          )}
        >
          <RadixDialog.Title className={plain ? 'sr-only' : 'mb-1 text-title'}>{title}</RadixDialog.Title>
          {about && <RadixDialog.Description className="mb-3 text-ink-2">{about}</RadixDialog.Description>}
          {children}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

interface ConfirmProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** What will happen, and what cannot be undone, one by one. */
  children: ReactNode;
  /** Verb and object: "Delete Release notes". */
  verb: string;
  danger?: boolean;
  busy?: boolean;
  problem?: Problem | undefined;
  /** Has to be typed before the verb is on. */
  typed?: string;
  /** Whether the verb has the focus: only where nothing is lost by it. */
  focused?: boolean;
  onConfirm: () => void;
}

export function Confirm({ open, onClose, title, children, verb, danger = false, busy = false, problem, typed, focused = false, onConfirm }: ConfirmProps) {
  const [word, setWord] = useState('');
  const ready = typed === undefined || word === typed;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ready && !busy) onConfirm();
  };
  return (
    <Dialog open={open} onClose={onClose} title={title}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <div className="text-ink-2">{children}</div>
        {typed !== undefined && (
          <Field label={`Write “${typed}” to go on`}>
            <Input value={word} onChange={(event) => setWord(event.target.value)} autoComplete="off" />
          </Field>
        )}
        {problem && <ErrorBlock title={`${title.replace(/\?$/, '')}: not done`} problem={problem} />}
        <div className="flex justify-end gap-2">
          <Button kind="quiet" onClick={onClose} hint="escape">
            Cancel
          </Button>
          <Button type="submit" kind={danger ? 'danger-fill' : 'primary'} busy={busy} disabled={!ready} autoFocus={focused}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** A sheet from the bottom on a phone, from the right elsewhere. */
export function Sheet({ open, onClose, title, children }: { open: boolean; onClose: () => void; title: string; children: ReactNode }) {
  return (
    <RadixDialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="fixed inset-0 z-40 bg-veil" />
        <RadixDialog.Content
          aria-describedby={undefined}
          className="scroll-pane fixed z-50 flex flex-col border-line-2 bg-raised shadow-2 outline-none max-tablet:inset-x-0 max-tablet:bottom-0 max-tablet:max-h-[85dvh] max-tablet:rounded-t-4 max-tablet:border-t max-tablet:pb-4 tablet:inset-y-0 tablet:right-0 tablet:w-[min(480px,90vw)] tablet:border-l"
        >
          <header className="flex h-[52px] flex-none items-center justify-between border-b border-line pr-3 pl-5">
            <RadixDialog.Title className="text-page">{title}</RadixDialog.Title>
            <Button kind="quiet" icon="close" label="Close" onClick={onClose} />
          </header>
          <div className="scroll-pane min-h-0 flex-1 p-5 max-tablet:p-4">{children}</div>
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

export function Popover({ trigger, children, label, align = 'start' }: { trigger: ReactElement; children: ReactNode; label: string; align?: 'start' | 'end' | 'center' }) {
  return (
    <RadixPopover.Root>
      <RadixPopover.Trigger asChild>{trigger}</RadixPopover.Trigger>
      <RadixPopover.Portal>
        <RadixPopover.Content aria-label={label} align={align} sideOffset={4} collisionPadding={8} className={clsx(floating, 'z-50 max-w-[min(480px,calc(100vw-16px))] p-3')}>
          {children}
        </RadixPopover.Content>
      </RadixPopover.Portal>
    </RadixPopover.Root>
  );
}

export interface MenuItem {
  label: string;
  icon?: Thing;
  keys?: string;
  danger?: boolean;
  /** Why it is off; it stays in the menu. */
  off?: string | undefined;
  onSelect: () => void;
}

/** Lesser verbs. The main verb never hides in one. */
export function Menu({ trigger, items, align = 'end' }: { trigger: ReactElement; items: readonly MenuItem[]; align?: 'start' | 'end' }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align={align} sideOffset={4} collisionPadding={8} className={clsx(floating, 'z-50 min-w-[200px] py-1')}>
          {items.map((item) => (
            <DropdownMenu.Item
              key={item.label}
              disabled={item.off !== undefined}
              onSelect={item.onSelect}
              className={clsx('flex min-h-8 items-center gap-[9px] px-3 outline-none data-highlighted:bg-select max-tablet:min-h-11', item.danger ? 'text-fail' : 'text-ink', item.off && 'opacity-60')}
            >
              {item.icon && <Icon name={item.icon} className={item.danger ? '' : 'text-ink-3'} />}
              <span className="flex-1">
                {item.label}
                {item.off && <span className="block text-small text-ink-3">{item.off}</span>}
              </span>
              {item.keys && <Keys keys={item.keys} />}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

/** More about something that can be pointed at; never what is needed to decide. */
export function Tooltip({ children, content }: { children: ReactElement; content: ReactNode }) {
  return (
    <RadixTooltip.Root>
      <RadixTooltip.Trigger asChild>{children}</RadixTooltip.Trigger>
      <RadixTooltip.Portal>
        <RadixTooltip.Content sideOffset={4} collisionPadding={8} className="z-[60] max-w-80 rounded-2 border border-line-2 bg-raised px-2 py-1 text-small text-ink shadow-2">
          {content}
        </RadixTooltip.Content>
      </RadixTooltip.Portal>
    </RadixTooltip.Root>
  );
}

export const TooltipProvider = ({ children }: { children: ReactNode }) => <RadixTooltip.Provider delayDuration={400}>{children}</RadixTooltip.Provider>;
