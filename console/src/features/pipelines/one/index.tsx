/** One pipeline: its checkpoints as the latest run has them, and all its runs. */
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useInbox } from '@/api/hooks/inbox';
import { usePipeline } from '@/api/hooks/pipelines';
import { useGraph, useRun, useRuns } from '@/api/hooks/runs';
import { useMe } from '@/api/hooks/session';
import type { Pipeline } from '@/api/types';
import { many } from '@/model/figures';
import { bars, lastGate, stops } from '@/model/pipelines';
import { hasRole, isMine } from '@/model/rights';
import { work } from '@/model/run';
import { Button } from '@/ui/Button';
import { CopyAs } from '@/ui/CopyAs';
import { useOffline } from '@/ui/HintBar';
import { StatusMark } from '@/ui/Icon';
import { Menu } from '@/ui/overlays';
import { Crumbs, GroupHeading, Page } from '@/ui/page';
import { RunBars } from '@/ui/RunBars';
import { useShortcut } from '@/ui/shortcuts';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { Track } from '@/ui/Track';
import { Fact, Facts, Money, Time, useNow } from '@/ui/values';
import { DeletePipeline, StartRun, useBringBack } from '../Acts';
import { Runs } from './Runs';

/** As many as have room. */
const BARS = 40;

export default function PipelineScreen() {
  const { pipelineId } = useParams({ from: '/shell/pipelines/$pipelineId' });
  const pipeline = usePipeline(pipelineId);
  if (pipeline.data) return <Shown pipeline={pipeline.data} />;
  return (
    <Page title="Pipeline">
      {pipeline.error ? (
        <ErrorBlock
          title="The pipeline could not be read"
          problem={pipeline.error}
          className="m-5 max-w-[560px]"
          action={
            <Button size="small" onClick={() => void pipeline.refetch()}>
              Try again
            </Button>
          }
        />
      ) : (
        <Loading label="Pipeline" />
      )}
    </Page>
  );
}

