/**
 * Adds what is said to what was said, so that a conversation of thousands of messages is not asked for again with
 * every message. The log has no gaps, so adding is enough; what is being asked for right now is asked for again.
 */
import type { QueryClient, QueryKey } from '@tanstack/react-query';
import { keys } from '../keys';
import type { Event, Message, Usage } from '../types';
import { again } from './again';

interface Listed<Item> {
  items: Item[];
}

interface Said {
  agent?: string;
  role?: string;
  content?: unknown;
  usage?: Partial<Usage> & { cost_micros?: number };
  about?: { scripted?: boolean };
  /** Too much for the log: the whole is elsewhere. */
  more?: string;
  /** Its words are in no event; who may read them asks for the conversation. */
  hidden?: boolean;
}

/** A message as the conversation lists it; nothing, where the event has only a part of it. */
export function spoken(event: Event): Message | undefined {
  const said = event.metadata as Said;
  if (said.more || said.hidden || !said.role) return undefined;
  const { cost_micros = 0, ...usage } = said.usage ?? {};
  const none = { calls: 0, input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };
  return {
    message_id: event.event_id,
    timestamp: event.timestamp,
    agent_name: said.agent ?? null,
    role: said.role,
    content: plain(said.content),
    parts: said.content,
    usage: { ...none, ...usage, cost_usd: cost_micros / 1e6 },
    scripted: said.about?.scripted === true,
    shown: true,
  } as Message;
}

const plain = (content: unknown): string =>
  typeof content === 'string' ? content : Array.isArray(content) ? content.flatMap((part: { text?: unknown }) => (typeof part.text === 'string' ? [part.text] : [])).join('\n') : '';

function add<Item>(queries: QueryClient, queryKey: QueryKey, item: Item | undefined, known?: (items: readonly Item[]) => boolean): void {
  const state = queries.getQueryState<Listed<Item>>(queryKey);
  if (!state) return;
  if (item === undefined || state.fetchStatus === 'fetching' || !state.data) return again(queries, queryKey);
  if (known?.(state.data.items)) return;
  queries.setQueryData<Listed<Item>>(queryKey, (now) => now && { ...now, items: [...now.items, item] });
}

/** Puts an event where it is shown. */
export function hear(queries: QueryClient, event: Event): void {
  const { event_type: type, execution_id: execution, run_id: run } = event;
  const said = (items: readonly Message[]) => items.some((item) => item.message_id === event.event_id);
  if (type === 'execution.message' && execution) return add(queries, keys.conversation(execution), spoken(event), said);
  const known = (items: readonly Event[]) => (items.at(-1)?.seq ?? 0) >= event.seq;
  if (type === 'execution.tool_result' && execution) return add(queries, keys.tools(execution), event, known);
  if (run) add(queries, keys.runEvents(run), event, known);
}
