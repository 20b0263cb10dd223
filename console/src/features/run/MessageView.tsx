/** One thing of a conversation. Round is an agent, square a person; no bubbles. Calls of tools are folded lines. */
import clsx from 'clsx';
import { memo, type MouseEvent } from 'react';
import type { Speaking } from '@/api/live/deltas';
import type { Entry, ToolUse } from '@/model/conversation';
import { count, money } from '@/model/figures';
import { toolTitle } from '@/model/messages';
import { clock, exact, took } from '@/model/time';
import { Avatar } from '@/ui/Avatar';
import { Tag } from '@/ui/Badge';
import { Icon, StatusMark } from '@/ui/Icon';

export type Shown = Entry | ({ kind: 'live'; key: string } & Speaking);

interface Props {
  entry: Shown;
  /** What is unfolded. */
  open: ReadonlySet<string>;
  onToggle: (key: string) => void;
  /** Told which one is to stand in the address. */
  onLink: (key: string) => void;
  marked: boolean;
}

export const MessageView = memo(function MessageView({ entry, open, onToggle, onLink, marked }: Props) {
  switch (entry.kind) {
    case 'attempt':
      return (
        <h3 className="flex h-8 items-center justify-between border-b border-line bg-canvas px-5 max-tablet:px-4">
          <span className="label">{entry.text}</span>
          <At at={entry.at} id={entry.key} onLink={onLink} />
        </h3>
      );
    case 'person':
      return (
        <Frame name={entry.name} kind="person" marked={marked} className="border-b border-line bg-canvas" meta={entry.verb} right={<At at={entry.at} id={entry.key} onLink={onLink} />}>
          {entry.text && <Text>{entry.text}</Text>}
        </Frame>
      );
    case 'told':
      return (
        <div className="px-5 py-1.5 pl-[52px] max-tablet:px-4 max-tablet:pl-12">
          <Fold id={entry.key} open={open} onToggle={onToggle} title={entry.role === 'system' ? 'system prompt' : 'told'} about={`${entry.agent}: ${entry.text.split('\n').find((line) => line.trim() && !line.startsWith('===')) ?? ''}`} right={`${count(entry.text.length)} characters`}>
            <pre className="font-mono text-[12px] leading-[18px] [overflow-wrap:anywhere] whitespace-pre-wrap">{entry.text}</pre>
          </Fold>
        </div>
      );
    case 'said': {
      const { usage } = entry;
      const figures = [usage.output_tokens > 0 ? `${count(usage.output_tokens)} tok` : '', usage.cost_usd > 0 ? money(usage.cost_usd) : ''].filter(Boolean).join(', ');
      return (
        <Frame
          name={entry.agent}
          kind="agent"
          marked={marked}
          meta={entry.turn ? `turn ${entry.turn}` : ''}
          tag={entry.scripted ? 'scripted' : undefined}
          right={
            <span className="flex items-center gap-2">
              {figures && <span className="fact text-ink-3">{figures}</span>}
              <At at={entry.at} id={entry.key} onLink={onLink} />
            </span>
          }
        >
          {entry.thinking && (
            <Fold id={`${entry.key} thinking`} open={open} onToggle={onToggle} title="thinking" about={entry.thinking} right="">
              <p className="whitespace-pre-wrap text-ink-2">{entry.thinking}</p>
            </Fold>
          )}
          {entry.text ? <Text>{entry.text}</Text> : entry.hidden && <p className="text-ink-3">Its words are kept, and not shown.</p>}
          {entry.tools.map((tool, at) => (
            <Tool key={tool.call.id + String(at)} id={`${entry.key} ${at}`} tool={tool} open={open} onToggle={onToggle} />
          ))}
        </Frame>
      );
    }
    case 'live':
      return (
        <div aria-live="off">
          <Frame name={entry.agent} kind="agent" live meta="writing" marked={false} right={undefined}>
            {entry.thinking && !entry.text && <p className="line-clamp-3 whitespace-pre-wrap text-ink-3">{entry.thinking}</p>}
            <Text>
              {entry.text}
              <span aria-hidden="true" className="ml-0.5 inline-block h-[14px] w-[7px] translate-y-[2px] animate-caret bg-live" />
            </Text>
          </Frame>
        </div>
      );
  }
});

