/** One run: the strip of checkpoints, the timeline and its steps, and beside it what was said, given, made and spent. */
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Problem } from '@/api/problem';
import type { Run } from '@/api/types';
import { isMine } from '@/model/rights';
import { run as runStatus } from '@/model/status';
import { Badge } from '@/ui/Badge';
import { Button } from '@/ui/Button';
import { useOnePane, usePhone } from '@/ui/media';
import { Crumbs, Page } from '@/ui/page';
import { useShortcut } from '@/ui/shortcuts';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { TabPanel, Tabs } from '@/ui/Tabs';
import { Track } from '@/ui/Track';
import { Actions, Asked, useActs } from './Actions';
import { ArtifactsTab, useRunArtifacts } from './ArtifactsTab';
import { ContextTab } from './ContextTab';
import { Conversation } from './Conversation';
import { CostTab } from './CostTab';
import { EventsTab } from './EventsTab';
import { LogsTab } from './LogsTab';
import { RunFacts } from './RunFacts';
import { Steps } from './Steps';
import { Timeline } from './Timeline';
import { type RunView, TABS, useRunView } from './useRunView';
import { Waits } from './Waits';

export default function RunScreen() {
  const view = useRunView();
  const { run } = view;
  const navigate = useNavigate();
  const { runId } = useParams({ from: '/shell/runs/$runId' });
  // What was rolled back is read where it can be brought back.
  const gone = run.error != null && Problem.of(run.error).status === 410;
  if (run.error || !run.data) {
    return (
      <Page title="Run">
        {run.error ? (
          <ErrorBlock
            title={gone ? 'This run was rolled back' : 'The run could not be read'}
            problem={run.error}
            className="m-5 max-w-[560px]"
            action={
              gone ? (
                <Button size="small" onClick={() => void navigate({ to: '/runs/$runId/rollback', params: { runId } })}>
                  See the rollback
                </Button>
              ) : (
                <Button size="small" onClick={() => void run.refetch()}>
                  Try again
                </Button>
              )
            }
          />
        ) : (
          <Loading label="Run" />
        )}
      </Page>
    );
  }
  return <Shown run={run.data} view={view} />;
}

function Shown({ run, view }: { run: Run; view: RunView }) {
  const { me, stops, stop } = view;
  const acts = useActs(view, run);
  const phone = usePhone();
  const onePane = useOnePane();
  const [fold, setFold] = useState(true);
  useKeys(view, acts.review);
  const status = runStatus(run, (waiting) => isMine(me, waiting));
  const name = run.pipeline_name ?? 'Run';
  const version = `v${run.run_version ?? ''}`;
  const reasons = why([
    ['Compare', acts.off.compare],
    ['Note', acts.off.note],
    run.status === 'paused' ? ['Resume', acts.off.resume] : ['Pause', run.pause_requested ? undefined : acts.off.pause],
  ]);
  const crumb = run.pipeline_id ? (
    <Link key="pipeline" to="/pipelines/$pipelineId" params={{ pipelineId: run.pipeline_id }} className="truncate hover:text-ink hover:underline">
      {name}
    </Link>
  ) : (
    name
  );
  const timeline = (
    <>
      <Timeline view={view} fold={fold} onFold={() => setFold(!fold)} phone={phone} />
      <Steps view={view} />
    </>
  );
  const read = view.checkpoints.error ?? view.events.error;
  return (
    <Page title={`${name} ${version}`} heading={<Crumbs>{phone ? [version] : [crumb, version]}</Crumbs>} meta={<Badge status={status} />} actions={<Actions run={run} view={view} acts={acts} />}>
      <div className={onePane ? 'scroll-pane min-h-0 flex-1' : 'flex min-h-0 flex-1 flex-col'}>
        {acts.problem && !acts.asking && <ErrorBlock title="That was not done" problem={acts.problem} className="mx-5 mt-3 max-tablet:mx-4" />}
        {phone && <Waits run={run} view={view} />}
        <RunFacts run={run} view={view} reasons={reasons} phone={phone} />
        <div className="flex-none px-5 pt-[14px] pb-2 max-tablet:px-4">
          <Track label="Checkpoints" stops={stops} current={stop?.id} onSelect={view.select} end={view.end} />
        </div>
        {read && <ErrorBlock title="What happened could not be read" problem={read} className="mx-5 mb-3" />}
        {onePane ? (
          <Pane run={run} view={view} first={timeline} phone={phone} />
        ) : (
          <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)_470px] border-t border-line huge:grid-cols-[minmax(0,1fr)_480px]">
            <div className="scroll-pane flex min-h-0 flex-col">{timeline}</div>
            <Pane run={run} view={view} phone={phone} />
          </div>
        )}
      </div>
      <Asked acts={acts} />
    </Page>
  );
}

