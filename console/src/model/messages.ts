/** What the parts of a message are: text, thinking, and calls of tools. */
import type { Message } from '@/api/types';

export interface Call {
  id: string;
  name: string;
  input: Record<string, unknown>;
}

interface Part {
  type?: string;
  text?: string;
  thinking?: string;
  id?: string;
  name?: string;
  input?: unknown;
}

const parts = (message: Pick<Message, 'parts'>): Part[] => (Array.isArray(message.parts) ? (message.parts as Part[]) : []);

export const calls = (message: Pick<Message, 'parts'>): Call[] =>
  parts(message).flatMap((part) =>
    part.type === 'tool_use' || part.type === 'server_tool_use' ? [{ id: part.id ?? '', name: part.name ?? 'tool', input: typeof part.input === 'object' && part.input !== null ? (part.input as Record<string, unknown>) : {} }] : [],
  );

export const thinking = (message: Pick<Message, 'parts'>): string =>
  parts(message)
    .flatMap((part) => (part.type === 'thinking' && part.thinking ? [part.thinking] : []))
    .join('\n\n');

/** The verb and the object of a call, for one line: "write plan.md". */
export function toolTitle(call: Call): { verb: string; object: string } {
  const text = (name: string) => (typeof call.input[name] === 'string' ? (call.input[name] as string) : '');
  if (call.name === 'file_operations') return { verb: text('operation') || 'file', object: text('path') };
  if (call.name === 'web_search') return { verb: 'search', object: text('query') && `“${text('query')}”` };
  if (call.name === 'code_execution') return { verb: 'run', object: (text('code') || text('script')).split('\n').find(Boolean) ?? '' };
  return { verb: call.name, object: Object.values(call.input).find((value): value is string => typeof value === 'string') ?? '' };
}

export function toolAbout(call: Call): string {
  const { verb, object } = toolTitle(call);
  return object ? `${verb} ${object}` : verb;
}
