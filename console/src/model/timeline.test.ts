import { describe, expect, it } from 'vitest';
import type { Event, Message } from '@/api/types';
import { place, scale, ticks } from './timeline';
import { type Bar, type Row, rows, waited } from './timeline-rows';

const MINUTE = 60_000;
const START = Date.UTC(2026, 6, 14, 9, 2);
const at = (minutes: number) => new Date(START + minutes * MINUTE).toISOString();

let seq = 0;
const event = (minutes: number, event_type: string, metadata: Record<string, unknown> = {}, actor = { kind: 'system', name: 'holdpoint' }) =>
  ({ seq: (seq += 1), event_id: `e${seq}`, event_type, timestamp: at(minutes), actor, execution_id: 'x', metadata, description: event_type }) as unknown as Event;
const mara = { kind: 'person', name: 'Mara' };
const execution = (mode: string, more = {}) => ({ execution_id: 'x', checkpoint_name: 'Draft', checkpoint_position: 0, mode, status: 'in_progress', created_at: at(0), ...more }) as never;
const message = (id: string, minutes: number, role: string, agent: string, parts: unknown[] = []) =>
  ({ message_id: id, timestamp: at(minutes), role, agent_name: agent, content: '', parts, scripted: false, usage: { output_tokens: 5 } }) as unknown as Message;
const shape = (row: Row | undefined) => row?.bars.map((bar) => `${bar.kind} ${bar.name} ${(bar.from - START) / MINUTE}-${bar.to === undefined ? 'now' : (bar.to - START) / MINUTE}${bar.bad ? ' bad' : ''}`);

describe('rows', () => {
  it('has one row per revision, with the person that took time in it', () => {
    const all = rows(
      [
        event(0, 'execution.started'),
        event(4, 'execution.worked', { judge: true }),
        event(5, 'execution.checked', { passed: true }),
        event(5, 'execution.waiting'),
        event(26, 'execution.revision_requested', { feedback: 'No.' }, mara),
        event(26, 'execution.started', { revision_iteration: 1 }, mara),
      ],
      [execution('script')],
    );
    expect(all.map((row) => `${row.label} ${row.first}`)).toEqual(['rev 1 true', 'rev 2 false']);
    expect(shape(all[0])).toEqual(['work Draft 0-4', 'check Checks 4-5', 'wait Mara 5-26']);
    expect(all[0]?.end).toEqual({ icon: 'sent-back', tone: 'ink-2', word: 'Sent back by Mara' });
    expect(shape(all[1])).toEqual(['work Draft 26-now']);
    expect(all[1]?.key).toBe('x@1.1');
    expect(waited(all, START + 60 * MINUTE)).toBe(21 * MINUTE);
  });

  it('has one row per try, with the time until the next one, and who had it tried again', () => {
    const all = rows(
      [
        event(0, 'execution.started'),
        event(1, 'execution.attempt_failed', { failure: { message: 'no figures' }, retry_at: (START + 2 * MINUTE) * 1000 }),
        event(2, 'execution.started', { attempt_number: 2 }),
        event(3, 'execution.failed', { failure: { message: 'no figures' } }),
        event(33, 'execution.retried', {}, mara),
        event(33, 'execution.started', { attempt_number: 3 }, mara),
        event(34, 'execution.completed'),
      ],
      [execution('script')],
    );
    expect(all.map((row) => row.label)).toEqual(['try 1', 'try 2', 'try 3']);
    expect(all.map(shape)).toEqual([['work Draft 0-1 bad', 'delay Until the next try 1-2'], ['work Draft 2-3 bad'], ['wait Mara 3-33', 'work Draft 33-34']]);
    expect(all.map((row) => row.end?.icon)).toEqual(['failed', 'failed', 'done']);
  });

  it('draws forms and starts as a person’s time', () => {
    const all = rows(
      [
        event(0, 'execution.waiting'),
        event(2, 'execution.approved', {}, mara),
        event(2, 'execution.started', {}, mara),
        event(2, 'execution.waiting', { ask: 'form' }, mara),
        event(21, 'execution.submitted', {}, mara),
        event(21, 'execution.completed', {}, mara),
      ],
      [execution('human_only')],
    );
    expect(all.map((row) => row.label)).toEqual(['form']);
    expect(shape(all[0])).toEqual(['wait Mara 0-2', 'wait Mara 2-21']);
    expect(all[0]?.end?.icon).toBe('person-done');
  });

  it('draws what agents said and what their tools did, and who is asked right now', () => {
    const call = { type: 'tool_use', id: 'c1', name: 'file_operations', input: { operation: 'write', path: 'plan.md' } };
    const messages = [message('m1', 1, 'user', 'Writer'), message('m2', 3, 'assistant', 'Writer', [call]), message('m3', 5, 'assistant', 'Writer'), message('m4', 6, 'user', 'Critic')];
    const tools = [event(4, 'execution.tool_result', { agent: 'Writer', call: 'c1' })];
    const [row] = rows([event(0, 'execution.started')], [execution('agentic')], new Map([['x', { messages, tools }]]));
    expect(shape(row)).toEqual(['turn Writer 1-3', 'tool file_operations 3-4', 'turn Writer 4-5', 'turn Critic 6-now']);
    expect(row?.bars[1]?.about).toBe('write plan.md');
    expect(row?.bars[0]?.message).toBe('m2');
  });

  it('ends a call that nothing answered with what came next', () => {
    const call = { type: 'tool_use', id: 'c1', name: 'create_agents', input: {} };
    const messages = [message('m1', 1, 'assistant', 'Meta-agent', [call]), message('m2', 2, 'user', 'UX'), message('m3', 4, 'assistant', 'UX')];
    const [row] = rows([event(0, 'execution.started'), event(5, 'execution.completed')], [execution('agentic')], new Map([['x', { messages, tools: [] }]]));
    expect(shape(row)).toEqual(['turn Meta-agent 0-1', 'tool create_agents 1-2', 'turn UX 2-4']);
  });

  it('puts messages into the attempt in which they were said', () => {
    const messages = [message('m1', 1, 'assistant', 'Writer'), message('m2', 11, 'assistant', 'Writer')];
    const all = rows(
      [event(0, 'execution.started'), event(2, 'execution.worked'), event(2, 'execution.waiting'), event(10, 'execution.revision_requested', {}, mara), event(10, 'execution.started', { revision_iteration: 1 }), event(12, 'execution.completed')],
      [execution('agentic')],
      new Map([['x', { messages, tools: [] }]]),
    );
    expect(all.map(shape)).toEqual([['turn Writer 0-1', 'wait Mara 2-10'], ['turn Writer 10-11']]);
  });
});

