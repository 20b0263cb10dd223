/** Roles in words, and how long a token is good. */
import type { Token } from '@/api/types';
import { many } from './figures';

export interface Role {
  value: string;
  may: string;
}

/** Each may do all that the ones before it may. */
export const ROLES: readonly Role[] = [
  { value: 'viewer', may: 'looks at everything in its pipelines and changes nothing' },
  { value: 'operator', may: 'starts, pauses, resumes, retries and ends runs, fills in forms, leaves notes' },
  { value: 'approver', may: 'answers questions: approves, asks for revisions, rejects, rolls back and undoes that' },
  { value: 'admin', may: 'changes pipelines, and makes and revokes tokens' },
];

export const LASTS = [
  { value: '1', label: '1 day' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: '', label: 'Does not end' },
] as const;

export const seconds = (days: string) => (days === '' ? undefined : Number(days) * 86_400);

/** "all pipelines", "2 pipelines", or the name of the one. */
export function scope(pipelines: readonly string[], names: ReadonlyMap<string, string>): string {
  if (pipelines.length === 0) return 'all pipelines';
  const [only] = pipelines;
  return pipelines.length === 1 && only ? (names.get(only) ?? '1 pipeline') : many(pipelines.length, 'pipeline');
}

export const isOver = (token: Pick<Token, 'expires_at'>, now: Date) => token.expires_at != null && Date.parse(token.expires_at) <= now.getTime();

/** The same as a command. */
export function tokenCommand(name: string, role: string, days: string, agent: boolean, pipelines: readonly string[]): string {
  const quoted = /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
  return ['holdpoint token create', quoted || 'NAME', `--role ${role}`, ...(days ? [`--days ${days}`] : []), ...pipelines.map((id) => `--pipeline ${id}`), ...(agent ? ['--agent'] : [])].join(' ');
}
