/** Outputs by name: every version of one output, in the order in which they were made. */
import type { Artifact } from '@/api/types';

export interface Named {
  /** The pipeline and the name, as the address keeps them. */
  key: string;
  name: string;
  pipeline: string;
  /** Oldest first. */
  versions: Artifact[];
}

/** What people call it: the name of a stored file carries its record and its version as well. */
export const fileName = (artifact: Pick<Artifact, 'artifact_name' | 'format'>) => (artifact.format ? `${artifact.artifact_name}.${artifact.format}` : artifact.artifact_name);

const keyOf = (it: Artifact) => `${it.pipeline_id ?? ''}/${it.artifact_name}`;

/** Groups outputs; the name with the newest version comes first. `find` looks at names, files and checkpoints. */
export function byName(all: readonly Artifact[], find = ''): Named[] {
  const groups = new Map<string, Named>();
  const word = find.trim().toLowerCase();
  const seen = new Set<string>();
  for (const it of all) {
    if (seen.has(it.artifact_record_id)) continue;
    seen.add(it.artifact_record_id);
    if (word && ![it.artifact_name, it.file_name, it.checkpoint_name ?? ''].some((text) => text.toLowerCase().includes(word))) continue;
    const key = keyOf(it);
    const group = groups.get(key) ?? { key, name: it.artifact_name, pipeline: it.pipeline_id ?? '', versions: [] };
    group.versions.push(it);
    groups.set(key, group);
  }
  const newest = (group: Named) => group.versions.at(-1)?.created_at ?? '';
  for (const group of groups.values()) group.versions.sort((a, b) => a.created_at.localeCompare(b.created_at));
  return [...groups.values()].sort((a, b) => newest(b).localeCompare(newest(a)));
}

/** "v2", "v2 rev 1", "v2 try 2": what tells it apart from the others of its run. */
export function versionName(it: Artifact, all: readonly Artifact[]): string {
  const own = all.filter((other) => other.run_id === it.run_id);
  const version = `v${it.run_version ?? '?'}`;
  if (own.length === 1) return version;
  const revision = own.some((other) => other.revision_iteration !== it.revision_iteration) ? ` rev ${it.revision_iteration + 1}` : '';
  const tries = own.some((other) => other.revision_iteration === it.revision_iteration && other.attempt_number !== it.attempt_number) ? ` try ${it.attempt_number}` : '';
  return version + revision + tries;
}
