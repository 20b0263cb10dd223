/** A conversation as it is read: who spoke, what tools answered, what people said in between. */
import type { Attempt, Event, Interaction, Message, Usage } from '@/api/types';
import { type Call, calls, thinking } from './messages';

export interface ToolUse {
  call: Call;
  /** What came back; nothing, while it works or where it is not known. */
  result: string | undefined;
  failed: boolean;
  took: number | undefined;
}

export type Entry =
  | { kind: 'attempt'; key: string; at: string; text: string }
  | { kind: 'told'; key: string; at: string; agent: string; role: string; text: string }
  | { kind: 'said'; key: string; at: string; agent: string; turn: number | undefined; text: string; thinking: string; scripted: boolean; hidden: boolean; usage: Usage; tools: ToolUse[] }
  | { kind: 'person'; key: string; at: string; name: string; verb: string; text: string };

type People = Pick<Interaction, 'interaction_id' | 'timestamp' | 'type' | 'user_input' | 'actor'>;
type Tries = Pick<Attempt, 'revision_iteration' | 'attempt_number' | 'started_at'>;

const VERBS: Record<string, string> = {
  approval_to_start: 'was asked to let it start',
  approval_to_complete: 'approved',
  revision_request: 'asked for a revision',
  script_input: 'answered the script',
  validation_feedback: 'gave guidance',
  budget: 'raised the budget',
  start: 'started it',
  form: 'filled in the form',
  retry: 'had it tried again',
  choice: 'chose',
};

function verb(type: string, text: string): string {
  if (type === 'approval_to_start') return text === 'approved' ? 'let it start' : 'did not let it start';
  if (type === 'approval_to_complete') return text === 'approved' ? 'approved' : 'edited and approved';
  return VERBS[type] ?? type.replaceAll('_', ' ');
}

/** Words that only say what the verb says already. */
const EMPTY = new Set(['approved', 'edited', 'edited and approved', 'start', 'retry']);

interface Given {
  messages: readonly Message[];
  /** `execution.tool_result` */
  tools: readonly Event[];
  people: readonly People[];
  /** `execution.noted` */
  notes: readonly Event[];
  attempts: readonly Tries[];
  /** Whether earlier messages are not here. */
  cut?: boolean;
}

/** All of it in the order in which it happened. */
export function entries({ messages, tools, people, notes, attempts, cut = false }: Given): Entry[] {
  const spoken = said(messages, tools, attempts, cut);
  const happened: Entry[] = [
    ...people.map((one): Entry => ({ kind: 'person', key: one.interaction_id, at: one.timestamp, name: one.actor ?? 'somebody', verb: verb(one.type, one.user_input), text: EMPTY.has(one.user_input) ? '' : one.user_input })),
    ...notes.map((one): Entry => ({ kind: 'person', key: one.event_id, at: one.timestamp, name: one.actor.name, verb: 'left a note', text: String(one.metadata.text ?? '') })),
    ...(attempts.length > 1 ? attempts.map((one): Entry => ({ kind: 'attempt', key: `${one.revision_iteration}.${one.attempt_number}`, at: one.started_at, text: attemptName(one, attempts) })) : []),
  ];
  // What people did in between stands with the messages that it belongs to.
  const begin = (cut && spoken[0]?.at) || '';
  const others = happened.filter((one) => compare(one.at, begin) >= 0);
  // A person's word comes before the attempt that it led to.
  const rank = (entry: Entry) => (entry.kind === 'person' ? 0 : entry.kind === 'attempt' ? 1 : 2);
  others.sort((a, b) => compare(a.at, b.at) || rank(a) - rank(b));
  const all: Entry[] = [];
  let next = 0;
  for (const entry of spoken) {
    for (; next < others.length && compare((others[next] as Entry).at, entry.at) <= 0; next += 1) all.push(others[next] as Entry);
    all.push(entry);
  }
  return [...all, ...others.slice(next)];
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** "Revision 2, try 1"; what is the same everywhere is left out. */
export function attemptName(one: Tries, all: readonly Tries[]): string {
  const revisions = all.some((other) => other.revision_iteration > 0);
  const tries = all.some((other) => other.revision_iteration === one.revision_iteration && other.attempt_number > 1);
  const attempt = `${revisions ? 'try' : 'Try'} ${one.attempt_number}`;
  return revisions ? `Revision ${one.revision_iteration + 1}${tries ? `, ${attempt}` : ''}` : attempt;
}

function said(messages: readonly Message[], tools: readonly Event[], attempts: readonly Tries[], cut: boolean): Entry[] {
  const results = new Map<string, Event[]>();
  for (const event of tools) {
    const key = `${String(event.metadata.agent ?? '')}/${String(event.metadata.call)}`;
    results.set(key, [...(results.get(key) ?? []), event]);
  }
  const starts = attempts.map((one) => one.started_at).sort();
  // Turns are counted from the beginning of a try, which is not known of the first one where messages are missing.
  const first = cut ? (messages[0]?.timestamp ?? '') : '';
  let begun = starts.filter((start) => compare(start, first) <= 0).length;
  let counted = !cut;
  let turn = 0;
  /** The turn of each agent, and whether its last message called tools: what it is told then is part of that turn. */
  const turns = new Map<string, { turn: number; calling: boolean }>();
  return messages.map((message): Entry => {
    while (begun < starts.length && compare(starts[begun] as string, message.timestamp) <= 0) {
      begun += 1;
      counted = true;
      turn = 0;
      turns.clear();
    }
    const agent = message.agent_name ?? (message.role === 'assistant' ? 'Agent' : 'Model');
    const now = turns.get(agent);
    if (message.role !== 'assistant') {
      if (message.role === 'user' && !now?.calling) turns.set(agent, { turn: (turn += 1), calling: false });
      return { kind: 'told', key: message.message_id, at: message.timestamp, agent, role: message.role, text: message.content };
    }
    const called = calls(message);
    const number = now?.turn ?? (turn += 1);
    turns.set(agent, { turn: number, calling: called.length > 0 });
    return {
      kind: 'said',
      key: message.message_id,
      at: message.timestamp,
      agent,
      turn: counted ? number : undefined,
      text: message.content,
      thinking: thinking(message),
      scripted: message.scripted,
      hidden: !message.shown,
      usage: message.usage,
      tools: called.map((call) => use(call, message, results.get(`${message.agent_name ?? ''}/${call.id}`))),
    };
  });
}

function use(call: Call, message: Message, results: readonly Event[] | undefined): ToolUse {
  // Names of calls come again in later attempts: the first answer after the message is the one.
  const event = results?.find((one) => compare(one.timestamp, message.timestamp) >= 0);
  if (!event) return { call, result: undefined, failed: false, took: undefined };
  const { content } = event.metadata;
  const took = new Date(event.timestamp).getTime() - new Date(message.timestamp).getTime();
  return { call, result: typeof content === 'string' ? content : JSON.stringify(content, null, 2), failed: event.metadata.error === true, took };
}

/** What a reader looks for in a conversation. */
export function matches(entry: Entry, wanted: string): boolean {
  const text = wanted.trim().toLowerCase();
  if (!text) return true;
  const parts: string[] = [];
  if (entry.kind === 'said') parts.push(entry.agent, entry.text, entry.thinking, ...entry.tools.flatMap((tool) => [tool.call.name, JSON.stringify(tool.call.input), tool.result ?? '']));
  else if (entry.kind === 'told') parts.push(entry.agent, entry.text);
  else if (entry.kind === 'person') parts.push(entry.name, entry.text);
  else parts.push(entry.text);
  return parts.some((part) => part.toLowerCase().includes(text));
}
