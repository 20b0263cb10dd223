/** What the signed-in person may answer, by what the API says about both. The server decides; this only draws. */
import type { Me, WaitingFor } from '@/api/types';

const ROLES = ['viewer', 'operator', 'approver', 'admin'];
const rank = (role: string) => ROLES.indexOf(role);

export const hasRole = (me: Pick<Me, 'role'> | undefined, role: string) => me !== undefined && rank(me.role) >= rank(role);

/** Why a person may not answer; nothing, if they may. */
export function whyNot(me: Pick<Me, 'name' | 'role' | 'kind'> | undefined, waiting: Pick<WaitingFor, 'who'>): string | undefined {
  if (!me) return 'Nobody is signed in.';
  const { who } = waiting;
  if (me.kind === 'agent') return 'An agent never decides.';
  if (!hasRole(me, who.role)) return `Your role is ${me.role}; this needs ${who.role}.`;
  if (who.approvers?.length && !who.approvers.includes(me.name)) return `Only ${who.approvers.join(', ')} may answer.`;
  if (who.asked_by === me.name) return 'You asked for it yourself.';
  if (who.approved_by?.includes(me.name)) return 'You have approved it already.';
  return undefined;
}

export const isMine = (me: Parameters<typeof whyNot>[0], waiting: Pick<WaitingFor, 'who'>) => whyNot(me, waiting) === undefined;
