/** All pipelines: where each stands, what it did lately, and what can be done with it. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import clsx from 'clsx';
import { useState } from 'react';
import type { Pipeline } from '@/api/types';
import { found } from '@/model/pipelines';
import { hasRole } from '@/model/rights';
import { Button } from '@/ui/Button';
import { Input } from '@/ui/fields';
import { useOffline } from '@/ui/HintBar';
import { usePhone } from '@/ui/media';
import type { MenuItem } from '@/ui/overlays';
import { Page } from '@/ui/page';
import { useShortcut } from '@/ui/shortcuts';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { DeletePipeline, StartRun, useBringBack } from './Acts';
import { ApplyFile } from './ApplyFile';
import { Deleted } from './Deleted';
import { COLUMNS, Item } from './Item';
import { NewPipeline } from './NewPipeline';
import { usePipelineRows } from './usePipelineRows';

export default function Pipelines() {
  const search = useSearch({ from: '/shell/pipelines' });
  const navigate = useNavigate({ from: '/pipelines' });
  const { me, pipelines, all, asks, waiting } = usePipelineRows();
  const [act, setAct] = useState<{ kind: 'start' | 'delete'; pipeline: Pipeline }>();
  const bring = useBringBack();
  const offline = useOffline();
  const phone = usePhone();
  const mayChange = offline ?? (hasRole(me, 'admin') ? undefined : `Your role is ${me?.role ?? 'none'}; this needs admin.`);
  const mayStart = offline ?? (hasRole(me, 'operator') ? undefined : `Your role is ${me?.role ?? 'none'}; this needs operator.`);
  const shown = found(all, search.find ?? '');
  const at = Math.max(0, shown.findIndex((one) => one.pipeline_id === search.item));
  const selected = shown[at];
  const select = (id: string | undefined) => id !== search.item && void navigate({ search: (now) => ({ ...now, item: id }), replace: true });
  const move = (by: number) => select(shown[Math.max(0, Math.min(shown.length - 1, at + by))]?.pipeline_id);
  const edit = (pipeline: Pipeline) => void navigate({ to: '/pipelines/$pipelineId/edit', params: { pipelineId: pipeline.pipeline_id } });
  const open = (pipeline: Pipeline) =>
    void (pipeline.runs.latest_run_id
      ? navigate({ to: '/runs/$runId', params: { runId: pipeline.runs.latest_run_id } })
      : navigate({ to: '/pipelines/$pipelineId', params: { pipelineId: pipeline.pipeline_id } }));
  const make = (what: 'pipeline' | 'file' | undefined) => void navigate({ search: (now) => ({ ...now, new: what }) });
  const on = selected !== undefined;
  useShortcut(on ? 'j' : undefined, 'move', () => move(1), { order: 10, repeats: true });
  useShortcut(on ? 'k' : undefined, 'move', () => move(-1), { order: 10, repeats: true });
  useShortcut(on ? 'enter' : undefined, 'latest run', () => selected && open(selected), { order: 12 });
  useShortcut(on && !mayStart ? 's' : undefined, 'start a run', () => selected && setAct({ kind: 'start', pipeline: selected }), { order: 14 });
  useShortcut(on ? 'e' : undefined, 'edit', () => selected && edit(selected), { order: 16 });
  useShortcut('/', 'find', () => document.querySelector<HTMLInputElement>('main [data-find]')?.focus(), { order: 30 });
  const menu = (pipeline: Pipeline): MenuItem[] => [
    { label: 'Start a run', icon: 'right', keys: 's', off: mayStart, onSelect: () => setAct({ kind: 'start', pipeline }) },
    { label: 'Edit', icon: 'edit', keys: 'e', onSelect: () => edit(pipeline) },
    { label: 'History of the definition', icon: 'events', onSelect: () => void navigate({ to: '/pipelines/$pipelineId/history', params: { pipelineId: pipeline.pipeline_id } }) },
    { label: 'Export as YAML', icon: 'download', onSelect: () => download(pipeline.pipeline_id) },
    { label: 'Delete', icon: 'trash', danger: true, off: mayChange, onSelect: () => setAct({ kind: 'delete', pipeline }) },
  ];
  const mine = all.filter((one) => waiting.has(one.pipeline_id)).length;
  const actions = (
    <>
      <Input
        find
        hint="/"
        data-find=""
        aria-label="Find a pipeline"
        placeholder="Find"
        value={search.find ?? ''}
        onChange={(event) => void navigate({ search: (now) => ({ ...now, find: event.target.value || undefined, item: undefined }), replace: true })}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
        className="w-[190px]"
      />
      <Button off={mayChange} offAt="hidden" onClick={() => make('file')}>
        Apply a file
      </Button>
      <Button kind="primary" icon="plus" keys="n" word="new" off={mayChange} offAt="hidden" onClick={() => make('pipeline')}>
        New pipeline
      </Button>
    </>
  );
  return (
    <Page title="Pipelines" meta={pipelines.data && (mine === 0 ? all.length : phone ? `${mine} for you` : `${all.length}, of which ${mine} ${mine === 1 ? 'waits' : 'wait'} for you`)} actions={actions}>
      <div className="scroll-pane min-h-0 flex-1">
        {pipelines.error && <ErrorBlock title="The pipelines could not be read" problem={pipelines.error} className="m-5 max-w-[560px]" action={<Button size="small" onClick={() => void pipelines.refetch()}>Try again</Button>} />}
        {pipelines.isPending && <Loading label="Pipelines" />}
        {pipelines.data && all.length === 0 && (
          <Empty
            title="No pipelines yet"
            action={
              <>
                <Button size="small" icon="plus" off={mayChange} onClick={() => make('pipeline')}>
                  New pipeline
                </Button>
                <Button size="small" off={mayChange} offAt="hidden" onClick={() => make('file')}>
                  Apply a file
                </Button>
              </>
            }
          >
            A pipeline is a list of checkpoints that agents, scripts or people do one after another. It stops where somebody has to look. Make one here, or from a file with holdpoint pipeline apply FILE.
          </Empty>
        )}
        {all.length > 0 && (
          <div aria-hidden="true" className={clsx('label sticky top-0 z-10 hidden h-8 border-b border-line bg-canvas px-5', COLUMNS)}>
            <span>Pipeline</span>
            <span>Latest run</span>
            <span>Last 12 runs</span>
            <span className="text-right">Time</span>
            <span className="text-right">Cost</span>
            <span />
          </div>
        )}
        {all.length > 0 && shown.length === 0 && <p className="px-5 py-4 text-ink-2">No pipeline is called “{search.find}”.</p>}
        <ul aria-label="Pipelines">
          {shown.map((pipeline) => (
            <Item key={pipeline.pipeline_id} pipeline={pipeline} me={me} asks={asks} selected={pipeline === selected} menu={menu(pipeline)} onSelect={() => select(pipeline.pipeline_id)} />
          ))}
        </ul>
        {pipelines.hasNextPage && (
          <Button kind="quiet" className="m-4" busy={pipelines.isFetchingNextPage} onClick={() => void pipelines.fetchNextPage()}>
            Show more
          </Button>
        )}
        <Deleted open={search.deleted !== undefined} off={mayChange} bring={bring} onOpen={(next) => void navigate({ search: (now) => ({ ...now, deleted: next ? '1' : undefined }), replace: true })} />
      </div>
      {search.new === 'file' && <ApplyFile onClose={() => make(undefined)} off={mayChange} />}
      {search.new !== undefined && search.new !== 'file' && <NewPipeline onClose={() => make(undefined)} onFile={() => make('file')} off={mayChange} />}
      {act?.kind === 'start' && <StartRun pipeline={act.pipeline} onClose={() => setAct(undefined)} />}
      {act?.kind === 'delete' && <DeletePipeline pipeline={act.pipeline} onClose={() => setAct(undefined)} />}
    </Page>
  );
}

/** The file under the name that the server gives it. */
function download(pipeline: string): void {
  const link = document.createElement('a');
  link.href = `/api/pipelines/${pipeline}/export`;
  link.download = '';
  link.click();
}
