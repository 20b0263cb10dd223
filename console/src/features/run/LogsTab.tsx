/** What the work printed, live: levels, stack traces in one piece, and a way to find something. */
import clsx from 'clsx';
import { memo, useMemo, useState } from 'react';
import { useLogs } from '@/api/hooks/executions';
import { count } from '@/model/figures';
import { filterLogs, type LogEntry, logEntries, type MadeAgent } from '@/model/logs';
import { Avatar } from '@/ui/Avatar';
import { Button } from '@/ui/Button';
import { Input } from '@/ui/fields';
import { StatusMark } from '@/ui/Icon';
import { Earlier } from '@/ui/Earlier';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { SegmentedControl } from '@/ui/Tabs';
import { VirtualList } from '@/ui/VirtualList';
import { Time } from '@/ui/values';
import type { RunView } from './useRunView';

const LEVELS = [
  { value: 'info', label: 'All' },
  { value: 'warning', label: 'Warnings' },
  { value: 'error', label: 'Errors' },
];

export function LogsTab({ view }: { view: RunView }) {
  const { execution } = view;
  const working = execution?.status === 'in_progress';
  const logs = useLogs(execution?.execution_id, working);
  const [level, setLevel] = useState('info');
  const [find, setFind] = useState('');
  const [atEnd, setAtEnd] = useState(true);
  const [left, setLeft] = useState(0);
  const all = useMemo(() => logEntries(logs.data?.items ?? []), [logs.data]);
  const shown = useMemo(() => filterLogs(all, level, find), [all, level, find]);
  // What was the first line stays in sight when others come before it.
  const [kept, setKept] = useState<string>();
  const showEarlier = () => {
    setKept(shown[0]?.key);
    logs.showEarlier();
  };
  const newBelow = atEnd ? 0 : Math.max(0, shown.length - left);
  if (logs.error) return <ErrorBlock title="The log could not be read" problem={logs.error} className="m-5" />;
  if (logs.isPending) return <Loading label="Logs" />;
  if (all.length === 0) return <Empty title="Nothing was logged">What a script prints, and what happens around the work, stands here line by line.</Empty>;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-none flex-wrap items-center gap-2 border-b border-line px-5 py-1.5 max-tablet:px-4">
        <Input find placeholder="Find in it" aria-label="Find in the log" value={find} onChange={(event) => setFind(event.target.value)} className="min-w-0 flex-1" />
        <SegmentedControl label="Level" value={level} onChange={setLevel} segments={LEVELS} />
      </div>
      <Earlier what="lines" lists={[logs]} onShow={showEarlier} />
      <div className="relative min-h-0 flex-1">
        {shown.length === 0 ? (
          <p className="p-5 text-ink-2">No line is like that.</p>
        ) : (
          <VirtualList
            items={shown}
            keyOf={(one) => one.key}
            draw={(one) => <Line entry={one} />}
            height={24}
            label="Log"
            follow={working && atEnd}
            active={kept ? shown.findIndex((one) => one.key === kept) : undefined}
            onAtEnd={(end) => {
              setAtEnd(end);
              if (!end && atEnd) setLeft(shown.length);
            }}
            className="h-full py-1"
          />
        )}
        {newBelow > 0 && (
          <Button size="small" icon="down" className="absolute! bottom-3 left-1/2 -translate-x-1/2 shadow-2!" onClick={() => setAtEnd(true)}>
            {count(newBelow)} new below
          </Button>
        )}
      </div>
    </div>
  );
}

const Line = memo(function Line({ entry }: { entry: LogEntry }) {
  const { level, trace, agents, details } = entry;
  const more = trace.length === 0 && agents.length === 0 && details !== null;
  return (
    <div className={clsx('grid grid-cols-[62px_16px_minmax(0,1fr)] gap-x-2 px-5 py-[3px] max-tablet:px-4', level === 'error' && 'bg-fail-wash')}>
      <Time at={entry.at} as="second" className="pt-px text-ink-3" />
      <span className="pt-px">{level === 'error' ? <StatusMark icon="failed" tone="fail" label="Error" size={14} /> : level === 'warning' ? <StatusMark icon="note" tone="ink-2" label="Warning" size={14} /> : null}</span>
      <div className="min-w-0">
        <span className={clsx('font-mono text-[12px] leading-[18px] [overflow-wrap:anywhere] whitespace-pre-wrap', level === 'error' && 'font-medium text-fail')}>{entry.text}</span>
        {trace.length > 0 && (
          <details>
            <summary className="cursor-pointer text-small text-ink-2">Stack trace, {trace.length} lines</summary>
            <pre tabIndex={0} className="scroll-pane font-mono text-[12px] leading-[18px]">
              {trace.join('\n')}
            </pre>
          </details>
        )}
        {more && <span className="fact text-ink-3"> {brief(details)}</span>}
        {agents.length > 0 && <MadeAgents agents={agents} />}
      </div>
    </div>
  );
});

const brief = (details: unknown): string =>
  typeof details === 'object' && details !== null
    ? Object.entries(details)
        .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(', ')
    : String(details);

/** The agents that a meta-agent made. */
export function MadeAgents({ agents }: { agents: readonly MadeAgent[] }) {
  return (
    <ul aria-label="Agents that were made" className="my-1 rounded-2 border border-line">
      {agents.map((agent) => (
        <li key={agent.name} className="border-t border-line first:border-t-0">
          <details>
            <summary className="flex min-h-8 cursor-pointer items-center gap-2 px-2">
              <Avatar name={agent.name} kind="agent" />
              <span className="font-name">{agent.name}</span>
              <span className="truncate text-small text-ink-3">{agent.role}</span>
            </summary>
            <dl className="px-2 pb-2 text-small">
              <dt className="label">System prompt</dt>
              <dd className="whitespace-pre-wrap">{agent.system_prompt}</dd>
              <dt className="label mt-1">Task</dt>
              <dd className="whitespace-pre-wrap">{agent.task_prompt}</dd>
            </dl>
          </details>
        </li>
      ))}
    </ul>
  );
}
