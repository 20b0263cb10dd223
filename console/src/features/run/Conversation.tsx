/** The conversation, as it is spoken: it follows until the reader scrolls up, and then says how much is new below. */
import { useCallback, useMemo, useState } from 'react';
import { useSpeaking } from '@/api/live/deltas';
import { useAttempts } from '@/api/hooks/executions';
import { type Entry, entries, matches } from '@/model/conversation';
import { count } from '@/model/figures';
import { Button } from '@/ui/Button';
import { Input } from '@/ui/fields';
import { Earlier } from '@/ui/Earlier';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { VirtualList } from '@/ui/VirtualList';
import { MessageView, type Shown } from './MessageView';
import type { RunView } from './useRunView';

const NONE: never[] = [];

export function Conversation({ view }: { view: RunView }) {
  const { execution, conversation, interactions, tools, definition } = view;
  const id = execution?.execution_id ?? '';
  const attempts = useAttempts(execution?.execution_id);
  const speaking = useSpeaking(id);
  const [find, setFind] = useState('');
  const [given, setGiven] = useState(false);
  const messages = conversation.data?.items;
  const notes = useMemo(() => view.events.data?.items.filter((event) => event.event_type === 'execution.noted' && event.execution_id === id) ?? NONE, [view.events.data, id]);
  const people = interactions.items;
  const cut = conversation.hasEarlier;
  const all = useMemo(
    () => entries({ messages: messages ?? NONE, tools: tools.data?.items ?? NONE, people, notes, attempts: attempts.data?.items ?? NONE, cut }),
    [messages, tools.data, people, notes, attempts.data, cut],
  );
  // What was the first entry stays in sight when others come before it.
  const [kept, setKept] = useState<string>();
  const showEarlier = () => {
    setKept(all[0]?.key);
    conversation.showEarlier();
    interactions.showEarlier();
  };
  const shown = useMemo((): Shown[] => {
    const said = all.filter((entry) => (given || entry.kind !== 'told') && matches(entry, find));
    return find ? said : [...said, ...speaking.map((one) => ({ kind: 'live' as const, key: `live ${one.agent}`, ...one }))];
  }, [all, given, find, speaking]);
  const live = execution?.status === 'in_progress' && !execution.waiting_for;
  const [atEnd, setAtEnd] = useState(true);
  const [left, setLeft] = useState(0);
  const newBelow = atEnd ? 0 : Math.max(0, shown.length - left);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback(
    (key: string) =>
      setOpen((now) => {
        const next = new Set(now);
        if (!next.delete(key)) next.add(key);
        return next;
      }),
    [],
  );
  const { go } = view;
  const link = useCallback((message: string) => go({ message }), [go]);
  const wanted = view.search.message ?? kept;
  const active = wanted ? shown.findIndex((entry) => entry.key === wanted) : undefined;
  const following = live && atEnd && !view.search.message;
  if (conversation.error) return <ErrorBlock title="The conversation could not be read" problem={conversation.error} className="m-5" />;
  if (!execution) return null;
  if (conversation.isPending) return <Loading label="Conversation" />;
  const hidden = definition?.execution.agent_config?.show_conversation === false || messages?.some((one) => !one.shown);
  const words = messages?.some((message) => message.content !== '');
  if (!find && shown.every((entry) => entry.kind === 'attempt') && !all.some((entry) => entry.kind === 'told')) {
    return (
      <Empty title="Nothing was said yet">
        {execution.mode === 'agentic' ? 'What agents say stands here while they say it.' : execution.mode === 'script' ? 'A script does this checkpoint. What it prints stands in the logs.' : 'A person does this checkpoint. What they decide stands here.'}
      </Empty>
    );
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-none items-center gap-2 border-b border-line px-5 py-1.5 max-tablet:px-4">
        <Input find placeholder="Find in it" aria-label="Find in the conversation" value={find} onChange={(event) => setFind(event.target.value)} className="min-w-0 flex-1" />
        <Button kind="quiet" size="small" aria-pressed={given} onClick={() => setGiven(!given)}>
          {given ? 'Hide what they were told' : 'Show what they were told'}
        </Button>
      </div>
      {hidden && (
        <p className="flex-none border-b border-line px-5 py-1.5 text-small text-ink-3">
          {words ? 'The definition does not show this conversation. It is kept, and only an admin reads it.' : 'The definition does not show this conversation. Who spoke, when, and what it cost stands here; only an admin reads the words.'}
        </p>
      )}
      <Earlier what="messages" lists={[conversation, interactions]} onShow={showEarlier} />
      <div className="relative min-h-0 flex-1">
        {shown.length === 0 ? (
          <p className="p-5 text-ink-2">Nothing in it has that text.</p>
        ) : (
          <VirtualList
            items={shown}
            keyOf={(entry) => entry.key}
            draw={(entry) => <MessageView entry={entry} open={open} onToggle={toggle} onLink={link} marked={entry.key === view.search.message} />}
            height={96}
            label="Conversation"
            follow={following}
            active={active}
            onAtEnd={(end) => {
              setAtEnd(end);
              if (!end && atEnd) setLeft(shown.length);
            }}
            className="h-full"
          />
        )}
        {newBelow > 0 && (
          <Button size="small" icon="down" className="absolute! bottom-3 left-1/2 -translate-x-1/2 shadow-2!" onClick={() => setAtEnd(true)}>
            {count(newBelow)} new below
          </Button>
        )}
      </div>
      {/* Streaming text is not read out; that it ended is. */}
      <span role="status" className="sr-only">
        {!live && speaking.length === 0 && shown.length > 0 ? lastSaid(all) : ''}
      </span>
    </div>
  );
}

function lastSaid(all: readonly Entry[]): string {
  const last = all.findLast((entry) => entry.kind === 'said');
  return last?.kind === 'said' ? `${last.agent} has finished.` : '';
}
