/** The bar under the thumb: three places, and the rest in a sheet. */
import { Link, useLocation } from '@tanstack/react-router';
import clsx from 'clsx';
import { useState } from 'react';
import { HoldCount } from '@/ui/Badge';
import { Icon } from '@/ui/Icon';
import { Sheet } from '@/ui/overlays';
import { PLACES, placeOf, SETTINGS } from './places';

const FIRST = PLACES.slice(0, 3);
const REST = [...PLACES.slice(3), SETTINGS];
const item = 'relative flex flex-col items-center justify-center gap-[3px] text-[11px] leading-[14px]';

export function BottomBar({ waiting }: { waiting: number }) {
  const path = useLocation({ select: (location) => location.pathname });
  const [more, setMore] = useState(false);
  const here = placeOf(path);
  const rest = REST.some((place) => place.to === here);
  return (
    <nav aria-label="Main" className="grid h-[58px] grid-cols-4 border-t border-line bg-canvas pb-1 tablet:hidden">
      {FIRST.map((place) => (
        <Link key={place.to} to={place.to} aria-current={here === place.to ? 'page' : undefined} className={clsx(item, here === place.to ? 'font-name text-ink' : 'font-medium text-ink-3')}>
          <Icon name={place.icon} size={20} />
          {place.to === '/inbox' && <HoldCount count={waiting} className="absolute top-1.5 left-[calc(50%+7px)] px-1! text-[10px]! leading-[14px]!" />}
          {place.name}
        </Link>
      ))}
      <button type="button" onClick={() => setMore(true)} className={clsx(item, rest ? 'font-name text-ink' : 'font-medium text-ink-3')}>
        <Icon name="more" size={20} />
        More
      </button>
      <Sheet open={more} onClose={() => setMore(false)} title="More">
        <ul className="-m-4">
          {REST.map((place) => (
            <li key={place.to}>
              <Link to={place.to} onClick={() => setMore(false)} className="flex h-[52px] items-center gap-3 border-b border-line px-4">
                <Icon name={place.icon} size={18} className="text-ink-3" />
                {place.name}
              </Link>
            </li>
          ))}
        </ul>
      </Sheet>
    </nav>
  );
}
