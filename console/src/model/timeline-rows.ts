/** What happened in a run, as rows of bars: one row per try or revision. From the log and from what agents said. */
import type { Event, Execution, Message, Usage } from '@/api/types';
import { calls, toolAbout } from './messages';
import type { StatusIcon, Tone } from './status';

/** `work` is a script, or an agent of which nothing was heard. `delay` is the time until a failed try is done again. */
export type BarKind = 'turn' | 'tool' | 'work' | 'check' | 'wait' | 'delay';

export interface Bar {
  key: string;
  kind: BarKind;
  /** Milliseconds. */
  from: number;
  /** Nothing: it goes on. */
  to: number | undefined;
  /** Who or what. */
  name: string;
  about?: string | undefined;
  /** How it ended, where that is worth a word. */
  word?: string | undefined;
  bad?: boolean | undefined;
  usage?: Usage | undefined;
  /** The message that it is, in the conversation. */
  message?: string | undefined;
}

export interface Row {
  /** `{execution}@{revision}.{attempt}`, as comparisons name it. */
  key: string;
  execution: string;
  checkpoint: string;
  /** Whether it is the first of its checkpoint. */
  first: boolean;
  label: string;
  revision: number;
  attempt: number;
  bars: Bar[];
  end: { icon: StatusIcon; tone: Tone; word: string } | undefined;
}

/** What agents said in an execution, and what their tools answered. */
export interface Talk {
  messages: readonly Message[];
  tools: readonly Event[];
}

type Known = Pick<Execution, 'execution_id' | 'checkpoint_name' | 'checkpoint_position' | 'mode' | 'status' | 'created_at'>;

interface Open {
  rows: Row[];
  /** A row that a question opened before the work began. */
  fresh: boolean;
  wait: Bar | undefined;
  work: Bar | undefined;
  check: number | undefined;
  /** Whether a budget that is asked about belongs to a check. */
  checks: boolean;
  failed: number | undefined;
  retried: { at: number; by: string } | undefined;
}

const time = (text: string) => new Date(text).getTime();
/** Two things at the same moment are one moment apart, so that each has a place. */
const MOMENT = 1;

export function rows(events: readonly Event[], executions: readonly Known[], talk: ReadonlyMap<string, Talk> = new Map()): Row[] {
  const known = new Map(executions.map((one) => [one.execution_id, one]));
  const open = new Map<string, Open>();
  const end = (id: string, at: number) => close(open.get(id), at);
  for (const event of events) {
    const at = time(event.timestamp);
    if (['run.failed', 'run.aborted', 'run.completed'].includes(event.event_type)) for (const id of open.keys()) end(id, at);
    const execution = event.execution_id ? known.get(event.execution_id) : undefined;
    if (!execution) continue;
    const state = open.get(execution.execution_id) ?? { rows: [], fresh: false, wait: undefined, work: undefined, check: undefined, checks: false, failed: undefined, retried: undefined };
    open.set(execution.execution_id, state);
    step(state, execution, event, at);
  }
  const all: Row[] = [];
  for (const execution of [...executions].sort(inOrder)) {
    const state = open.get(execution.execution_id);
    if (!state) continue;
    speak(state, talk.get(execution.execution_id), execution);
    const revisions = state.rows.some((row) => row.revision > 0);
    const tries = new Set(state.rows.filter((row) => row.attempt > 1).map((row) => row.revision));
    state.rows.forEach((row, at) => {
      row.first = at === 0;
      row.label = label(row, execution, revisions, tries.has(row.revision));
    });
    all.push(...state.rows);
  }
  return all;
}

const inOrder = (a: Known, b: Known) => a.checkpoint_position - b.checkpoint_position || (a.created_at < b.created_at ? -1 : 1);

function label(row: Row, execution: Known, revisions: boolean, tries: boolean): string {
  const attempt = `try ${row.attempt}`;
  if (revisions) return `rev ${row.revision + 1}${tries ? `, ${attempt}` : ''}`;
  return execution.mode === 'human_only' ? 'form' : attempt;
}

function newRow(state: Open, execution: Known, revision: number, attempt: number): Row {
  const name = execution.checkpoint_name ?? `Checkpoint ${execution.checkpoint_position + 1}`;
  const row: Row = { key: `${execution.execution_id}@${revision}.${attempt}`, execution: execution.execution_id, checkpoint: name, first: false, label: '', revision, attempt, bars: [], end: undefined };
  state.rows.push(row);
  return row;
}

function close(state: Open | undefined, at: number, more: Partial<Bar> = {}): void {
  if (!state) return;
  for (const bar of [state.wait, state.work]) if (bar && bar.to === undefined) Object.assign(bar, { to: at, ...more });
  state.wait = undefined;
  state.work = undefined;
}

