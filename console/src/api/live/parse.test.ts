import { describe, expect, it } from 'vitest';
import { Parser } from './parse';

describe('the stream of events', () => {
  it('is read piece by piece, wherever it is cut', () => {
    const text = 'event: run.started\nid: 7\ndata: {"a":1}\n\n: still here\n\nevent: execution.delta\ndata: x\ndata: y\n\n';
    for (let cut = 0; cut <= text.length; cut += 1) {
      const parser = new Parser();
      const events = [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
      expect(events).toEqual([
        { type: 'run.started', id: '7', data: '{"a":1}' },
        { type: 'execution.delta', id: undefined, data: 'x\ny' },
      ]);
    }
  });
});