interface FrameProps {
  name: string;
  kind: string;
  meta: string;
  tag?: string | undefined;
  right: React.ReactNode;
  live?: boolean;
  marked: boolean;
  className?: string;
  children: React.ReactNode;
}

function Frame({ name, kind, meta, tag, right, live = false, marked, className, children }: FrameProps) {
  return (
    <article className={clsx('grid grid-cols-[20px_minmax(0,1fr)] gap-x-3 px-5 py-2.5 max-tablet:px-4', marked && 'selected-row', className)}>
      <Avatar name={name} kind={kind} live={live} />
      <div className="min-w-0">
        <header className="-mt-0.5 flex min-h-6 items-center gap-2">
          <span className="truncate font-name">{name}</span>
          <span className={clsx('text-small whitespace-nowrap', live ? 'text-live' : 'text-ink-3')}>{meta}</span>
          {tag && <Tag>{tag}</Tag>}
          <span className="flex-1" />
          {right}
        </header>
        <div className="flex flex-col gap-1.5">{children}</div>
      </div>
    </article>
  );
}

const Text = ({ children }: { children: React.ReactNode }) => <div className="[overflow-wrap:anywhere] whitespace-pre-wrap">{children}</div>;

/** The time, which is the address of what was said. A router's link for each of thousands would cost more than it gives. */
function At({ at, id, onLink }: { at: string; id: string; onLink: (id: string) => void }) {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    onLink(id);
  };
  return (
    <a href={`?message=${encodeURIComponent(id)}`} onClick={follow} className="fact inline-flex min-h-6 min-w-6 items-center text-ink-3 hover:underline" title={exact(at)}>
      {clock(at)}
    </a>
  );
}

interface FoldProps {
  id: string;
  open: ReadonlySet<string>;
  onToggle: (key: string) => void;
  title: string;
  about: string;
  right: React.ReactNode;
  failed?: boolean;
  children: React.ReactNode;
}

/** One outlined line that opens in its place. */
function Fold({ id, open, onToggle, title, about, right, failed = false, children }: FoldProps) {
  const unfolded = open.has(id);
  return (
    <div className="rounded-1 border border-line">
      <button type="button" aria-expanded={unfolded} onClick={() => onToggle(id)} className="flex h-[26px] w-full items-center gap-2 px-2 font-mono max-tablet:h-11 text-[12px] hover:bg-hover max-tablet:h-9">
        {failed ? <StatusMark icon="failed" tone="fail" label="Failed" size={14} /> : <Icon name="tool" size={14} className="text-ink-3" />}
        <span className="flex-none">{title}</span>
        <span className="min-w-0 flex-1 truncate text-left text-ink-3">{about}</span>
        <span className="flex-none text-ink-3">{right}</span>
        <Icon name={unfolded ? 'down' : 'right'} size={14} className="text-ink-3" />
      </button>
      {unfolded && (
        <div tabIndex={0} role="region" aria-label={title} className="scroll-pane max-h-[360px] border-t border-line px-2 py-1.5">
          {children}
        </div>
      )}
    </div>
  );
}

function Tool({ id, tool, open, onToggle }: { id: string; tool: ToolUse; open: ReadonlySet<string>; onToggle: (key: string) => void }) {
  const { verb, object } = toolTitle(tool.call);
  const code = 'font-mono text-[12px] leading-[18px] [overflow-wrap:anywhere] whitespace-pre-wrap';
  const { content, ...rest } = tool.call.input as { content?: unknown };
  return (
    <Fold id={id} open={open} onToggle={onToggle} title={verb} about={object} failed={tool.failed} right={tool.took === undefined ? '' : took(tool.took)}>
      <p className="label">{tool.call.name} was given</p>
      <pre className={code}>{JSON.stringify(rest, null, 2)}</pre>
      {content !== undefined && <pre className={clsx(code, 'mt-1 border-t border-line pt-1')}>{typeof content === 'string' ? content : JSON.stringify(content, null, 2)}</pre>}
      <p className="label mt-1.5">{tool.failed ? 'It failed' : 'It answered'}</p>
      <pre className={code}>{tool.result ?? 'Nothing yet.'}</pre>
    </Fold>
  );
}
