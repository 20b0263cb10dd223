/** The places, and what is going now. On work it is a rail of icons. */
import { Link, useLocation } from '@tanstack/react-router';
import clsx from 'clsx';
import { useMe } from '@/api/hooks/session';
import { useInbox } from '@/api/hooks/inbox';
import { useRuns } from '@/api/hooks/runs';
import { isMine } from '@/model/rights';
import { run as runStatus } from '@/model/status';
import { Avatar } from '@/ui/Avatar';
import { HoldCount } from '@/ui/Badge';
import { Icon, StatusLabel } from '@/ui/Icon';
import { Keys } from '@/ui/Keys';
import { Logo, Mark } from '@/ui/Mark';
import { PLACES, type Place, placeOf, SETTINGS } from './places';

interface Props {
  rail: boolean;
  waiting: number;
  onPalette: () => void;
  onPerson: () => void;
}

export function Sidebar({ rail, waiting, onPalette, onPerson }: Props) {
  const path = useLocation({ select: (location) => location.pathname });
  const { data: me } = useMe();
  const here = placeOf(path);
  // Between phone and desk the sidebar is a rail everywhere.
  const wide = rail ? 'hidden' : 'hidden desk:block';
  const named = rail ? 'sr-only' : 'max-desk:sr-only';
  const wideFlex = rail ? 'hidden' : 'hidden desk:flex';
  return (
    <nav
      aria-label="Main"
      className={clsx('row-span-2 hidden min-h-0 min-w-0 flex-col border-r border-line tablet:flex', rail ? 'items-center gap-0.5 pt-3 pb-2' : 'items-center gap-0.5 pt-3 pb-2 desk:items-stretch desk:gap-0 desk:px-2')}
    >
      <div className={clsx('flex items-center pb-[14px]', !rail && 'desk:justify-between desk:px-2')}>
        <Link to="/" aria-label="Holdpoint" className="rounded-1">
          <Logo className={clsx('mt-[3px]', wide)} />
          <Mark className={rail ? 'mt-0.5' : 'mt-0.5 desk:hidden'} />
        </Link>
        <button type="button" onClick={onPalette} aria-keyshortcuts="Control+K Meta+K" className={clsx('rounded-1 py-[3px]', wide)}>
          <span className="sr-only">Commands</span>
          <Keys keys="mod+k" />
        </button>
      </div>
      {PLACES.map((place) => (
        <NavLink key={place.to} place={place} here={here} rail={rail}>
          {place.to === '/inbox' && waiting > 0 && (
            <HoldCount count={waiting} className={rail ? RAIL_COUNT : 'max-desk:absolute max-desk:-top-px max-desk:-right-px max-desk:px-[3px] max-desk:text-[10px] max-desk:leading-[13px] desk:ml-auto'} />
          )}
        </NavLink>
      ))}
      <div className={clsx('min-h-0 flex-col overflow-hidden', wideFlex)}>
        <Going />
      </div>
      <span className="flex-1" />
      <NavLink place={SETTINGS} here={here} rail={rail} />
      {me && (
        <button type="button" onClick={onPerson} className={clsx('mt-1 flex min-h-7 items-center gap-2 rounded-2 py-1', rail ? 'px-1' : 'px-1 hover:bg-hover desk:px-2')}>
          <Avatar name={me.name} kind={me.kind} />
          <span className={clsx('min-w-0 flex-1 truncate text-left text-small font-value', named)}>{me.name}</span>
          <span className={clsx('text-label text-ink-3', named)}>{me.role}</span>
        </button>
      )}
    </nav>
  );
}

const RAIL_COUNT = 'absolute -top-px -right-px px-[3px]! text-[10px]! leading-[13px]!';

function NavLink({ place, here, rail, children }: { place: Place; here: string; rail: boolean; children?: React.ReactNode }) {
  const on = here === place.to;
  return (
    <Link
      to={place.to}
      aria-current={on ? 'page' : undefined}
      title={rail ? place.name : undefined}
      aria-keyshortcuts={place.keys}
      className={clsx(
        'relative flex items-center rounded-2 font-medium',
        rail ? 'h-8 w-9 flex-none justify-center' : 'h-8 w-9 flex-none justify-center desk:h-7 desk:w-auto desk:justify-start desk:gap-[9px] desk:px-2',
        on ? 'bg-select font-name text-ink' : 'text-ink-2 hover:bg-hover',
      )}
    >
      <Icon name={place.icon} className={on ? 'text-ink' : 'text-ink-3'} />
      <span className={rail ? 'sr-only' : 'max-desk:sr-only'}>{place.name}</span>
      {children}
    </Link>
  );
}

/** Runs that have not ended, at most eight. */
function Going() {
  const { data: me } = useMe();
  const { data } = useRuns({ status: 'in_progress' }, 20);
  const inbox = useInbox();
  const waits = new Map(inbox.data?.pages.flatMap((page) => page.items).map((item) => [item.run_id, item.waiting_for]));
  const runs = data?.pages.flatMap((page) => page.items).slice(0, 8) ?? [];
  if (runs.length === 0) return null;
  return (
    <section aria-label="Going now" className="flex min-h-0 flex-col">
      <h2 className="label px-2 pt-4 pb-1">Going now</h2>
      <ul className="min-h-0 overflow-hidden">
        {runs.map((run) => (
          <li key={run.run_id}>
            <Link to="/runs/$runId" params={{ runId: run.run_id }} className="flex h-[26px] items-center gap-2 rounded-2 px-2 text-small text-ink-2 hover:bg-hover">
              <StatusLabel status={runStatus(run, (waiting) => isMine(me, waiting), waits.get(run.run_id))} bare size={14} />
              <span className="min-w-0 truncate">{run.pipeline_name ?? 'Run'}</span>
              <span className="fact ml-auto font-medium text-ink-3">{run.run_version == null ? '' : `v${run.run_version}`}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
