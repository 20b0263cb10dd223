/** What waits, as the inbox shows it. */
import type { InboxItem, Me, Run } from '@/api/types';
import { many } from './figures';
import { onwards, type Place } from './pipelines';
import { isMine } from './rights';
import { asked, type Status } from './status';
import { type Point, takenBack } from './undo';

export interface Question {
  /** Names it in the address. */
  key: string;
  item: InboxItem;
  status: Status;
  /** Whether this person may answer. */
  mine: boolean;
  /** Whether everybody with the role may, and not only some by name. */
  open: boolean;
  question: string;
  pipeline: string;
  /** "v7, Draft, revision 3" */
  where: string;
  cost: number | undefined;
  /** Who is waited for, where it is somebody else. */
  others: string | undefined;
}

export function question(item: InboxItem, me: Me | undefined, runs: ReadonlyMap<string, Pick<Run, 'usage'>>): Question {
  const { waiting_for: waiting } = item;
  const mine = isMine(me, waiting);
  const fields = waiting.form?.input_fields.length;
  const parts = [
    item.run_version == null ? undefined : `v${item.run_version}`,
    item.checkpoint_name ?? undefined,
    fields ? many(fields, 'field') : undefined,
    waiting.kind === 'choice' && waiting.options?.length ? many(waiting.options.length, 'option') : undefined,
    waiting.who.required_approvals ? `${waiting.who.approved_by?.length ?? 0} of ${waiting.who.required_approvals}` : undefined,
  ];
  return {
    key: waiting.gate_id ?? item.execution_id ?? item.run_id,
    item,
    status: asked(waiting, mine),
    mine,
    open: !waiting.who.approvers?.length,
    question: waiting.question,
    pipeline: item.pipeline_name ?? 'Run',
    where: parts.filter(Boolean).join(', '),
    cost: runs.get(item.run_id)?.usage.cost_usd,
    others: mine ? undefined : (waiting.who.approvers ?? []).join(', ') || waiting.who.role,
  };
}

export type Show = 'mine' | 'anyone' | 'others' | 'answered';

/** What a view of the inbox lists, in two groups. */
export function groups(all: readonly Question[], show: Show, oldestFirst: boolean): { yours: Question[]; others: Question[] } {
  const order = (list: Question[]) => (oldestFirst ? [...list].reverse() : list);
  const yours = all.filter((one) => one.mine && (show !== 'anyone' || one.open));
  const others = all.filter((one) => !one.mine);
  if (show === 'others') return { yours: [], others: order(others) };
  return { yours: order(yours), others: show === 'mine' ? order(others) : [] };
}

/** What happens when it is answered, in one sentence. */
export function consequence(waiting: InboxItem['waiting_for'], stands: Place | undefined): string {
  const { who } = waiting;
  const left = (who.required_approvals ?? 1) - (who.approved_by?.length ?? 0);
  const then = onwards(stands);
  switch (waiting.kind) {
    case 'approve_complete':
      return left > 1 ? `If you approve, ${many(left - 1, 'more approval')} is needed.` : `If you approve, the result counts and ${then}.`;
    case 'approve_start':
    case 'start':
      return 'If you approve, the work begins. Nothing has been done yet.';
    case 'form':
      return `When it is filled in, ${then}.`;
    case 'script_input':
      return 'The script goes on with what you write.';
    case 'guidance':
      return 'The work is done again with what you write.';
    case 'budget':
      return 'The work stands still and goes on from there. Nothing is paid twice.';
    case 'choice':
      return 'The run goes on along what you pick.';
    case 'retry':
      return 'The run is paused. Trying again keeps everything that was done before.';
    default:
      return '';
  }
}

/** How the answer that stands first is undone, in one sentence; nothing while that is not known. */
export function undone(waiting: Pick<InboxItem['waiting_for'], 'kind' | 'who'>, point: Point | null | undefined, name: string): string {
  const left = (waiting.who.required_approvals ?? 1) - (waiting.who.approved_by?.length ?? 0);
  switch (waiting.kind) {
    case 'approve_complete':
      return left > 1 ? 'Your approval stands until somebody asks for a revision.' : takenBack(point, name);
    case 'approve_start':
      return left > 1 ? 'Your approval cannot be withdrawn.' : 'Undo stops it and pauses the run.';
    case 'start':
      return 'Once it has begun, undo stops it and pauses the run.';
    case 'retry':
      return 'Undo stops it and pauses the run.';
    case 'script_input':
    case 'guidance':
    case 'budget':
      return 'It cannot be undone, but the work can be stopped.';
    case 'choice':
      return 'It cannot be undone.';
    default:
      return '';
  }
}
