import { expect, it } from 'vitest';
import { Deltas } from './deltas';

const delta = (text: string, more = {}) => ({ execution_id: 'x', agent_name: 'Writer', text, thinking: false, again: false, ...more });

it('puts pieces together by speaker, starts over when told to, and forgets when the message is there', () => {
  const deltas = new Deltas();
  let heard = 0;
  deltas.subscribe(() => (heard += 1));
  deltas.hear(delta('Six '));
  deltas.hear(delta('point eight'));
  deltas.hear(delta('why?', { thinking: true }));
  deltas.hear(delta('No.', { agent_name: 'Sceptic' }));
  expect(deltas.of('x')).toEqual([
    { agent: 'Writer', text: 'Six point eight', thinking: 'why?' },
    { agent: 'Sceptic', text: 'No.', thinking: '' },
  ]);
  deltas.hear(delta('', { again: true }));
  expect(deltas.of('x')[0]).toEqual({ agent: 'Writer', text: '', thinking: '' });
  deltas.forget('x');
  expect([deltas.of('x'), heard]).toEqual([[], 6]);
});

it('forgets one speaker, and lets others who speak at the same time go on', () => {
  const deltas = new Deltas();
  deltas.hear(delta('Six'));
  deltas.hear(delta('No.', { agent_name: 'Sceptic' }));
  deltas.forget('x', 'Writer');
  expect(deltas.of('x')).toEqual([{ agent: 'Sceptic', text: 'No.', thinking: '' }]);
  deltas.forget('x', 'Nobody');
  expect(deltas.of('x')).toHaveLength(1);
});
