/** What an answer leads to, and how it is undone, in one sentence each. The inbox and the review say the same. */
import type { Me, WaitingFor } from '@/api/types';
import { many } from './figures';
import { onwards, type Place } from './pipelines';
import { hasRole } from './rights';
import { type Point, takenBack, takenUp, within } from './undo';

export interface Around {
  /** Where the checkpoint is in its pipeline. */
  place: Place | undefined;
  /** Whether the checkpoint's result has to be approved. */
  approved: boolean;
  version: number | undefined;
  point: Point | null | undefined;
  name: string;
  me: Pick<Me, 'role'> | undefined;
}

type Asked = Pick<WaitingFor, 'kind' | 'who'>;

/** How many approvals are needed, this one counted. */
const open = ({ who }: Asked) => (who.required_approvals ?? 1) - (who.approved_by?.length ?? 0);

/** `option` is what was chosen; without a choice the sentence is about the answer that is offered first. */
export function consequence(waiting: Asked, option: string | undefined, { place, approved, version }: Pick<Around, 'place' | 'approved' | 'version'>): string {
  const then = onwards(place);
  switch (waiting.kind) {
    case 'approve_complete':
      if (option === 'edit') return `What you write counts, and both versions are kept. Then ${then}.`;
      if (option === 'revise') return 'The work is done again with your words, and comes back to be approved.';
      if (option === 'reject') return `Run v${version ?? ''} is given up with your reason. What was made is kept.`;
      return open(waiting) > 1 ? `If you approve, ${many(open(waiting) - 1, 'more approval')} is needed.` : `If you approve, the result counts and ${then}.`;
    case 'approve_start':
      if (option === 'no') return 'The work does not start, and your reason is recorded. Starting it asks for approval again.';
      return open(waiting) > 1 ? `If you approve, ${many(open(waiting) - 1, 'more approval')} is needed before the work starts.` : 'If you approve, the work starts. Nothing has been done yet.';
    case 'start':
      return 'If you start it, the work begins. Nothing has been done yet.';
    case 'form':
      return approved ? `When it is sent, it waits to be approved; then ${then}.` : `When it is sent, the form counts and ${then}.`;
    case 'script_input':
      return 'The script continues with what you write.';
    case 'guidance':
      return 'The work is done again with what you write.';
    case 'budget':
      return 'The work is stopped at its limit and continues from there. Nothing is paid twice.';
    case 'choice':
      return 'The run continues along what you pick.';
    case 'retry':
      return 'The run is paused. Trying again keeps everything that was done before.';
    default:
      return '';
  }
}

/** Nothing while it is not known how the answer is undone. */
export function undone(waiting: Asked, option: string | undefined, { approved, point, name, me }: Pick<Around, 'approved' | 'point' | 'name' | 'me'>): string {
  switch (waiting.kind) {
    case 'approve_complete':
      if (option === 'revise') return 'It cannot be undone; what was made is kept.';
      if (option === 'reject') return takenUp(within(point));
      return open(waiting) > 1 ? 'Your approval counts until somebody asks for a revision.' : takenBack(point, name);
    case 'approve_start':
      if (option === 'no') return '';
      return open(waiting) > 1 ? 'Your approval cannot be withdrawn.' : 'Undo stops it and pauses the run.';
    case 'start':
      return 'Once it has started, undo stops it and pauses the run.';
    case 'retry':
      return 'Undo stops it and pauses the run.';
    case 'form':
      // What has to be approved can still be sent back; what counts at once is taken back by a person who may roll back.
      if (approved) return 'Until then it can be sent back.';
      return hasRole(me, 'approver') ? takenBack(point, name) : 'You cannot undo it: rolling back needs approver.';
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
