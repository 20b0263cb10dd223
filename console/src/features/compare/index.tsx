/** Two runs, executions or tries side by side, one scroll. The address names both, so it can be sent to somebody. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import clsx from 'clsx';
import { useEffect, useRef, useState } from 'react';
import { useCompare } from '@/api/hooks/runs';
import type { Comparison } from '@/api/types';
import { differs, firstDifference, type Side, sideName, sideStatus } from '@/model/compare';
import { took } from '@/model/time';
import { Button } from '@/ui/Button';
import { CopyAs } from '@/ui/CopyAs';
import { Icon, StatusLabel, StatusMark } from '@/ui/Icon';
import { useNarrow, usePhone } from '@/ui/media';
import { Page } from '@/ui/page';
import { useShortcut } from '@/ui/shortcuts';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { SegmentedControl } from '@/ui/Tabs';
import { Money, Time } from '@/ui/values';
import { Checkpoint } from './Checkpoint';
import { Picker } from './Picker';
import { useSide } from './useSide';

export default function Compare() {
  const { a, b, view } = useSearch({ from: '/shell/compare' });
  const navigate = useNavigate({ from: '/compare' });
  const compared = useCompare(a, b);
  const sides = [useSide(a).data, useSide(b).data] as const;
  const narrow = useNarrow();
  const phone = usePhone();
  const beside = view !== 'one';
  const turn = () => void navigate({ search: (now) => ({ ...now, a: now.b, b: now.a }), replace: true });
  const choose = (side: 'a' | 'b') => (address: string | undefined) => void navigate({ search: (now) => ({ ...now, [side]: address, checkpoint: undefined, artifact: undefined }), replace: true });
  const it = compared.data;
  const pickers = (
    <>
      <Picker name="Left" address={a} likely={sides[1]?.pipeline} onChange={choose('a')} />
      <Picker name="Right" address={b} likely={sides[0]?.pipeline} onChange={choose('b')} />
    </>
  );
  return (
    <Page
      title="Compare"
      meta={it && <span className="truncate max-tablet:hidden">{it.same ? 'no difference in outputs and definitions' : `${names(it)[0]} and ${names(it)[1]}`}</span>}
      actions={
        <>
          {!narrow && (
            <SegmentedControl
              label="How texts are shown"
              value={beside ? 'two' : 'one'}
              onChange={(next) => void navigate({ search: (now) => ({ ...now, view: next === 'one' ? 'one' : undefined }), replace: true })}
              segments={[
                { value: 'two', label: 'Side by side' },
                { value: 'one', label: 'One column' },
              ]}
            />
          )}
          <Button size="small" icon="compare" keys="x" word="swap" off={a || b ? undefined : 'Nothing is chosen yet.'} offAt="hidden" onClick={turn}>
            Swap
          </Button>
          {a && b && <CopyAs what={{ command: `holdpoint compare ${a} ${b}`, method: 'GET', path: `/api/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}` }} />}
        </>
      }
    >
      {phone && a && b ? (
        <details className="flex-none border-b border-line bg-canvas px-4">
          <summary className="flex min-h-11 items-center text-small font-value text-ink-2">Choose other sides</summary>
          <div className="scroll-pane flex max-h-[50dvh] flex-col gap-3 pb-3">{pickers}</div>
        </details>
      ) : (
        <div className="flex flex-none gap-6 border-b border-line bg-canvas px-5 py-3 max-tablet:flex-col max-tablet:gap-3 max-tablet:px-4">{pickers}</div>
      )}
      {!a || !b ? (
        <Empty title="Nothing chosen to compare">Choose a run, one of its checkpoints, or one revision and try on each side. The address then names both, and stays good.</Empty>
      ) : compared.error ? (
        <ErrorBlock title="The two could not be compared" problem={compared.error} className="m-5 max-w-[560px]" />
      ) : it ? (
        <Body it={it} beside={beside} />
      ) : (
        <Loading label="Comparing" />
      )}
    </Page>
  );
}

const names = (it: Comparison) => {
  const name = it.checkpoints.length === 1 ? (it.checkpoints[0]?.checkpoint_name ?? undefined) : undefined;
  return [sideName(it.a, name), sideName(it.b, name)] as const;
};

function Body({ it, beside }: { it: Comparison; beside: boolean }) {
  const pane = useRef<HTMLDivElement>(null);
  const { checkpoint } = useSearch({ from: '/shell/compare' });
  const navigate = useNavigate({ from: '/compare' });
  const [at, setAt] = useState(-1);
  const first = firstDifference(it);
  const [left, right] = names(it);
  useEffect(() => {
    if (checkpoint !== undefined) pane.current?.querySelector(`[data-checkpoint="${Number(checkpoint)}"]`)?.scrollIntoView({ block: 'start' });
  }, [checkpoint]);
  // Hunks of texts, and what differs without one.
  const stops = () => [...(pane.current?.querySelectorAll<HTMLElement>('[data-change],[data-stop]') ?? [])];
  const go = (by: number) => {
    const all = stops();
    const next = Math.max(0, Math.min(all.length - 1, at + by));
    setAt(next);
    all[next]?.scrollIntoView({ block: 'center' });
    all[next]?.focus({ preventScroll: true });
  };
  useShortcut(it.same && first === undefined ? undefined : 'n', 'next and previous difference', () => go(1), { order: 10, repeats: true });
  useShortcut(it.same && first === undefined ? undefined : 'p', 'next and previous difference', () => go(-1), { order: 10, repeats: true });
  return (
    <div className="grid min-h-0 flex-1 desk:grid-cols-[212px_minmax(0,1fr)]">
      <nav aria-label="Checkpoints" className="scroll-pane min-h-0 border-r border-line max-desk:hidden">
        <ol>
          {it.checkpoints.map((one) => {
            const what = differs(one);
            return (
              <li key={one.checkpoint_position}>
                <button
                  type="button"
                  onClick={() => void navigate({ search: (now) => ({ ...now, checkpoint: String(one.checkpoint_position) }), replace: true })}
                  aria-current={Number(checkpoint) === one.checkpoint_position ? 'true' : undefined}
                  className={clsx('grid w-full grid-cols-[16px_1fr] gap-x-[10px] border-b border-line px-5 py-2 text-left focus-visible:-outline-offset-2', Number(checkpoint) === one.checkpoint_position && checkpoint !== undefined ? 'selected-row' : 'hover:bg-hover')}
                >
                  {what.length > 0 ? <Icon name="compare" className="mt-0.5 text-ink" /> : <StatusMark icon="passed" tone="ink-3" className="mt-0.5" />}
                  <span className="min-w-0">
                    <span className={clsx('block truncate', what.length > 0 ? 'font-name' : 'text-ink-2')}>{one.checkpoint_name}</span>
                    <span className="block text-small text-ink-3">{what.length > 0 ? what.join(', ') : 'the same'}</span>
                  </span>
                </button>
              </li>
            );
          })}
        </ol>
      </nav>
      <div ref={pane} className="scroll-pane min-h-0 min-w-0" tabIndex={0} role="region" aria-label="Both sides">
        <div className="sticky top-0 z-20 grid grid-cols-2 divide-x divide-line border-b border-line bg-surface">
          <Head side={it.a} name={left} steps={it.checkpoints.map((one) => one.status_a)} />
          <Head side={it.b} name={right} steps={it.checkpoints.map((one) => one.status_b)} />
        </div>
        {first === undefined && <p className="border-b border-line px-5 py-3 text-ink-2 max-tablet:px-4">Both sides are the same: definitions, outputs and decisions.</p>}
        {it.checkpoints.map((one) => (
          <Checkpoint key={one.checkpoint_position} it={one} first={one.checkpoint_position === first} beside={beside} />
        ))}
      </div>
    </div>
  );
}

function Head({ side, name, steps }: { side: Side; name: string; steps: Parameters<typeof sideStatus>[1] }) {
  return (
    <div className="min-w-0 px-5 py-2 max-tablet:px-4">
      <p className="font-name tablet:truncate">{name}</p>
      <p className="flex flex-wrap items-center gap-x-4 text-small text-ink-3">
        <StatusLabel status={sideStatus(side, steps)} size={14} />
        {side.started_at && <Time at={side.started_at} as="moment" />}
        {side.seconds != null && <span>{took(side.seconds * 1000)}</span>}
        <Money usd={side.usage.cost_usd} />
      </p>
    </div>
  );
}
