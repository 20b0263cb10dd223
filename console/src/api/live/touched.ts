/** Which kept answers an event makes untrue. */
import type { Event } from '../types';

export type Key = readonly unknown[];

/** The beginnings of the keys to ask again. */
export function touched(event: Pick<Event, 'event_type' | 'run_id' | 'execution_id' | 'pipeline_id' | 'checkpoint_id'>): Key[] {
  const keys: Key[] = [['events']];
  const [area] = event.event_type.split('.');
  // What is said is added to what was said (see `heard.ts`): a long conversation is not asked for again.
  if (SAID.has(event.event_type)) return keys;
  if (event.event_type === 'execution.noted' && event.execution_id) {
    keys.push(['execution', event.execution_id]);
    return keys;
  }
  if (event.execution_id) keys.push(['execution', event.execution_id]);
  if (event.run_id) keys.push(['run', event.run_id], ['runs']);
  if (event.pipeline_id) keys.push(['pipeline', event.pipeline_id], ['pipelines']);
  if (event.run_id || event.execution_id || area === 'gate') keys.push(['inbox']);
  if (area === 'checkpoint') keys.push(['checkpoint']);
  if (area === 'artifact' || event.event_type === 'execution.worked') keys.push(['artifacts'], ['artifact']);
  if (area === 'rollback') keys.push(['rollbacks'], ['rollback'], ['artifacts'], ['artifact'], ['run'], ['execution']);
  if (area === 'token') keys.push(['tokens'], ['me']);
  return keys;
}

const SAID = new Set(['execution.message', 'execution.tool_result']);
