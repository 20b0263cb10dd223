/** One pipeline: what it is, where its latest run stands, what the runs before it were like. */
import { Link } from '@tanstack/react-router';
import clsx from 'clsx';
import { useEffect, useRef, useState } from 'react';
import { useGraph, useRun, useRuns } from '@/api/hooks/runs';
import type { Me, Pipeline } from '@/api/types';
import { bars, lasted, lastGate, stops } from '@/model/pipelines';
import { isMine } from '@/model/rights';
import { run as runStatus, type Status } from '@/model/status';
import { span, took } from '@/model/time';
import { Tag } from '@/ui/Badge';
import { Button } from '@/ui/Button';
import { Menu, type MenuItem } from '@/ui/overlays';
import { RunBars } from '@/ui/RunBars';
import { Track } from '@/ui/Track';
import { Money, useNow } from '@/ui/values';

export const COLUMNS = 'desk:grid desk:grid-cols-[minmax(160px,252px)_minmax(0,1fr)_132px_88px_84px_24px] desk:items-center desk:gap-x-[18px]';

interface Props {
  pipeline: Pipeline;
  me: Me | undefined;
  asks: ReadonlyMap<string, boolean>;
  selected: boolean;
  menu: readonly MenuItem[];
  onSelect: () => void;
}

export function Item({ pipeline, me, asks, selected, menu, onSelect }: Props) {
  const row = useRef<HTMLLIElement>(null);
  const seen = useSeen(row);
  useEffect(() => {
    if (selected) row.current?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  const names = pipeline.checkpoints.map((checkpoint) => checkpoint.checkpoint_name).join(', ');
  return (
    <li
      ref={row}
      onFocus={onSelect}
      onClick={onSelect}
      aria-current={selected ? 'true' : undefined}
      className={clsx('relative min-h-[78px] border-b border-line px-5 max-desk:flex max-desk:flex-col max-desk:gap-2 max-desk:py-3 max-tablet:px-4', COLUMNS, selected ? 'selected-row' : 'hover:bg-hover')}
    >
      <div className="min-w-0 max-desk:pr-10">
        <Link to="/pipelines/$pipelineId" params={{ pipelineId: pipeline.pipeline_id }} className="block truncate rounded-1 max-tablet:-my-3 max-tablet:py-3 text-[14px] leading-5 font-name tracking-[-0.01em] max-tablet:text-[16px]">
          {pipeline.pipeline_name}
        </Link>
        <p className="truncate text-small leading-[17px] text-ink-3" title={names}>
          {names || 'No checkpoints yet'}
        </p>
      </div>
      {seen ? <Latest pipeline={pipeline} me={me} asks={asks} /> : <span className="h-[42px] desk:col-span-4" />}
      <div className="max-desk:absolute max-desk:top-2 max-desk:right-3">
        <Menu trigger={<Button kind="quiet" icon="more" size="small" label={`More about ${pipeline.pipeline_name}`} className="touch-target" />} items={menu} />
      </div>
    </li>
  );
}

function Latest({ pipeline, me, asks }: Pick<Props, 'pipeline' | 'me' | 'asks'>) {
  const now = useNow();
  const id = pipeline.runs.latest_run_id ?? undefined;
  const runs = useRuns({ pipeline: pipeline.pipeline_id }, 12);
  const run = useRun(id);
  const graph = useGraph(id);
  const mine = (waiting: Parameters<typeof isMine>[1]) => isMine(me, waiting);
  const recent = runs.data?.pages[0]?.items.slice(0, 12) ?? [];
  const latest = run.data;
  const track = stops(pipeline, graph.data, latest, mine);
  return (
    <>
      <div className="min-w-0">
        {track.length > 0 && <Track size="mini" label={`Checkpoints of ${pipeline.pipeline_name}`} stops={track} end={lastGate(pipeline, graph.data)} current={latest?.current_checkpoint_id ?? undefined} />}
        <p className={clsx('flex min-h-[17px] items-center gap-1.5 text-small leading-[17px] text-ink-3', track.length > 0 && 'mt-1')}>
          {latest ? (
            <Link to="/runs/$runId" params={{ runId: latest.run_id }} className="flex min-w-0 items-center gap-1.5 rounded-1">
              <Tag>v{latest.run_version}</Tag>
              <Word status={runStatus(latest, mine)} since={latest.current_execution?.waiting_for?.since} now={now} />
            </Link>
          ) : pipeline.runs.total === 0 ? (
            'Has not run yet'
          ) : null}
        </p>
      </div>
      <div className="hidden desk:block">{recent.length > 0 && <RunBars bars={bars(recent, asks, now)} label={`Last runs of ${pipeline.pipeline_name}`} />}</div>
      <Figure>{latest && took(lasted(latest, now))}</Figure>
      <Figure>{latest && <Money usd={latest.usage.cost_usd} />}</Figure>
    </>
  );
}

const TONES: Record<Status['tone'], string> = { hold: 'font-name text-hold-ink', 'hold-ink': '', live: 'font-name text-live', fail: 'font-name text-fail', done: '', 'ink-2': '', 'ink-3': '' };

function Word({ status, since, now }: { status: Status; since: string | undefined; now: Date }) {
  const [first, ...rest] = status.word.split(', ');
  const age = since ? span(now.getTime() - new Date(since).getTime()) : undefined;
  return (
    <span className="truncate">
      <span className={TONES[status.tone]}>{`${first?.charAt(0).toLowerCase()}${first?.slice(1)}`}</span>
      {[...rest, ...(age ? [age] : [])].map((one) => `, ${one}`).join('')}
    </span>
  );
}

const Figure = ({ children }: { children: React.ReactNode }) => (
  <div className="hidden text-right desk:block">
    {children && (
      <>
        <p className="leading-5 font-value">{children}</p>
        <p className="text-small leading-[17px] text-ink-3">this run</p>
      </>
    )}
  </div>
);

/** Whether a row has been on the screen: what is below is asked for when it comes. */
function useSeen(row: React.RefObject<HTMLElement | null>): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const element = row.current;
    if (!element || seen) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setSeen(true), { rootMargin: '200px' });
    observer.observe(element);
    return () => observer.disconnect();
  }, [row, seen]);
  return seen;
}
