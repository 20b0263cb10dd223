/** The frame around all screens: sidebar or rail, hint bar, palette, keys, toasts, the tab's title and icon. */
import { Outlet, useLocation, useNavigate, useRouter } from '@tanstack/react-router';
import clsx from 'clsx';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { loaded } from '@/api/loaded';
import { useInbox } from '@/api/hooks/inbox';
import { useMe } from '@/api/hooks/session';
import { useConnection } from '@/api/live/connection';
import { many } from '@/model/figures';
import { favicon, tabTitle } from '@/model/favicon';
import { isMine } from '@/model/rights';
import { ErrorBoundary } from '@/ui/ErrorBoundary';
import { usePresses } from '@/ui/guard';
import { HintBar } from '@/ui/HintBar';
import { KeySheet } from '@/ui/KeySheet';
import { Surrounding, useCurrentTitle } from '@/ui/page';
import { useKeyboard, useShortcut } from '@/ui/shortcuts';
import { isDark } from '@/ui/theme';
import { Toaster } from '@/ui/toast';
import { BottomBar } from './BottomBar';
import { PersonSheet } from './PersonSheet';
import { isWork, PLACES, type Place, SETTINGS } from './places';
import { Sidebar } from './Sidebar';

const Palette = lazy(loaded(() => import('./Palette')));

export default function Shell() {
  const { data: me } = useMe();
  const inbox = useInbox();
  const path = useLocation({ select: (location) => location.pathname });
  const router = useRouter();
  const connection = useConnection();
  const [palette, setPalette] = useState(false);
  const [sheet, setSheet] = useState(false);
  const [person, setPerson] = useState(false);
  const waiting = useMemo(() => inbox.data?.pages.flatMap((page) => page.items).filter((item) => isMine(me, item.waiting_for)).length ?? 0, [inbox.data, me]);
  usePresses();
  useKeyboard();
  useShortcut('mod+k', 'commands', () => setPalette(true), { group: 'Anywhere', hint: false });
  useShortcut('?', 'all keys', () => setSheet(true), { group: 'Anywhere', hint: false });
  useShortcut('/', 'find', () => find() || setPalette(true), { group: 'Anywhere', hint: false });
  useShortcut('escape', 'back', () => isWork(path) && router.history.back(), { group: 'Anywhere', hint: false });
  useShortcut('y', 'copy link', () => void navigator.clipboard.writeText(location.href), { group: 'Anywhere', hint: false });
  useTab(waiting);
  const surroundings = useMemo(() => ({ me, openPalette: () => setPalette(true), openPerson: () => setPerson(true) }), [me]);
  const rail = isWork(path);
  return (
    <Surrounding value={surroundings}>
      {[...PLACES, SETTINGS].map((place) => (
        <GoTo key={place.to} place={place} />
      ))}
      <a href="#main" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-raised focus:p-2">
        Go to the content
      </a>
      <div className={clsx('grid h-dvh grid-rows-[minmax(0,1fr)_auto] tablet:grid-rows-[minmax(0,1fr)_28px]', rail ? 'tablet:grid-cols-[52px_minmax(0,1fr)]' : 'tablet:grid-cols-[52px_minmax(0,1fr)] desk:grid-cols-[212px_minmax(0,1fr)]')}>
        <Sidebar rail={rail} waiting={waiting} onPalette={() => setPalette(true)} onPerson={() => setPerson(true)} />
        <main id="main" tabIndex={-1} className="relative flex min-h-0 min-w-0 flex-col bg-surface outline-none">
          {connection.state === 'lost' && (
            <p role="alert" className="bg-fail-wash px-4 py-1 text-small text-fail tablet:hidden">
              Not connected. Decisions are off.
            </p>
          )}
          <ErrorBoundary key={path}>
            <Outlet />
          </ErrorBoundary>
          <Toaster />
        </main>
        <HintBar />
        <BottomBar waiting={waiting} />
      </div>
      <p aria-live="polite" className="sr-only">
        {waiting > 0 && `${many(waiting, 'question needs', 'questions need')} you`}
      </p>
      {palette && (
        <Suspense>
          <Palette onClose={() => setPalette(false)} />
        </Suspense>
      )}
      <KeySheet open={sheet} onClose={() => setSheet(false)} />
      <PersonSheet open={person} onClose={() => setPerson(false)} />
    </Surrounding>
  );
}

function GoTo({ place }: { place: Place }) {
  const navigate = useNavigate();
  useShortcut(place.keys, `go to ${place.name.toLowerCase()}`, () => void navigate({ to: place.to }), { group: 'Anywhere', hint: false });
  return null;
}

/** Puts the cursor into the screen's own field for finding, if it has one. */
function find(): boolean {
  const field = document.querySelector<HTMLInputElement>('main [data-find]');
  field?.focus();
  return field !== null;
}

function useTab(waiting: number): void {
  const title = useCurrentTitle();
  useEffect(() => {
    document.title = tabTitle(title, waiting);
  }, [title, waiting]);
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    if (link) link.href = favicon(waiting > 0, isDark());
  }, [waiting]);
}
