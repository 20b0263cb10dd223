/** What Review shows and sends, from the API's answers. */
import type { Artifact, Event, Execution, InputField, Interaction, WaitingFor } from '@/api/types';
import type { FieldFault, Problem } from '@/api/problem';
import { sentence } from './figures';

/** The ways to decide about a result. */
export type Option = 'approve' | 'edit' | 'revise' | 'reject';

export interface Ways {
  value: Option;
  label: string;
  keys: string;
  meta?: string;
  /** Why it cannot be chosen. */
  off?: string;
}

export function ways(execution: Pick<Execution, 'revision_iteration' | 'max_revision_iterations'>, waiting: Pick<WaitingFor, 'who'>, editable: boolean): Ways[] {
  const left = execution.max_revision_iterations - execution.revision_iteration;
  const several = (waiting.who.required_approvals ?? 1) > 1;
  return [
    { value: 'approve', label: 'Approve', keys: 'a' },
    {
      value: 'edit',
      label: 'Edit, then approve',
      keys: 'e',
      ...(several ? { off: 'off: others approve it as well' } : editable ? {} : { off: 'off: it is no text' }),
    },
    { value: 'revise', label: 'Ask for a revision', keys: 'r', ...(left > 0 ? { meta: `${left} left` } : { off: 'none left' }) },
    { value: 'reject', label: 'Reject', keys: 'x' },
  ];
}

/** What a budget is counted in: "dollars", "tokens". */
export const unitOf = (waiting: Pick<WaitingFor, 'budget'>): string => (waiting.budget?.measure === 'cost_usd' ? 'dollars' : (waiting.budget?.measure ?? ''));

/** How to put right what a budget should be raised by; empty raises it by as much again. */
export const wrongAmount = (text: string): string | undefined => (text !== '' && !(Number(text) > 0) ? 'Write an amount like 2.50.' : undefined);

export interface Comment {
  /** The file that it is about, as people call it. */
  file: string;
  line: number;
  /** The line's text when it was written. */
  on: string;
  text: string;
}

const short = (text: string) => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

/** The words and the comments as one text, which the work is done again with. */
export function feedback(words: string, comments: readonly Comment[]): string {
  const lines = comments.map((one) => `${one.file}, line ${one.line} (“${short(one.on.trim())}”): ${one.text.trim()}`);
  return [words.trim(), ...lines].filter(Boolean).join('\n\n');
}

/** The comments of an earlier request, where it was written with this screen. */
export function commentsOf(said: string): Comment[] {
  return said.split('\n\n').flatMap((part) => {
    const found = /^([^\n]+?), line (\d+) \(“([^\n]*)”\): ([\s\S]+)$/.exec(part);
    return found ? [{ file: found[1] ?? '', line: Number(found[2]), on: found[3] ?? '', text: found[4] ?? '' }] : [];
  });
}

export interface Asked extends Comment {
  by: string;
  at: string;
  /** The revision that it was made on, from 1. */
  revision: number;
}

/** The comments of all requests so far, with the revision each was made on. */
export function askedSoFar(interactions: readonly Interaction[]): Asked[] {
  const requests = interactions.filter((one) => one.type === 'revision_request');
  return requests.flatMap((one, at) => commentsOf(one.user_input).map((comment) => ({ ...comment, by: one.actor ?? 'Somebody', at: one.timestamp, revision: at + 1 })));
}

const SAID: Record<string, string> = {
  revision_request: 'asked for a revision',
  approval_to_start: 'let it begin',
  approval_to_complete: 'approved',
  validation_feedback: 'said what to do',
  script_input: 'answered the script',
  budget: 'raised the budget',
  start: 'started it',
  form: 'filled in the form',
  retry: 'had it tried again',
  choice: 'chose',
};

/** "asked for a revision"; a word that is not known is shown as it is. */
export function did(one: Pick<Interaction, 'type' | 'user_input' | 'system_response'>): string {
  if (one.type === 'approval_to_start' && one.system_response === 'not started') return 'did not let it begin';
  if (one.type === 'approval_to_complete' && one.user_input === 'approved with changes') return 'changed and approved it';
  return SAID[one.type] ?? one.type.replaceAll('_', ' ');
}

