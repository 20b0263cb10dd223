/** The strip of checkpoints: solid to what is done, dashed beyond, a hold line before each gate. Arrow keys walk it. */
import clsx from 'clsx';
import { Fragment, type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import type { Status } from '@/model/status';
import { StatusMark } from './Icon';
import { HoldLine } from './HoldLine';

export interface Stop {
  id: string;
  name: string;
  status: Status;
  /** Whether the way to here is done. */
  reached: boolean;
  /** A person decides before it goes on to here. */
  gate?: 'ahead' | 'reached' | 'passed' | undefined;
  meta?: ReactNode;
}

interface Props {
  stops: readonly Stop[];
  current?: string | undefined;
  /** The accessible name of the list. */
  label: string;
  /** `mini` draws icons alone, for lists. */
  size?: 'full' | 'mini';
  onSelect?: ((id: string) => void) | undefined;
  /** A person decides after the last one. */
  end?: Stop['gate'];
}

export function Track({ stops, current, label, size = 'full', onSelect, end }: Props) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-current=step]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);
  const walk = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const buttons = [...(list.current?.querySelectorAll<HTMLButtonElement>('button') ?? [])];
    const next = buttons[buttons.indexOf(event.target as HTMLButtonElement) + step];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  };
  if (size === 'mini') {
    return (
      <ol aria-label={label} className="flex items-center overflow-hidden">
        {stops.map((stop, at) => (
          <Fragment key={stop.id}>
            {at > 0 ? <Way done={stop.reached} className="w-12 max-w-12" gate={stop.gate} /> : stop.gate && <HoldLine state={stop.gate} className="mr-1 h-4" />}
            <li className="flex items-center" aria-current={stop.id === current ? 'step' : undefined}>
              <StatusMark icon={stop.status.icon} tone={stop.status.tone} label={`${stop.name}: ${stop.status.word}`} />
            </li>
          </Fragment>
        ))}
        {end && <HoldLine state={end} className="ml-1 h-4" />}
      </ol>
    );
  }
  return (
    <ol ref={list} aria-label={label} onKeyDown={walk} className="scroll-pane relative flex overflow-y-hidden pb-1">
      {stops.map((stop, at) => {
        const next = stops[at + 1];
        return (
          <li key={stop.id} className={clsx('flex min-w-[132px] flex-col', next ? 'flex-1' : 'flex-none')} aria-current={stop.id === current ? 'step' : undefined}>
            <span className="flex h-5 items-center">
              {stop.gate && at === 0 && <HoldLine state={stop.gate} className="mr-2" />}
              <StatusMark icon={stop.status.icon} tone={stop.status.tone} />
              {next ? <Way done={next.reached} gate={next.gate} className="flex-1" /> : end && <Way done={end === 'passed'} gate={end} className="w-16" />}
            </span>
            <button
              type="button"
              onClick={() => onSelect?.(stop.id)}
              className={clsx('mt-1 max-w-full self-start rounded-1 pr-4 text-left max-tablet:min-h-11', !onSelect && 'pointer-events-none')}
            >
              <span className={clsx('block truncate font-name', stop.id === current && (stop.status.tone === 'live' ? 'text-live' : 'underline decoration-2 underline-offset-4'))}>
                {stop.name}
                <span className="sr-only">, {stop.status.word}</span>
              </span>
              {stop.meta !== undefined && <span className="block truncate text-small text-ink-3">{stop.meta}</span>}
            </button>
          </li>
        );
      })}
    </ol>
  );
}

function Way({ done, gate, className }: { done: boolean; gate: Stop['gate']; className: string }) {
  return (
    <span aria-hidden="true" className={clsx('flex h-4 items-center', className)}>
      <span className={clsx('mx-1 flex-1 border-t-2', done ? 'border-solid border-ink-2' : 'border-dashed border-line-2')} />
      {gate && <HoldLine state={gate} className="mr-1" />}
    </span>
  );
}
