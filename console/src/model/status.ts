/** From the API's states to what is drawn: one icon, one colour, one word. No status is worked out here. */
import type { Execution, InboxItem, Run, WaitingFor } from '@/api/types';

/** The icons of the status vocabulary. */
export type StatusIcon =
  | 'pending'
  | 'person-pending'
  | 'live'
  | 'done'
  | 'person-done'
  | 'sent-back'
  | 'failed'
  | 'blocked'
  | 'paused'
  | 'pausing'
  | 'skipped'
  | 'aborted'
  | 'archived'
  | 'reused'
  | 'retry'
  | 'hold-start'
  | 'hold-complete'
  | 'hold-form'
  | 'hold-choice'
  | 'hold-ask'
  | 'hold-budget'
  | 'others'
  | 'step'
  | 'checkpoint'
  | 'passed'
  | 'note';

export type Tone = 'ink-2' | 'ink-3' | 'hold' | 'hold-ink' | 'live' | 'fail' | 'done';

export interface Status {
  icon: StatusIcon;
  tone: Tone;
  word: string;
}

const status = (icon: StatusIcon, tone: Tone, word: string): Status => ({ icon, tone, word });

/** The icon of a question, by what is asked. */
const ASKED: Record<string, { icon: StatusIcon; word: string }> = {
  start: { icon: 'hold-start', word: 'Waiting to start' },
  approve_start: { icon: 'hold-start', word: 'Waiting to start' },
  approve_complete: { icon: 'hold-complete', word: 'Waiting for approval' },
  form: { icon: 'hold-form', word: 'Waiting for a form' },
  script_input: { icon: 'hold-form', word: 'Waiting for input' },
  guidance: { icon: 'hold-ask', word: 'Waiting for guidance' },
  budget: { icon: 'hold-budget', word: 'Waiting for a budget' },
  choice: { icon: 'hold-choice', word: 'Waiting for a choice' },
};

/** How a question is drawn, for somebody who may answer it or may not. */
export function asked(waiting: Pick<WaitingFor, 'kind' | 'who'>, mine: boolean): Status {
  if (waiting.kind === 'retry') return status('failed', 'fail', 'Failed');
  const known = ASKED[waiting.kind] ?? { icon: 'hold-ask' as const, word: 'Waiting for an answer' };
  if (mine) return status(known.icon, 'hold', known.word);
  const [name] = waiting.who.approvers ?? [];
  return status('others', 'hold-ink', `Waiting for ${name ?? `${article(waiting.who.role)} ${waiting.who.role}`}`);
}

const article = (word: string) => (/^[aeiou]/.test(word) ? 'an' : 'a');

/** How an execution is drawn. */
export function execution(it: Pick<Execution, 'status' | 'waiting_for' | 'mode' | 'attempt_number' | 'max_attempts'>, mine: (waiting: WaitingFor) => boolean): Status {
  const person = it.mode === 'human_only';
  if (it.waiting_for && it.waiting_for.kind !== 'retry' && it.waiting_for.kind !== 'start') return asked(it.waiting_for, mine(it.waiting_for));
  switch (it.status) {
    case 'pending':
      return it.waiting_for?.kind === 'start' ? asked(it.waiting_for, mine(it.waiting_for)) : status(person ? 'person-pending' : 'pending', 'ink-3', 'Pending');
    case 'in_progress':
      return status('live', 'live', it.attempt_number > 1 ? `Running, try ${it.attempt_number} of ${it.max_attempts}` : 'Running');
    case 'waiting_approval_to_start':
      return status('hold-start', 'hold', 'Waiting to start');
    case 'waiting_approval_to_complete':
      return status('hold-complete', 'hold', 'Waiting for approval');
    case 'completed':
      return status(person ? 'person-done' : 'done', 'ink-2', 'Done');
    case 'failed':
      return status('failed', 'fail', it.attempt_number > 1 ? `Failed after ${it.attempt_number} tries` : 'Failed');
    case 'skipped':
      return status('skipped', 'ink-3', 'Skipped');
    case 'cancelled':
      return status('aborted', 'ink-3', 'Cancelled');
    case 'blocked':
      return status('blocked', 'fail', 'Blocked');
    case 'reused':
      return status('reused', 'ink-2', 'Taken over');
    case 'archived':
    case 'rolled_back':
      return status('archived', 'ink-3', 'Archived');
    default:
      return status('pending', 'ink-3', words(it.status));
  }
}

/**
 * How a run is drawn: what it waits for stands for it, if somebody must act. Lists of runs leave out the present
 * execution, so what is asked comes from the inbox there.
 */
export function run(it: Pick<Run, 'status' | 'pause_requested' | 'pause_reason' | 'current_execution'>, mine: (waiting: WaitingFor) => boolean, asks?: WaitingFor): Status {
  switch (it.status) {
    case 'not_started':
      return status('pending', 'ink-3', 'Not started');
    case 'in_progress': {
      const waiting = asks ?? it.current_execution?.waiting_for;
      if (waiting) {
        const drawn = asked(waiting, mine(waiting));
        const word = mine(waiting) ? 'Waits for you' : drawn.word.replace('Waiting', 'Waits');
        return { ...drawn, word: it.pause_requested ? `${word}, pauses after this step` : word };
      }
      if (it.pause_requested) return status('pausing', 'ink-2', 'Pausing after this step');
      return status('live', 'live', 'Running');
    }
    case 'paused': {
      const failed = it.current_execution?.status === 'failed';
      const reason = it.pause_reason ? `, ${words(it.pause_reason)}` : '';
      return failed ? status('failed', 'fail', `Paused${reason}`) : status('paused', 'ink-2', `Paused${reason}`);
    }
    case 'completed':
      return status('done', 'ink-2', 'Done');
    case 'failed':
      return status('failed', 'fail', 'Failed');
    case 'aborted':
      return status('aborted', 'ink-3', 'Aborted');
    case 'rolled_back':
    case 'archived':
      return status('archived', 'ink-3', 'Archived');
    default:
      return status('pending', 'ink-3', words(it.status));
  }
}

/** A word of the API that this console does not know is shown as it is, without its underscores. */
const words = (text: string) => text.replaceAll('_', ' ');

export type { InboxItem };

/** Where one icon must stand for many: the first of these counts. */
const PRECEDENCE: readonly ((it: Status) => boolean)[] = [
  (it) => it.tone === 'fail',
  (it) => it.tone === 'hold',
  (it) => it.tone === 'hold-ink',
  (it) => it.tone === 'live',
  (it) => it.icon === 'paused' || it.icon === 'pausing',
  (it) => it.icon === 'pending' || it.icon === 'person-pending',
];

/** The one status that stands for several. */
export function foremost(all: readonly Status[]): Status | undefined {
  for (const is of PRECEDENCE) {
    const found = all.find(is);
    if (found) return found;
  }
  return all[0];
}
