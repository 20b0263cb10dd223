/** What every screen is made of: a header with its name and verbs, and panes that scroll by themselves. */
import clsx from 'clsx';
import { createContext, type ReactNode, use, useEffect, useSyncExternalStore } from 'react';
import { Avatar } from './Avatar';
import { Button } from './Button';
import { Mark } from './Mark';

let title = 'Holdpoint';
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The name of the screen, as the tab shows it. */
export function useTitle(name: string): void {
  useEffect(() => {
    title = name;
    for (const listener of listeners) listener();
  }, [name]);
}

export const useCurrentTitle = () => useSyncExternalStore(subscribe, () => title);

export interface Surroundings {
  me: { name: string; kind: string; role: string } | undefined;
  openPalette: () => void;
  openPerson: () => void;
}

/** What the shell gives to the screens in it. */
export const Surrounding = createContext<Surroundings>({ me: undefined, openPalette: () => {}, openPerson: () => {} });
export const useSurroundings = () => use(Surrounding);

interface PageProps {
  /** The screen's name: the one `h1`, and the tab's title. */
  title: string;
  /** Shown instead of the plain name, such as "Quarterly market brief / v7". */
  heading?: ReactNode;
  /** Beside the name: a sentence or a badge. */
  meta?: ReactNode;
  /** Verbs, at the right; on a phone they stand under the header. */
  actions?: ReactNode;
  children: ReactNode;
}

export function Page({ title: name, heading, meta, actions, children }: PageProps) {
  useTitle(name);
  const { me, openPalette, openPerson } = useSurroundings();
  return (
    <>
      <header className="flex min-h-[52px] flex-none items-center gap-[10px] border-b border-line px-5 max-tablet:min-h-[54px] max-tablet:px-4">
        <Mark size={20} className="flex-none tablet:hidden" />
        <h1 className="min-w-0 truncate text-page max-tablet:text-[20px] max-tablet:tracking-[-0.022em]">{heading ?? name}</h1>
        {meta && <div className="flex min-w-0 items-center gap-[10px] truncate text-ink-3 max-tablet:text-[13px]">{meta}</div>}
        <span className="flex-1" />
        {actions && <div className="hidden items-center gap-[10px] tablet:flex">{actions}</div>}
        <span className="-mr-[9px] flex items-center tablet:hidden">
          <Button kind="quiet" icon="search" label="Find" size="phone" className="border-0 text-ink!" onClick={openPalette} />
          {me && (
            <button type="button" onClick={openPerson} className="grid size-11 place-items-center">
              <span className="sr-only">
                {me.name}, {me.role}
              </span>
              <Avatar name={me.name} kind={me.kind} size={26} />
            </button>
          )}
        </span>
      </header>
      {actions && <div className="scroll-pane flex flex-none items-center gap-2 overflow-y-hidden border-b border-line px-4 py-2 tablet:hidden [&>[role=group]]:flex-none">{actions}</div>}
      <div className="relative flex min-h-0 flex-1 flex-col">{children}</div>
    </>
  );
}

/** "Quarterly market brief / v7"; a phone has room for the last of them. */
export function Crumbs({ children }: { children: readonly ReactNode[] }) {
  return (
    <span className="flex min-w-0 items-center gap-2 text-body tracking-normal">
      {children.map((child, at) => (
        <span key={at} className={clsx('flex min-w-0 items-center gap-2 truncate', at === children.length - 1 ? 'font-name text-ink max-tablet:text-[17px]' : 'shrink-[99] font-medium text-ink-3 max-tablet:hidden')}>
          {at > 0 && (
            <span aria-hidden="true" className="max-tablet:hidden">
              /
            </span>
          )}
          {child}
        </span>
      ))}
    </span>
  );
}

/** A heading between groups of rows. */
export function GroupHeading({ children, end }: { children: ReactNode; end?: ReactNode }) {
  return (
    <div className="flex h-8 flex-none items-center justify-between gap-2 border-b border-line bg-canvas px-5 max-tablet:px-4">
      <h2 className="label">{children}</h2>
      {end !== undefined && <span className="label font-medium">{end}</span>}
    </div>
  );
}
