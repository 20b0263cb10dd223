import { expect, it } from 'vitest';
import type { Artifact } from '@/api/types';
import { byName, versionName } from './artifacts';

const made = (id: string, name: string, run: number, at: string, more: Partial<Artifact> = {}) =>
  ({ artifact_record_id: id, artifact_name: name, file_name: `${name}.md`, pipeline_id: 'p', run_id: `r${run}`, run_version: run, created_at: at, revision_iteration: 0, attempt_number: 1, checkpoint_name: 'Plan', ...more }) as Artifact;
const all = [made('3', 'plan', 2, '2026-03'), made('2', 'goals', 1, '2026-02'), made('1', 'plan', 1, '2026-01'), made('1', 'plan', 1, '2026-01')];

it('groups by name, versions in order, each once', () => {
  expect(byName(all).map((one) => [one.name, one.versions.map((it) => it.artifact_record_id)])).toEqual([
    ['plan', ['1', '3']],
    ['goals', ['2']],
  ]);
});
it('finds by name', () => {
  expect(byName(all, 'GOA').map((one) => one.name)).toEqual(['goals']);
  expect(byName(all, 'nothing')).toEqual([]);
});
it('names a version by what tells it apart', () => {
  const revised = made('4', 'plan', 2, '2026-04', { revision_iteration: 1 });
  const versions = [...all, revised].filter((one) => one.artifact_name === 'plan');
  expect(versionName(revised, versions)).toBe('v2 rev 2');
  expect(versionName(all[1] as Artifact, [all[1] as Artifact])).toBe('v1');
});