/** Why acts are off, each reason once: "Note and Pause are off: the run has ended." */
function why(acts: readonly (readonly [string, string | undefined])[]): string[] {
  const reasons = new Map<string, string[]>();
  for (const [name, reason] of acts) if (reason) reasons.set(reason, [...(reasons.get(reason) ?? []), name]);
  return [...reasons].map(([reason, names]) => `${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'} off: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`);
}

const NAMES = { conversation: 'Conversation', context: 'Context', artifacts: 'Artifacts', logs: 'Logs', events: 'Events', cost: 'Cost' };

/** The tabs; where there is one pane only, the timeline is the first of them. */
function Pane({ run, view, first, phone }: { run: Run; view: RunView; first?: React.ReactNode; phone: boolean }) {
  const artifacts = useRunArtifacts(view.runId);
  const tabs = TABS.map((value) => ({ value: value as string, label: NAMES[value], ...(value === 'artifacts' && artifacts.items?.length ? { count: artifacts.items.length } : {}) }));
  const shown = first && !view.search.tab ? 'timeline' : view.tab;
  const pending = view.stop && !view.execution;
  const body = (content: React.ReactNode) =>
    pending ? (
      <Empty title={`${view.stop?.name ?? 'This checkpoint'} has not begun`}>When the run reaches it, what it is given, what is said and what it makes stand here.</Empty>
    ) : view.execution ? (
      content
    ) : view.checkpoints.isPending ? (
      <Loading label={NAMES[view.tab]} />
    ) : (
      <Empty title="The run has not begun">Start it, and what happens stands here.</Empty>
    );
  const height = first ? 'h-[max(420px,70dvh)]' : 'min-h-0 flex-1';
  return (
    <Tabs
      value={shown}
      onChange={(tab) => view.go({ tab: tab === 'timeline' ? undefined : tab, artifact: undefined })}
      label="About this checkpoint"
      tabs={first ? [{ value: 'timeline', label: 'Timeline' }, ...tabs] : tabs}
      className={first ? 'border-t border-line' : 'min-w-0 border-l border-line'}
    >
      {first && <TabPanel value="timeline">{first}</TabPanel>}
      {(
        [
          ['conversation', <Conversation key={`c${view.execution?.execution_id ?? ''}`} view={view} />],
          ['context', <ContextTab key={`x${view.execution?.execution_id ?? ''}`} view={view} />],
          ['logs', <LogsTab key={`l${view.execution?.execution_id ?? ''}`} view={view} />],
        ] as const
      ).map(([name, content]) => (
        <TabPanel key={name} value={name} className={height}>
          {shown === name && body(content)}
        </TabPanel>
      ))}
      <TabPanel value="artifacts" className={height}>
        {shown === 'artifacts' && <ArtifactsTab view={view} />}
      </TabPanel>
      <TabPanel value="events" className={height}>
        {shown === 'events' && <EventsTab view={view} />}
      </TabPanel>
      <TabPanel value="cost" className={height}>
        {shown === 'cost' && <CostTab view={view} />}
      </TabPanel>
      {!phone && <Waits run={run} view={view} />}
    </Tabs>
  );
}

function useKeys(view: RunView, review: () => void): void {
  const { stops, stop, rows, row, go } = view;
  const at = stops.findIndex((one) => one.id === stop?.id);
  const walk = (by: number) => {
    const next = stops[Math.max(0, Math.min(stops.length - 1, at + by))];
    if (next && next.id !== stop?.id) view.select(next.id);
  };
  const step = (by: number) => {
    const now = rows.findIndex((one) => one.key === row?.key);
    const next = rows[Math.max(0, Math.min(rows.length - 1, now + by))];
    if (next) view.selectRow(next);
  };
  useShortcut('h', 'checkpoint', () => walk(-1), { order: 5, repeats: true });
  useShortcut('l', 'checkpoint', () => walk(1), { order: 5, repeats: true });
  useShortcut('j', 'row', () => step(1), { order: 6, repeats: true });
  useShortcut('k', 'row', () => step(-1), { order: 6, repeats: true });
  useShortcut(view.execution?.waiting_for ? 'enter' : undefined, 'open', review, { order: 7 });
  const tab = (name: string) => () => go({ tab: name, artifact: undefined });
  useShortcut('1', 'tabs', tab('conversation'), { order: 30 });
  useShortcut('2', 'tabs', tab('context'), { order: 30 });
  useShortcut('3', 'tabs', tab('artifacts'), { order: 30 });
  useShortcut('4', 'tabs', tab('logs'), { order: 30 });
  useShortcut('5', 'tabs', tab('events'), { order: 30 });
  useShortcut('6', 'tabs', tab('cost'), { order: 30 });
}