const ANSWERS: Record<string, string> = {
  'execution.approved': 'approved',
  'execution.submitted': 'answered',
  'execution.revision_requested': 'sent back',
  'execution.rejected': 'rejected',
  'execution.budget_raised': 'raised the budget',
};

function step(state: Open, execution: Known, event: Event, at: number): void {
  const { metadata } = event;
  const last = () => state.rows.at(-1) ?? newRow(state, execution, 0, 1);
  const add = (bar: Omit<Bar, 'key'>): Bar => {
    const row = last();
    const made = { key: `${row.key}/${row.bars.length}`, ...bar };
    row.bars.push(made);
    return made;
  };
  const wait = (about: string) => {
    close(state, at);
    state.wait = add({ kind: 'wait', from: at, to: undefined, name: 'a person', about });
  };
  const begin = () => {
    state.work = add({ kind: 'work', from: at, to: undefined, name: execution.checkpoint_name ?? 'Work' });
  };
  const byPerson = event.actor.kind === 'person';
  switch (event.event_type) {
    case 'execution.waiting': {
      const { ask } = metadata;
      // Steps that wait to be started or to be tried again are drawn when that happens.
      if (ask === 'begin' || ask === 'failed') return;
      if (state.rows.length === 0) state.fresh = true;
      // An attempt that begins with a question has not worked yet.
      if (state.work?.from === at) last().bars.pop();
      const budget = typeof ask === 'object' && ask !== null ? (ask as { budget?: unknown[] }).budget : undefined;
      state.checks = budget?.[1] === 'check';
      wait(ask === 'form' ? 'Fills in a form.' : ask === 'input' ? 'Answers a question.' : event.description);
      return;
    }
    case 'execution.started': {
      const revision = number(metadata.revision_iteration) ?? 0;
      const attempt = number(metadata.attempt_number) ?? 1;
      if (state.fresh) state.fresh = false;
      else {
        close(state, at);
        newRow(state, execution, revision, attempt);
        const { retried, failed } = state;
        if (retried && failed !== undefined) add({ kind: 'wait', from: failed, to: retried.at, name: retried.by, word: 'tried again' });
      }
      state.failed = undefined;
      state.retried = undefined;
      begin();
      return;
    }
    case 'execution.approved':
    case 'execution.submitted':
    case 'execution.revision_requested':
    case 'execution.rejected':
    case 'execution.budget_raised': {
      const word = ANSWERS[event.event_type];
      const before = state.fresh;
      // What was approved waits no longer.
      close(state, at, { name: event.actor.name, word, ...(event.event_type === 'execution.approved' ? { about: undefined } : {}) });
      const row = last();
      if (event.event_type === 'execution.revision_requested') row.end = { icon: 'sent-back', tone: 'ink-2', word: `Sent back by ${event.actor.name}` };
      else if (event.event_type === 'execution.rejected') row.end = { icon: 'aborted', tone: 'ink-3', word: `Not started, said ${event.actor.name}` };
      else if (event.event_type === 'execution.budget_raised') {
        if (state.checks) state.check = at;
        else begin();
      } else if (event.event_type === 'execution.submitted') {
        if (execution.mode === 'human_only') row.end = { icon: 'person-done', tone: 'ink-2', word: `Filled in by ${event.actor.name}` };
        else if (execution.mode === 'script') begin();
      } else if (!before) row.end = { icon: 'person-done', tone: 'ink-2', word: `Approved by ${event.actor.name}` };
      return;
    }
    case 'execution.worked':
      close(state, at);
      if (metadata.judge) state.check = at;
      return;
    case 'execution.checked': {
      const passed = metadata.passed === true;
      const reasons = Array.isArray(metadata.reasons) ? (metadata.reasons as string[]).join(' ') : '';
      add({ kind: 'check', from: state.check ?? at, to: Math.max(at, (state.check ?? at) + MOMENT), name: 'Checks', about: reasons || undefined, word: passed ? 'passed' : 'not passed', bad: !passed });
      state.check = undefined;
      if (!passed) last().end ??= { icon: 'failed', tone: 'fail', word: 'Checks did not pass' };
      return;
    }
    case 'execution.attempt_failed':
    case 'execution.failed': {
      const failure = metadata.failure as { type?: string; message?: string } | undefined;
      close(state, at, { bad: true, word: failure?.message });
      last().end = { icon: 'failed', tone: 'fail', word: failure?.message ?? 'Failed' };
      const retry = number(metadata.retry_at);
      if (event.event_type === 'execution.failed') state.failed = at;
      else if (retry !== undefined && retry / 1000 > at) add({ kind: 'delay', from: at, to: retry / 1000, name: 'Until the next try' });
      return;
    }
    case 'execution.retried':
      state.retried = { at, by: event.actor.name };
      return;
    case 'execution.completed':
      close(state, at);
      last().end ??= { icon: byPerson && execution.mode === 'human_only' ? 'person-done' : 'done', tone: 'ink-2', word: 'Done' };
      return;
    case 'execution.skipped':
      close(state, at);
      last().end = { icon: 'skipped', tone: 'ink-3', word: 'Skipped' };
  }
}