function Shown({ pipeline }: { pipeline: Pipeline }) {
  const id = pipeline.pipeline_id;
  const navigate = useNavigate();
  const { data: me } = useMe();
  const offline = useOffline();
  const now = useNow();
  const runs = useRuns({ pipeline: id });
  const inbox = useInbox(id);
  const bring = useBringBack();
  const [asking, setAsking] = useState<'start' | 'delete'>();
  const [at, setAt] = useState<number>();
  const all = useMemo(() => runs.data?.pages.flatMap((page) => page.items) ?? [], [runs.data]);
  const asks = useMemo(() => new Map((inbox.data?.pages.flatMap((page) => page.items) ?? []).map((item) => [item.run_id as string, item.waiting_for])), [inbox.data]);
  const mine = useMemo(() => new Map([...asks].map(([run, waiting]) => [run, isMine(me, waiting)])), [asks, me]);
  const latest = useRun(pipeline.runs.latest_run_id ?? undefined);
  const strip = usePipelineStrip(pipeline, latest.data);
  const role = me && !hasRole(me, 'operator') ? `Your role is ${me.role}; this needs operator.` : undefined;
  const gone = pipeline.deleted_at != null;
  const empty = pipeline.checkpoints.length === 0 ? 'It has no checkpoints yet.' : undefined;
  const off = offline ?? role ?? (gone ? 'It was deleted.' : undefined);
  const { run_version: version, extends_from_run_version: extended } = pipeline.next_run;
  const spent = all.reduce((sum, run) => sum + run.usage.cost_usd, 0);
  const select = (by: number) => {
    const next = Math.max(0, Math.min(all.length - 1, at === undefined ? 0 : at + by));
    setAt(next);
    document.querySelector(`[data-run="${all[next]?.run_id ?? ''}"]`)?.scrollIntoView({ block: 'nearest' });
  };
  const selected = at === undefined ? undefined : all[at]?.run_id;
  useShortcut(all.length > 0 ? 'j' : undefined, 'move', () => select(1), { order: 10, repeats: true });
  useShortcut(all.length > 0 ? 'k' : undefined, 'move', () => select(-1), { order: 10, repeats: true });
  useShortcut(selected ? 'enter' : undefined, 'open', () => selected && void navigate({ to: '/runs/$runId', params: { runId: selected } }), { order: 11 });
  const start = (
    <Button kind="primary" size="small" keys="n" word="start" off={off ?? empty} onClick={() => setAsking('start')}>
      {`Start v${version}`}
    </Button>
  );
  const actions = (
    <>
      <Button size="small" keys="e" word="edit" off={gone ? 'It was deleted.' : undefined} offAt="hidden" onClick={() => void navigate({ to: '/pipelines/$pipelineId/edit', params: { pipelineId: id } })}>
        Edit
      </Button>
      <Button size="small" keys="v" word="history" onClick={() => void navigate({ to: '/pipelines/$pipelineId/history', params: { pipelineId: id } })}>
        History
      </Button>
      {gone ? (
        <Button kind="primary" size="small" busy={bring.busy !== undefined} off={offline ?? role} onClick={() => bring.back(pipeline)}>
          Bring it back
        </Button>
      ) : (
        start
      )}
      <Menu
        trigger={<Button size="small" icon="more" label="More" />}
        items={[{ label: `Delete ${pipeline.pipeline_name}`, icon: 'trash', danger: true, off, onSelect: () => setAsking('delete') }]}
      />
      <CopyAs what={{ command: `holdpoint pipeline run ${id}`, method: 'POST', path: '/api/runs', body: { pipeline_id: id, start: true } }} />
    </>
  );
  return (
    <Page
      title={pipeline.pipeline_name}
      heading={
        <Crumbs>
          {[
            <Link key="all" to="/pipelines" className="hover:text-ink hover:underline">
              Pipelines
            </Link>,
            pipeline.pipeline_name,
          ]}
        </Crumbs>
      }
      actions={actions}
    >
      <div className="scroll-pane min-h-0 flex-1">
        {gone && (
          <p className="flex items-center gap-2 border-b border-line bg-canvas px-5 py-2 text-ink-2 max-tablet:px-4">
            <StatusMark icon="archived" tone="ink-3" />
            It was deleted <Time at={pipeline.deleted_at as string} as="since" />. Its runs and what they made are kept.
          </p>
        )}
        {bring.error && <ErrorBlock title="It was not brought back" problem={bring.error} className="m-5" />}
        {pipeline.pipeline_description && <p className="max-w-[72ch] px-5 pt-4 text-ink-2 max-tablet:px-4">{pipeline.pipeline_description}</p>}
        <div className="flex flex-wrap items-end justify-between gap-x-8 gap-y-3 px-5 pt-4 max-tablet:px-4">
          <Facts>
            <Fact label="Next run">
              v{version}
              {extended ? `, extends v${extended}` : ', extends nothing'}
            </Fact>
            <Fact label="Runs">{many(pipeline.runs.total, 'run')}</Fact>
            <Fact label="Spent">
              <Money usd={spent} />
              {runs.hasNextPage && ' so far shown'}
            </Fact>
            <Fact label="Definition">
              <Link to="/pipelines/$pipelineId/history" params={{ pipelineId: id }} className="underline decoration-line-2 underline-offset-2 hover:decoration-ink">
                version {pipeline.pipeline_definition_version}
              </Link>
            </Fact>
            <Fact label="Goes on by itself">{pipeline.config.auto_advance ? 'Yes' : 'No, each checkpoint is started'}</Fact>
            <Fact label="Changed">
              <Time at={pipeline.updated_at} as="moment" />
            </Fact>
          </Facts>
          {all.length > 0 && <RunBars bars={bars(all.slice(0, BARS), mine, now)} label="Run history, the newest at the right" />}
        </div>
        {pipeline.warnings.length > 0 && (
          <section aria-label="Warnings" className="mx-5 mt-4 rounded-2 border border-line-2 px-3 py-2 max-tablet:mx-4">
            <h2 className="flex items-center gap-2 text-body font-name">
              <StatusMark icon="note" tone="ink-2" />
              {many(pipeline.warnings.length, 'thing')} worth knowing
            </h2>
            <ul className="list-disc pl-10 text-small text-ink-2">
              {pipeline.warnings.map((warning) => (
                <li key={warning.pointer + warning.message}>
                  {warning.message} <span className="fact text-ink-3">{warning.pointer}</span>
                </li>
              ))}
            </ul>
          </section>
        )}
        <div className="px-5 py-4 max-tablet:px-4">
          {pipeline.checkpoints.length > 0 ? (
            <Track label={latest.data ? `Checkpoints, as v${latest.data.run_version ?? ''} has them` : 'Checkpoints'} stops={strip.stops} end={strip.end} current={latest.data?.current_checkpoint_id ?? undefined} onSelect={(checkpoint) => void navigate({ to: '/pipelines/$pipelineId/edit', params: { pipelineId: id }, search: { checkpoint } })} />
          ) : (
            <Empty
              title="It has no checkpoints yet"
              className="m-0!"
              action={
                <Button size="small" onClick={() => void navigate({ to: '/pipelines/$pipelineId/edit', params: { pipelineId: id } })}>
                  Add the first checkpoint
                </Button>
              }
            >
              Checkpoints say what is done, by whom, and where somebody looks.
            </Empty>
          )}
        </div>
        <GroupHeading end={runs.hasNextPage ? `${all.length} shown` : all.length}>Runs</GroupHeading>
        {runs.error && <ErrorBlock title="The runs could not be read" problem={runs.error} className="m-5" />}
        {runs.isPending && <Loading label="Runs" />}
        {runs.data && all.length === 0 && (
          <Empty title="No runs yet" action={<span className="text-small text-ink-3">holdpoint pipeline run {id}</span>}>
            Start one, and it stands here with every version after it.
          </Empty>
        )}
        {all.length > 0 && <Runs runs={all} me={me} asks={asks} definition={pipeline.pipeline_definition_version} selected={selected} />}
        {runs.hasNextPage && (
          <Button size="small" className="m-4" busy={runs.isFetchingNextPage} onClick={() => void runs.fetchNextPage()}>
            Show more
          </Button>
        )}
      </div>
      {asking === 'start' && <StartRun pipeline={pipeline} onClose={() => setAsking(undefined)} />}
      {asking === 'delete' && <DeletePipeline pipeline={pipeline} onClose={() => setAsking(undefined)} onDone={() => void navigate({ to: '/pipelines' })} />}
    </Page>
  );
}

/** The checkpoints as the latest run has them, with who does each. */
function usePipelineStrip(pipeline: Pipeline, run: Parameters<typeof stops>[2]) {
  const { data: me } = useMe();
  const graph = useGraph(pipeline.runs.latest_run_id ?? undefined);
  const defined = new Map(pipeline.checkpoints.map((one) => [one.checkpoint_id as string, one]));
  return {
    stops: stops(pipeline, graph.data, run, (waiting) => isMine(me, waiting)).map((stop) => ({ ...stop, meta: work(defined.get(stop.id)) })),
    end: lastGate(pipeline, graph.data),
  };
}