/** What a person wrote with an answer, to be read: a form's values are lines, and an approval says nothing more. */
export function wrote(one: Pick<Interaction, 'type' | 'user_input'>): string | undefined {
  if (one.type === 'approval_to_complete' || one.user_input === 'approved') return undefined;
  return one.type === 'form' ? lines(one.user_input) : one.user_input || undefined;
}

function lines(json: string): string {
  try {
    const values = JSON.parse(json) as unknown;
    if (typeof values !== 'object' || values === null || Array.isArray(values)) return json;
    return Object.entries(values)
      .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join('\n');
  } catch {
    // Cut at its limit: what there is of it is still worth reading.
    return json;
  }
}

/** The output of the same name that came before: of an earlier revision, or before somebody edited it. */
export function earlier(all: readonly Artifact[], now: Artifact | undefined): Artifact | undefined {
  if (!now) return undefined;
  const same = all.filter((one) => one.artifact_id === now.artifact_id && one.artifact_record_id !== now.artifact_record_id);
  const newest = (list: Artifact[]) => list.sort((a, b) => b.revision_iteration - a.revision_iteration || b.created_at.localeCompare(a.created_at))[0];
  const edited = same.filter((one) => one.revision_iteration === now.revision_iteration && one.attempt_number === now.attempt_number && one.created_at < now.created_at);
  return newest(edited) ?? newest(same.filter((one) => one.revision_iteration < now.revision_iteration));
}

/** What the earlier one is called in "Diff to …". */
export const calledBefore = (before: Artifact, now: Artifact) => (before.revision_iteration === now.revision_iteration ? 'before the edit' : `rev ${before.revision_iteration + 1}`);

/** The same output of the run before. */
export const lastRun = (all: readonly Artifact[], now: Artifact | undefined) => all.find((one) => now !== undefined && one.current && one.artifact_id === now.artifact_id);

const ANSWERS = new Set([
  'execution.approved',
  'execution.approval_given',
  'execution.rejected',
  'execution.revision_requested',
  'execution.submitted',
  'execution.budget_raised',
  'execution.retried',
  'gate.answered',
  'run.aborted',
]);

/** Who answered what is not asked any more: the newest answer since it was asked, from the events of its run. */
export const answered = (events: readonly Event[], execution: string, since: string | undefined): Event | undefined =>
  events.find((event) => ANSWERS.has(event.event_type) && (event.execution_id == null || event.execution_id === execution) && (since === undefined || event.timestamp >= since));

export type Value = string | File | undefined;
export type Values = Record<string, Value>;

/** What a form starts with. */
export function defaults(fields: readonly InputField[]): Values {
  return Object.fromEntries(fields.map((field) => [field.name, field.default == null ? (field.type === 'file' ? undefined : '') : String(field.default)]));
}

/** What is sent: numbers as numbers and yes or no as such, where they can be read; what is empty is left out. */
export function filled(fields: readonly InputField[], values: Values): { fields: Record<string, unknown>; files: Record<string, File> } {
  const sent: Record<string, unknown> = {};
  const files: Record<string, File> = {};
  for (const { name, type } of fields) {
    const value = values[name];
    if (value instanceof File) files[name] = value;
    else if (value === undefined || value === '') continue;
    else if (type === 'number') sent[name] = Number.isFinite(Number(value)) && value.trim() !== '' ? Number(value) : value;
    else if (type === 'boolean') sent[name] = value === 'true';
    else sent[name] = value;
  }
  return { fields: sent, files };
}

/** The faults of a refused form by field, and those that no field has. */
export function faults(problem: Pick<Problem, 'errors'> | undefined, fields: readonly InputField[]): { by: Record<string, string>; rest: FieldFault[] } {
  const by: Record<string, string> = {};
  const rest: FieldFault[] = [];
  for (const fault of problem?.errors ?? []) {
    const key = fault.pointer.replace(/^\/fields\//, '').replaceAll('~1', '/').replaceAll('~0', '~');
    const field = fields.find((one) => one.name === key || one.field_id === key);
    if (field) by[field.name] = by[field.name] ? `${by[field.name]} ${sentence(fault.message)}` : sentence(fault.message);
    else rest.push(fault);
  }
  return { by, rest };
}
