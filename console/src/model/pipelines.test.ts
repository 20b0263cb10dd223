import { expect, it } from 'vitest';
import { bars, found, lastGate, lasted, onwards, place, stops } from './pipelines';

const checkpoint = (id: string, start = false, complete = false) =>
  ({ checkpoint_id: id, checkpoint_name: id, execution: { mode: 'human_only' }, human_interaction: { requires_approval_to_start: start, requires_approval_to_complete: complete } }) as never;
const node = (id: string, status?: string) => ({ id, name: id, kind: 'step', position: 0, execution_ids: [], status }) as never;

it('draws each checkpoint as the latest run has it, with a hold line where somebody decides', () => {
  const pipeline = { checkpoints: [checkpoint('A', false, true), checkpoint('B'), checkpoint('C', true)] };
  const nodes = [node('A', 'completed'), node('B', 'in_progress'), node('C')];
  expect(stops(pipeline, { nodes }, undefined, () => true).map((stop) => [stop.status.word, stop.reached, stop.gate])).toEqual([
    ['Done', true, undefined],
    ['Running', true, 'passed'],
    ['Pending', false, 'ahead'],
  ]);
  const asking = stops(pipeline, { nodes: [node('A', 'waiting_approval_to_complete'), node('B'), node('C')] }, undefined, () => true);
  expect(asking[1]?.gate).toBe('reached');
  expect(stops(pipeline, undefined, undefined, () => true).every((stop) => !stop.reached)).toBe(true);
});

it('draws a hold line after the last checkpoint, where its result is approved', () => {
  const pipeline = { checkpoints: [checkpoint('A'), checkpoint('B', false, true)] };
  const gate = (status?: string) => lastGate(pipeline, { nodes: [node('B', status)] });
  expect([gate(), gate('in_progress'), gate('waiting_approval_to_complete'), gate('completed')]).toEqual(['ahead', 'ahead', 'reached', 'passed']);
  expect(lastGate({ checkpoints: [checkpoint('A')] }, undefined)).toBeUndefined();
});

it('says what follows a checkpoint, from the definition', () => {
  const pipeline = { checkpoints: [checkpoint('A'), checkpoint('B')] };
  expect(place(pipeline, 'A')).toEqual({ total: 2, next: 'B' });
  expect(['A', 'B', 'gone'].map((id) => onwards(place(pipeline, id)))).toEqual(['B comes next', 'the run is done', 'the run goes on']);
  expect(place(undefined, 'A')).toBeUndefined();
});

it('draws runs by how long they took, oldest first', () => {
  const now = new Date('2026-01-01T10:00:00Z');
  const run = (version: number, minutes: number, status: string) => ({
    run_id: `r${version}`,
    run_version: version,
    status,
    created_at: '2026-01-01T09:00:00Z',
    started_at: '2026-01-01T09:00:00Z',
    completed_at: status === 'in_progress' ? null : new Date(Date.parse('2026-01-01T09:00:00Z') + minutes * 60_000).toISOString(),
  });
  const drawn = bars([run(4, 0, 'in_progress'), run(3, 0, 'in_progress'), run(2, 15, 'failed'), run(1, 60, 'completed')], new Map([['r4', false], ['r3', true]]), now);
  expect(drawn.map((bar) => [bar.version, bar.kind, bar.height])).toEqual([
    [1, 'done', 1],
    [2, 'failed', 0.5],
    [3, 'hold', 1],
    [4, 'others', 1],
  ]);
  expect(lasted(run(3, 0, 'in_progress'), now)).toBe(3_600_000);
});

it('finds by words of the name, the description and the checkpoints', () => {
  const one = { pipeline_name: 'Market brief', pipeline_description: null, checkpoints: [checkpoint('Legal review')] };
  expect([found([one], 'brief legal').length, found([one], 'brief risk').length, found([one], ' ').length]).toEqual([1, 0, 1]);
});
