import { expect, it } from 'vitest';
import { touched } from './touched';

it('asks again only for what an event can have changed', () => {
  expect(touched({ event_type: 'execution.message', run_id: 'r', execution_id: 'x', pipeline_id: 'p' })).toEqual([['events']]);
  expect(touched({ event_type: 'execution.noted', run_id: 'r', execution_id: 'x', pipeline_id: 'p' })).toEqual([['events'], ['execution', 'x']]);
  expect(touched({ event_type: 'gate.asked', run_id: 'r', execution_id: 'x', pipeline_id: 'p' })).toEqual([
    ['events'],
    ['execution', 'x'],
    ['run', 'r'],
    ['runs'],
    ['pipeline', 'p'],
    ['pipelines'],
    ['inbox'],
  ]);
  expect(touched({ event_type: 'token.revoked' })).toEqual([['events'], ['tokens'], ['me']]);
});
