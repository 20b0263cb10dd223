/** Lines of a log, with each stack trace as one thing that can be folded. */
import type { LogLine } from '@/api/types';

export interface MadeAgent {
  name: string;
  role: string;
  system_prompt: string;
  task_prompt: string;
}

export interface LogEntry {
  key: string;
  at: string;
  level: string;
  text: string;
  /** The lines of a stack trace; the text says what it came to. */
  trace: string[];
  details: unknown;
  /** Agents that a meta-agent made. */
  agents: MadeAgent[];
}

const BEGIN = /^Traceback \(most recent call last\):/;

export function logEntries(lines: readonly LogLine[]): LogEntry[] {
  const all: LogEntry[] = [];
  let open: LogEntry | undefined;
  for (const line of lines) {
    if (BEGIN.test(line.message)) {
      open = { key: line.log_id, at: line.timestamp, level: 'error', text: line.message, trace: [line.message], details: null, agents: [] };
      all.push(open);
      continue;
    }
    if (open && line.level === 'warning') {
      open.trace.push(line.message);
      // The first line that is not indented says what it came to.
      if (!/^\s/.test(line.message) && line.message !== '') {
        open.text = line.message;
        open = undefined;
      }
      continue;
    }
    open = undefined;
    all.push({ key: line.log_id, at: line.timestamp, level: line.level, text: line.message, trace: [], details: line.details ?? null, agents: madeAgents(line.details) });
  }
  return all;
}

function madeAgents(details: unknown): MadeAgent[] {
  if (typeof details !== 'object' || details === null) return [];
  const { agents } = details as { agents?: unknown };
  return Array.isArray(agents) ? (agents as MadeAgent[]) : [];
}

const LEVELS = ['info', 'warning', 'error'];

/** Lines of at least a level that contain a text. */
export function filterLogs(all: readonly LogEntry[], level: string, wanted: string): LogEntry[] {
  const least = Math.max(0, LEVELS.indexOf(level));
  const text = wanted.trim().toLowerCase();
  return all.filter((one) => LEVELS.indexOf(one.level) >= least && (!text || one.text.toLowerCase().includes(text) || one.trace.some((line) => line.toLowerCase().includes(text))));
}
