import { describe, expect, it } from 'vitest';
import type { Event } from '@/api/types';
import { fits, fromLocal, lines, rowBefore, together, toLocal, withDays } from './events';

const event = (seq: number, more: Partial<Event> = {}) =>
  ({ seq, event_id: `e${seq}`, event_type: 'run.started', timestamp: '2026-07-09T10:00:00Z', actor: { kind: 'person', name: 'Mara' }, run_id: 'r1', pipeline_id: 'p1', hash: `h${seq}`, description: '', metadata: {}, ...more }) as Event;

describe('what fits a filter', () => {
  it('takes all without one, and each part alone', () => {
    expect(fits(event(1), {})).toBe(true);
    expect(fits(event(1), { event_type: 'run.paused,run.started' })).toBe(true);
    for (const filter of [{ event_type: 'run.paused' }, { pipeline_id: 'p2' }, { run_id: 'r2' }, { execution_id: 'e' }, { actor: 'Jonas' }, { since: '2026-07-09T10:00:01Z' }, { until: '2026-07-09T10:00:00Z' }]) expect(fits(event(1), filter)).toBe(false);
  });
});

describe('the list', () => {
  it('has each event once, newest first', () => {
    expect(together([event(3), event(1)], [event(3), event(4), event(5)]).map((one) => one.seq)).toEqual([5, 4, 3, 1]);
    expect(together([], [event(4), event(5)]).map((one) => one.seq)).toEqual([5, 4]);
  });
  it('begins each day with a line', () => {
    const shown = withDays([event(2), event(1, { timestamp: '2026-07-08T10:00:00Z' })], (time) => time.slice(0, 10));
    expect(shown.map((one) => ('day' in one ? one.day : one.event.seq))).toEqual(['2026-07-09', 2, '2026-07-08', 1]);
  });
  it('finds the row before, over events of the same row', () => {
    expect(rowBefore([event(3, { hash: 'x' }), event(2, { hash: 'x' }), event(1)], 0)?.seq).toBe(1);
  });
  it('is kept as one line of JSON each', () => {
    expect(lines([event(2), event(1)]).trimEnd().split('\n').map((line) => (JSON.parse(line) as Event).seq)).toEqual([2, 1]);
  });
});

describe('times of fields', () => {
  it('goes there and back', () => {
    expect(fromLocal(toLocal('2026-07-09T10:30:00.000Z'))).toBe('2026-07-09T10:30:00.000Z');
    expect([toLocal(undefined), toLocal('rubbish'), fromLocal('')]).toEqual(['', '', undefined]);
  });
});
