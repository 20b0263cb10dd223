/**
 * Every way to answer a question: what is sent, what the button says, what is missing, what is said afterwards and how it is undone.
 * The inbox and the review build their answers here and nowhere else.
 */
import type { Answer } from '@/api/hooks/inbox';
import type { Execution, WaitingFor } from '@/api/types';
import { many, money } from './figures';
import { type Comment, feedback, unitOf, wrongAmount } from './review';
import { begun } from './undo';

export interface About {
  waiting: WaitingFor;
  run: string;
  execution: string | undefined;
  name: string;
  pipeline: string | undefined;
  version: number | undefined;
  /** From 1. */
  revision: number | undefined;
}

export interface Given {
  /** What was chosen, where there is a choice. */
  option?: string | undefined;
  words?: string;
  comments?: readonly Comment[];
  /** What was changed, by the output's name. */
  edits?: Readonly<Record<string, string>>;
  form?: { fields: Record<string, unknown>; files: Record<string, File> };
}

export type Command = Answer | { act: 'abort'; run: string; reason: string } | { act: 'fill in'; execution: string; fields: Record<string, unknown>; files: Record<string, File> };

/** Back to the point before, by a rollback; up again after the run was given up; stop the work; ask about its start again. */
export type Undoing = 'back' | 'up' | 'stop' | 'ask';

export interface Copied {
  command?: string | undefined;
  method: 'POST';
  path: string;
  body: unknown;
}

export interface Plan {
  /** Nothing, while it cannot be said yet. */
  command: Command | undefined;
  /** What the button says. */
  verb: string;
  /** What has to be written or chosen first. */
  missing?: string | undefined;
  danger?: boolean;
  /** What a refused answer is called: "Plan was not approved". */
  failed: string;
  /** What is said when it is done; the question may have got its names meanwhile. */
  said: (about: About, now: Partial<Execution>) => string;
  undo: (now: Partial<Execution>) => Undoing | undefined;
  copy?: Copied | undefined;
}

/** The choices of a question, first the one that lets the work continue. */
export function choices(waiting: Pick<WaitingFor, 'kind' | 'options'>): { value: string; label: string; keys: string }[] | undefined {
  switch (waiting.kind) {
    case 'approve_start':
      return [
        { value: 'yes', label: 'Start', keys: 'a' },
        { value: 'no', label: 'Reject', keys: 'x' },
      ];
    case 'budget':
      return [
        { value: 'yes', label: 'Raise the budget', keys: 'a' },
        { value: 'no', label: 'Stop the work', keys: 'x' },
      ];
    case 'choice':
      return (waiting.options ?? []).map((label, at) => ({ value: label, label, keys: String(at + 1) }));
    default:
      return undefined;
  }
}

export interface Asked {
  label: string;
  help?: string;
  /** One line. */
  short?: boolean;
  required?: boolean;
}

