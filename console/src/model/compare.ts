/** Two sides of a comparison in words, and where they first differ. */
import type { Comparison, components } from '@/api/types';
import type { Hunk, Line } from './difference';
import { many } from './figures';
import { execution, run, type Status } from './status';

export type CheckpointComparison = components['schemas']['CheckpointComparison'];
export type Side = components['schemas']['SideDocument'];

/** An address of a side: a run, an execution, or `{execution}@{revision}.{attempt}`. */
export function parseSide(text: string | undefined): { id: string; revision?: number; attempt?: number } | undefined {
  if (!text) return undefined;
  const [id = '', at] = text.split('@');
  const found = at === undefined ? null : /^(\d+)\.(\d+)$/.exec(at);
  return found ? { id, revision: Number(found[1]), attempt: Number(found[2]) } : { id };
}

/** "v2", "Plan in v2", "Plan in v2, revision 2, try 1". */
export function sideName(side: Side, name?: string): string {
  const version = `v${side.run_version ?? '?'}`;
  if (side.kind === 'run') return version;
  const place = `${name ?? 'One checkpoint'} in ${version}`;
  return side.kind === 'attempt' ? `${place}, revision ${(side.revision_iteration ?? 0) + 1}, try ${side.attempt_number ?? 1}` : place;
}

/** What differs in a checkpoint, in a few words; nothing, where nothing does. */
export function differs(it: CheckpointComparison): string[] {
  const said: string[] = [];
  if (it.status_a == null || it.status_b == null) {
    if (it.status_a != null || it.status_b != null) said.push(it.status_a == null ? 'only on the right' : 'only on the left');
  } else if (it.status_a !== it.status_b) said.push('status');
  if (it.definition_diff) said.push('definition');
  const changed = it.artifacts.filter((one) => one.change !== 'same').length;
  if (changed > 0) said.push(many(changed, 'artifact'));
  const decided = (all: CheckpointComparison['decisions_a']) => all.map((one) => `${one.type} ${one.user_input}`).join('\n');
  if (decided(it.decisions_a) !== decided(it.decisions_b)) said.push('decisions');
  return said;
}

/** The position of the first checkpoint that differs. */
export const firstDifference = (it: Comparison) => it.checkpoints.find((one) => differs(one).length > 0)?.checkpoint_position;

/** Two lines that stand beside each other; one may be missing. */
export interface Pair {
  left: Line | undefined;
  right: Line | undefined;
}

/** The lines of a hunk as pairs: what went beside what came in its place. */
export function pairs(hunk: Hunk): Pair[] {
  const all: Pair[] = [];
  let went: Line[] = [];
  let came: Line[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(went.length, came.length); at += 1) all.push({ left: went[at], right: came[at] });
    went = [];
    came = [];
  };
  for (const line of hunk.lines) {
    if (line.sign === '-') went.push(line);
    else if (line.sign === '+') came.push(line);
    else {
      flush();
      all.push({ left: line, right: line });
    }
  }
  flush();
  return all;
}

/** What the API calls the outcome of a try. */
const OUTCOMES: Record<string, Status> = {
  working: { icon: 'live', tone: 'live', word: 'Running' },
  done: { icon: 'done', tone: 'ink-2', word: 'Done' },
  approved: { icon: 'person-done', tone: 'ink-2', word: 'Approved' },
  revision_requested: { icon: 'sent-back', tone: 'ink-2', word: 'Sent back' },
  failed: { icon: 'failed', tone: 'fail', word: 'Failed' },
};

/** How a side is drawn, a run by what its checkpoints wait for. Nobody answers from here, so nothing is drawn as yours. */
export function sideStatus(side: Pick<Side, 'kind' | 'status'>, steps: readonly (string | null | undefined)[] = []): Status {
  const waits = side.kind === 'run' && side.status === 'in_progress' ? steps.find((status) => status?.startsWith('waiting_')) : undefined;
  if (waits) return stepStatus(waits);
  if (side.kind === 'attempt') return OUTCOMES[side.status] ?? execution({ status: side.status, attempt_number: 1, max_attempts: 1 }, () => false);
  return side.kind === 'run' ? run({ status: side.status, pause_requested: false }, () => false) : stepStatus(side.status);
}

export function stepStatus(status: string): Status {
  const drawn = execution({ status, attempt_number: 1, max_attempts: 1 }, () => false);
  return drawn.tone === 'hold' ? { ...drawn, icon: 'others', tone: 'hold-ink' } : drawn;
}