const number = (value: unknown) => (typeof value === 'number' ? value : undefined);

/** Puts model turns and tools where the work of an agent was. */
function speak(state: Open, talk: Talk | undefined, execution: Known): void {
  if (execution.mode !== 'agentic' || !talk || talk.messages.length === 0) return;
  const answers = [...talk.tools].sort((a, b) => a.seq - b.seq);
  state.rows.forEach((row, at) => {
    const work = row.bars.filter((bar) => bar.kind === 'work');
    const [first] = work;
    if (!first) return;
    const next = state.rows[at + 1]?.bars[0]?.from ?? Number.POSITIVE_INFINITY;
    const inside = (text: string) => time(text) >= first.from && time(text) < next;
    const messages = talk.messages.filter((one) => inside(one.timestamp));
    if (messages.length === 0) return;
    const bars: Bar[] = [];
    const tools = answers.filter((event) => inside(event.timestamp));
    /** When an agent last heard or said something. */
    const heard = new Map<string, number>();
    /** Whose answer is waited for. */
    const asked = new Set<string>();
    /** Calls that nothing was heard of yet, by agent. */
    const calling = new Map<string, { bar: Bar; call: string }[]>();
    let result = 0;
    const answerUntil = (until: number) => {
      for (; result < tools.length; result += 1) {
        const event = tools[result];
        if (!event || time(event.timestamp) > until) return;
        const agent = String(event.metadata.agent ?? '');
        const open = calling.get(agent);
        const waiting = open?.findIndex((one) => one.call === event.metadata.call) ?? -1;
        const [answered] = waiting < 0 ? [] : (open?.splice(waiting, 1) ?? []);
        if (answered) Object.assign(answered.bar, { to: Math.max(time(event.timestamp), answered.bar.from + MOMENT), bad: event.metadata.error === true || undefined });
        heard.set(agent, time(event.timestamp));
        asked.add(agent);
      }
    };
    for (const message of messages) {
      const when = time(message.timestamp);
      answerUntil(when);
      const agent = message.agent_name ?? '';
      if (message.role === 'assistant') {
        const from = Math.min(heard.get(agent) ?? first.from, when - MOMENT);
        bars.push({ key: `${row.key}/m${message.message_id}`, kind: 'turn', from, to: when, name: agent || 'Agent', usage: message.usage, message: message.message_id });
        asked.delete(agent);
        // Calls that nothing was heard of end when their agent speaks again.
        for (const one of calling.get(agent) ?? []) one.bar.to = when;
        const called = calls(message).map((call) => ({ call: call.id, bar: { key: `${row.key}/t${message.message_id}${call.id}`, kind: 'tool', from: when, to: undefined, name: call.name, about: toolAbout(call), message: message.message_id } as Bar }));
        bars.push(...called.map((one) => one.bar));
        calling.set(agent, called);
      } else if (message.role === 'user') asked.add(agent);
      heard.set(agent, when);
    }
    answerUntil(Number.POSITIVE_INFINITY);
    const left = [...calling.values()].flat();
    const final = work.at(-1);
    const ended = final?.to;
    if (ended !== undefined) {
      // A call that nothing answered, such as that of a meta-agent, ends with what came next.
      const next = (from: number) => messages.map((one) => time(one.timestamp)).find((moment) => moment > from) ?? ended;
      for (const { bar } of left) bar.to = Math.max(next(bar.from), bar.from + MOMENT);
    } else if (left.length === 0) {
      for (const agent of asked) bars.push({ key: `${row.key}/now${agent}`, kind: 'turn', from: heard.get(agent) ?? first.from, to: undefined, name: agent || 'Agent' });
    }
    const bad = final?.bad ? { key: `${row.key}/bad`, kind: 'work' as const, from: heard.size ? Math.max(...heard.values()) : first.from, to: ended, name: final.name, word: final.word, bad: true } : undefined;
    row.bars = [...row.bars.filter((bar) => bar.kind !== 'work'), ...bars, ...(bad ? [bad] : [])].sort((a, b) => a.from - b.from || order(a) - order(b));
  });
}

const order = (bar: Bar) => (bar.kind === 'turn' ? 0 : 1);

/** How long people were waited for, each moment counted once. */
export function waited(all: readonly Row[], now: number): number {
  const waits = all.flatMap((row) => row.bars.filter((bar) => bar.kind === 'wait')).map((bar) => [bar.from, bar.to ?? now] as const);
  waits.sort((a, b) => a[0] - b[0]);
  let total = 0;
  let until = 0;
  for (const [from, to] of waits) {
    total += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return total;
}