/** What can be written with an answer. */
export function field(waiting: Pick<WaitingFor, 'kind' | 'budget'>, option: string | undefined): Asked | undefined {
  switch (waiting.kind) {
    case 'approve_start':
      return option === 'no' ? { label: 'Why', required: true } : undefined;
    case 'script_input':
      return { label: 'Your answer', required: true };
    case 'guidance':
      return { label: 'What should be done', required: true };
    case 'budget': {
      const unit = unitOf(waiting);
      return option === 'yes' ? { label: `Raise by${unit ? `, ${unit}` : ''}`, help: 'Empty: by as much again.', short: true } : undefined;
    }
    case 'choice':
      return { label: 'A word for the record' };
    default:
      return undefined;
  }
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const never = () => undefined;
const where = ({ pipeline, version }: About) => (pipeline ? ` in ${pipeline} v${version ?? ''}` : '');
/** Of work that is let start: it may need others, or be done already. */
const starts = (about: About, now: Partial<Execution>) => begun(now, about.name, where(about));
const stops = (about: About) => (now: Partial<Execution>) => (starts(about, now).stops ? ('stop' as const) : undefined);
/** While another approval is needed nothing counts that could be taken back. */
const counts = (now: Partial<Execution>) => (now.status === 'completed' ? ('back' as const) : undefined);

/** The answer to a question, given what was chosen and written. */
export function planOf(about: About, given: Given): Plan {
  const { waiting, name } = about;
  const words = (given.words ?? '').trim();
  const failed = `${name} was not answered`;
  switch (waiting.kind) {
    case 'approve_complete':
      return ofResult(about, given, words);
    case 'approve_start':
      return ofStart(about, given.option, words);
    case 'start':
      return {
        command: { act: 'start', run: about.run },
        verb: `Start ${name}`,
        failed: `${name} was not started`,
        said: (now, answer) => starts(now, answer).said,
        undo: stops(about),
        copy: { method: 'POST', path: '/api/executions/start', body: { run_id: about.run } },
      };
    case 'retry':
      return withExecution(about, (id) => ({
        command: { act: 'retry', execution: id },
        verb: `Try ${name} again`,
        failed: `${name} was not tried again`,
        said: () => `Trying ${name} again`,
        undo: stops(about),
        copy: { command: `holdpoint answer ${id} --approve`, method: 'POST', path: `/api/executions/${id}/retry`, body: {} },
      }));
    case 'script_input':
    case 'guidance':
      return withExecution(about, (id) => ({
        command: { act: 'submit', execution: id, submission: { user_input: words } },
        verb: waiting.kind === 'guidance' ? `Send, do ${name} again` : 'Send to the script',
        missing: words ? undefined : 'Write something first.',
        failed,
        said: () => `Answered ${name}`,
        undo: never,
        copy: { command: `holdpoint answer ${id} --input '…'`, method: 'POST', path: `/api/executions/${id}/submit`, body: { user_input: words } },
      }));
    case 'form':
      return ofForm(about, given.form ?? { fields: {}, files: {} });
    case 'budget':
      return ofBudget(about, given.option, words);
    case 'choice':
      return ofChoice(about, given.option, words);
    default:
      return { command: undefined, verb: 'Answer', missing: 'This question is answered elsewhere.', failed, said: () => '', undo: never };
  }
}

function withExecution(about: About, plan: (id: string) => Plan): Plan {
  return about.execution ? plan(about.execution) : { command: undefined, verb: 'Answer', missing: 'This question has no work yet.', failed: `${about.name} was not answered`, said: () => '', undo: never };
}

function ofResult(about: About, { option, comments = [], edits = {} }: Given, words: string): Plan {
  const { waiting, name, revision = 1 } = about;
  const digest = waiting.digest ?? undefined;
  // Giving the run up needs no work to be there.
  if (option === 'reject')
    return {
      command: { act: 'abort', run: about.run, reason: words },
      verb: 'Reject, give up the run',
      missing: words ? undefined : 'Say why.',
      danger: true,
      failed: `${name} was not rejected`,
      said: (now) => `Rejected ${name}, ${now.pipeline && now.version !== undefined ? `${now.pipeline} v${now.version}` : 'the run'} was given up`,
      undo: () => 'up',
      copy: { method: 'POST', path: `/api/runs/${about.run}/abort`, body: { reason: words } },
    };
  const given = Object.entries(edits).map(([artifact_name, content]) => ({ artifact_name, content }));
  return withExecution(about, (id) => {
    const complete = `/api/executions/${id}/approve-complete`;
    switch (option) {
      case 'revise': {
        const text = feedback(words, comments);
        return {
          command: { act: 'reject', execution: id, refusal: { feedback: text, digest } },
          verb: comments.length > 0 ? `Ask for revision ${revision + 1}, ${many(comments.length, 'comment')}` : `Ask for revision ${revision + 1}`,
          missing: text ? undefined : 'Say what should change, or comment on a line.',
          failed: `${name} was not sent back`,
          said: () => `Asked for revision ${revision + 1} of ${name}`,
          undo: never,
          copy: { command: `holdpoint answer ${id} --reject ${quoted(text)} --digest ${digest ?? ''}`, method: 'POST', path: `/api/executions/${id}/reject`, body: { feedback: text, digest } },
        };
      }
      case 'edit':
        return {
          command: { act: 'approve-complete', execution: id, approval: { digest, feedback: words || undefined, edits: given } },
          verb: 'Approve with your changes',
          missing: given.length > 0 ? undefined : 'Change something first.',
          failed: `${name} was not approved`,
          said: () => `Changed and approved ${name}`,
          undo: counts,
          copy: { method: 'POST', path: complete, body: { digest, edits: given } },
        };
      case 'approve':
        return {
          command: { act: 'approve-complete', execution: id, approval: { digest, feedback: words || undefined } },
          verb: `Approve revision ${revision}`,
          failed: `${name} was not approved`,
          said: () => `Approved ${name}, revision ${revision}`,
          undo: counts,
          copy: { command: `holdpoint answer ${id} --approve --digest ${digest ?? ''}`, method: 'POST', path: complete, body: { digest, ...(words ? { feedback: words } : {}) } },
        };
      default:
        return { command: undefined, verb: 'Decide', missing: 'Choose what to do first.', failed: `${name} was not answered`, said: () => '', undo: never };
    }
  });
}

function ofStart(about: About, option: string | undefined, words: string): Plan {
  const { waiting, name } = about;
  const digest = waiting.digest ?? undefined;
  if (option === undefined) return { command: undefined, verb: 'Decide', missing: 'Choose what to do first.', failed: '', said: () => '', undo: never };
  return withExecution(about, (id) =>
    option === 'no'
      ? {
          command: { act: 'reject', execution: id, refusal: { feedback: words || undefined, digest } },
          verb: `Reject, do not start ${name}`,
          missing: words ? undefined : 'Say why.',
          danger: true,
          failed: `${name} was not rejected`,
          said: () => `Rejected ${name}, it does not start`,
          undo: () => 'ask',
          copy: { command: `holdpoint answer ${id} --reject '…'`, method: 'POST', path: `/api/executions/${id}/reject`, body: { feedback: words } },
        }
      : {
          command: { act: 'approve-start', execution: id, approval: { digest, feedback: words || undefined } },
          verb: `Start ${name}`,
          failed: `${name} was not started`,
          said: (now, answer) => starts(now, answer).said,
          undo: stops(about),
          copy: { command: `holdpoint answer ${id} --approve`, method: 'POST', path: `/api/executions/${id}/approve-start`, body: digest ? { digest } : {} },
        },
  );
}

function ofForm(about: About, { fields, files }: NonNullable<Given['form']>): Plan {
  const { name } = about;
  const flags = [...Object.entries(fields).map(([key, value]) => `--field ${quoted(`${key}=${String(value)}`)}`), ...Object.entries(files).map(([key, file]) => `--file ${key}=${file.name}`)];
  return withExecution(about, (id) => ({
    command: { act: 'fill in', execution: id, fields, files },
    verb: `Send ${name}`,
    failed: 'The form was not sent',
    said: () => `Filled in ${name}`,
    undo: counts,
    copy: { command: `holdpoint answer ${id} ${flags.join(' ')}`, method: 'POST', path: `/api/executions/${id}/submit`, body: { fields } },
  }));
}

function ofBudget({ waiting, name }: About, option: string | undefined, words: string): Plan {
  const gate = waiting.gate_id ?? '';
  const path = `/api/gates/${gate}/answer`;
  const { digest } = waiting;
  const failed = `${name} was not answered`;
  if (option === undefined) return { command: undefined, verb: 'Decide', missing: 'Choose what to do first.', failed, said: () => '', undo: never };
  if (option === 'no')
    return { command: { act: 'answer', gate, digest, option: 'stop' }, verb: `Stop ${name}`, danger: true, failed, said: () => `Stopped ${name}`, undo: never, copy: { method: 'POST', path, body: { digest, option: 'stop' } } };
  const wrong = wrongAmount(words);
  const amount = waiting.budget?.measure === 'cost_usd' ? money(Number(words)) : `${words} ${unitOf(waiting)}`;
  return {
    command: { act: 'answer', gate, digest, option: 'raise', ...(words ? { feedback: words } : {}) },
    verb: words && !wrong ? `Raise the budget by ${amount}` : 'Raise the budget by as much again',
    missing: wrong,
    failed,
    said: () => `Raised the budget of ${name}`,
    undo: never,
    copy: { method: 'POST', path, body: { digest, option: 'raise', ...(words ? { feedback: words } : {}) } },
  };
}

function ofChoice({ waiting, name }: About, option: string | undefined, words: string): Plan {
  const gate = waiting.gate_id ?? '';
  const { digest } = waiting;
  return {
    command: option === undefined ? undefined : { act: 'answer', gate, digest, option, ...(words ? { feedback: words } : {}) },
    verb: option === undefined ? 'Pick one' : `Pick ${option}`,
    missing: option === undefined ? 'Pick one first.' : undefined,
    failed: `${name} was not answered`,
    said: () => `Picked ${option ?? ''}`,
    undo: never,
    copy: { command: `holdpoint answer ${gate} --option '${option ?? '…'}'`, method: 'POST', path: `/api/gates/${gate}/answer`, body: { digest, option } },
  };
}
