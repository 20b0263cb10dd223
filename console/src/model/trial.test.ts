import { expect, it } from 'vitest';
import type { components } from '@/api/schema';
import type { Draft, Part } from './definition';
import { asked, trial, UNWRITTEN } from './trial';

const part = (name: string, more: object = {}): Part => ({ key: name, id: undefined, definition: { checkpoint_name: name, execution: { mode: 'agentic' }, output: { artifacts: [{ name: 'plan', format: 'md' }] }, ...more } }) as unknown as Part;
const draft = (...parts: Part[]) => ({ name: 'P', description: '', config: {}, parts }) as unknown as Draft;

it('walks up to the checkpoint, and makes up what nobody wrote', () => {
  const walk = asked(draft(part('A'), part('B')), part('B'), UNWRITTEN, 'p1');
  expect(walk).toMatchObject({ until: 'B', pipeline_id: 'p1' });
  expect(walk.stubs).toBeUndefined();
});

it('sends what was written, and the word of the judge where there is one', () => {
  const judged = part('A', { output: { artifacts: [{ name: 'plan', format: 'md' }], validation: { enabled: true } } });
  const script = { outputs: { plan: '# Mine', other: '' }, verdict: 'fails', reason: 'Too short.' } as const;
  expect(asked(draft(judged), judged, script, undefined).stubs).toEqual({ A: { artifacts: { plan: '# Mine' }, verdict: { passed: false, reasons: ['Too short.'] } } });
  expect(asked(draft(part('A')), part('A'), script, undefined).stubs).toEqual({ A: { artifacts: { plan: '# Mine' } } });
});

it('says how it went, and keeps what is about others out of the notes', () => {
  const checkpoint = { name: 'B', status: 'completed', attempts: 2 } as components['schemas']['DryCheckpoint'];
  const report = { checkpoints: [checkpoint], findings: [{ level: 'note', checkpoint: 'A', message: 'of A' }, { level: 'note', checkpoint: 'B', message: 'of B' }, { level: 'warning', message: 'no key' }] } as unknown as components['schemas']['DryRunReport'];
  expect(trial(report, 'B')).toMatchObject({ completed: true, said: 'It completes with attempt 2.', errors: [], notes: ['of B', 'no key'] });
  const stuck = { checkpoints: [], findings: [{ level: 'error', checkpoint: 'A', message: 'there is no script' }] } as unknown as components['schemas']['DryRunReport'];
  expect(trial(stuck, 'B')).toMatchObject({ completed: false, reached: undefined, errors: ['A: there is no script'] });
});