const bar = (kind: Bar['kind'], from: number, to: number | undefined): Bar => ({ key: `${kind}${from}`, kind, from: START + from * MINUTE, to: to === undefined ? undefined : START + to * MINUTE, name: kind });
const row = (...bars: Bar[]): Row => ({ key: 'r', execution: 'x', checkpoint: 'Draft', first: true, label: 'try 1', revision: 0, attempt: 1, bars, end: undefined });
const now = START + 100 * MINUTE;

describe('layout', () => {
  it('runs evenly, and fills the width', () => {
    const on = scale([row(bar('work', 0, 50), bar('work', 50, 100))], 600, now, true);
    expect(Math.round(on.x(START + 50 * MINUTE))).toBe(300);
    expect(Math.round(on.x(now))).toBe(600);
  });

  it('folds long waits to one width, and not when told not to', () => {
    const all = [row(bar('work', 0, 5), bar('wait', 5, 90), bar('work', 90, 95))];
    const folded = place(all[0] as Row, scale(all, 600, now, true), now);
    expect(folded.map((one) => Math.round(one.width))).toEqual([272, 53, 272]);
    const plain = place(all[0] as Row, scale(all, 600, now, false), now);
    expect(plain.map((one) => Math.round(one.width))).toEqual([30, 535, 30]);
    expect(scale([row(bar('work', 0, 5), bar('wait', 5, 14), bar('work', 14, 20))], 600, now, true).folds).toEqual([]);
  });

  it('does not fold what somebody else worked in meanwhile', () => {
    const all = [row(bar('wait', 0, 60)), row(bar('work', 0, 60))];
    expect(scale(all, 600, now, true).folds).toEqual([]);
  });

  it('gives the shortest turn room to be seen, in order and without a gap in time', () => {
    const tiny = Array.from({ length: 40 }, (_, index) => bar('turn', 50 + index / 1000, 50 + (index + 1) / 1000));
    const all = [row(bar('work', 0, 50), ...tiny, bar('work', 51, 100))];
    const placed = place(all[0] as Row, scale(all, 600, now, true), now);
    for (const one of placed.slice(1, 41)) expect(one.width).toBeGreaterThan(3);
    placed.slice(1).forEach((one, index) => expect(one.x).toBeGreaterThanOrEqual((placed[index]?.x ?? 0) + (placed[index]?.width ?? 0)));
    expect((placed.at(-1)?.x ?? 0) + (placed.at(-1)?.width ?? 0)).toBeLessThanOrEqual(600);
  });

  it('stays inside its width however many bars there are', () => {
    const many = Array.from({ length: 5000 }, (_, index) => bar(index % 2 ? 'tool' : 'turn', index / 60, (index + 1) / 60));
    const all = [row(...many)];
    const on = scale(all, 600, now, true);
    expect(Math.max(...place(all[0] as Row, on, now).map((one) => one.x))).toBeLessThanOrEqual(600);
  });

  it('goes on to now with what is going on', () => {
    const all = [row(bar('work', 0, undefined))];
    const on = scale(all, 600, now, true);
    expect(on.to).toBe(now);
    expect(Math.round(place(all[0] as Row, on, now)[0]?.width ?? 0)).toBe(599);
  });

  it('prints times where there is room, never inside a fold, and not over now', () => {
    const all = [row(bar('work', 0, 10)), row(bar('wait', 10, 60)), row(bar('work', 60, 70)), row(bar('work', 70, 99))];
    const on = scale(all, 600, now, true);
    const printed = ticks(all, on, 44, now).map((tick) => (tick.at - START) / MINUTE);
    expect(printed).toEqual([0, 10, 60, 70]);
    expect(ticks(all, on, 300, now).length).toBe(1);
  });

  it('stands with nothing in it', () => {
    const on = scale([], 600, now, true);
    expect(on.x(now)).toBe(0);
    expect(ticks([], on, 44, undefined)).toHaveLength(1);
  });
});
