import { expect, it } from 'vitest';
import { filterLogs, logEntries } from './logs';

const line = (id: string, level: string, message: string, details: unknown = null) => ({ log_id: id, timestamp: '2026-07-14T09:00:00Z', level, message, details });
const all = logEntries([
  line('1', 'info', 'count.py starts', { sandbox: 'full' }),
  line('2', 'warning', 'Traceback (most recent call last):'),
  line('3', 'warning', '  File "count.py", line 3, in main'),
  line('4', 'warning', '    raise ValueError("no figures")'),
  line('5', 'warning', 'ValueError: no figures'),
  line('6', 'warning', 'slow'),
  line('7', 'info', 'the meta-agent made UX', { agents: [{ name: 'UX', role: 'designs', system_prompt: 's', task_prompt: 't' }] }),
]);

it('makes one thing of a stack trace, named by what it came to', () => {
  expect(all.map((one) => `${one.level} ${one.text}`)).toEqual(['info count.py starts', 'error ValueError: no figures', 'warning slow', 'info the meta-agent made UX']);
  expect(all[1]?.trace).toHaveLength(4);
});

it('knows the agents that a meta-agent made', () => {
  expect(all[3]?.agents.map((agent) => agent.name)).toEqual(['UX']);
  expect(all[0]?.agents).toEqual([]);
});

it('filters by level and text, inside traces as well', () => {
  expect(filterLogs(all, 'warning', '')).toHaveLength(2);
  expect(filterLogs(all, 'error', '')).toHaveLength(1);
  expect(filterLogs(all, 'info', 'line 3').map((one) => one.key)).toEqual(['2']);
});
