/** What waits, as the inbox shows it. */
import type { InboxItem, Me, Run } from '@/api/types';
import { many } from './figures';
import { isMine } from './rights';
import { asked, type Status } from './status';

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
