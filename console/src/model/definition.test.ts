import { expect, it } from 'vitest';
import { changed, type Draft, draftFrom, look, moved, put, renamedArtifact, sent, shown, without } from './definition';
import { localFaults, merged, serverFaults } from './definition-faults';
import { changedLines, lineOf, linesOf, read, textOf } from './definition-file';
import { inCreation, inMode, inValidation, made } from './definition-made';
import { about, holds } from './definition-words';

const empty: Draft = { name: 'Brief', description: '', config: { auto_advance: true }, parts: [] };

/** A form that is saved, and agents that read it. */
function sample(): Draft {
  const form = { ...made(empty, 'human_only'), key: 'id-1', id: 'id-1' };
  const agents = { ...made(empty, 'agentic'), key: 'id-2', id: 'id-2' };
  form.definition = put(form.definition, '/output/artifacts', [{ artifact_id: 'a-1', name: 'scope', format: 'md' }]);
  agents.definition = put(put(agents.definition, '/inputs/include_checkpoint_outputs', [{ checkpoint_id: 'id-1', artifact_ids: ['a-1'], use_summarization: false }]), '/dependencies/required_checkpoint_ids', ['id-1']);
  return { ...empty, parts: [form, agents] };
}

it('puts and takes at pointers without touching the old value', () => {
  const before = { list: [1, { name: 'a' }], 'a/b': 1 };
  const after = put(before, '/list/1/name', 'b');
  expect([look(after, '/list/1/name'), look(before, '/list/1/name'), look(before, '/a~1b'), look(before, '/none/at/all')]).toEqual(['b', 'a', 1, undefined]);
  expect(put(before, '/list/0', undefined)).toEqual({ list: [{ name: 'a' }], 'a/b': 1 });
  expect(put({}, '/x/y', 1)).toEqual({ x: { y: 1 } });
});

it('sends ids and shows names', () => {
  const draft = sample();
  const output = '/checkpoints/1/inputs/include_checkpoint_outputs/0';
  expect(look(sent(draft, 'p'), output)).toEqual({ checkpoint_id: 'id-1', artifact_ids: ['a-1'], use_summarization: false });
  expect(look(shown(draft), output)).toEqual({ checkpoint_id: 'Form', artifact_ids: ['scope'], use_summarization: false });
  expect(look(shown(draft), '/checkpoints/0/checkpoint_id')).toBeUndefined();
});

it('comes back from its file as it was, in YAML and in JSON', () => {
  const draft = sample();
  for (const format of ['yaml', 'json'] as const) {
    const back = read(textOf(draft, format), draft);
    expect(back).not.toHaveProperty('message');
    expect(changed(draft, back as Draft)).toEqual({ structure: undefined, words: [] });
    expect(look(sent(back as Draft, 'p'), '/checkpoints/1/inputs')).toEqual(look(sent(draft, 'p'), '/checkpoints/1/inputs'));
  }
});

it('knows a checkpoint again when the file renames it, and says what cannot be read', () => {
  const draft = sample();
  const back = read(textOf(draft, 'yaml').replaceAll('Form', 'Scope'), draft) as Draft;
  expect(back.parts.map((part) => part.id)).toEqual(['id-1', 'id-2']);
  expect(look(back.parts[1]?.definition, '/dependencies/required_checkpoint_ids')).toEqual(['id-1']);
  const half = read(textOf(draft, 'yaml').replace('checkpoint_name: Form', 'checkpoint_name: Scope'), draft, (place) => `k${place}`) as Draft;
  expect(look(half.parts[1]?.definition, '/dependencies/required_checkpoint_ids')).toEqual(['id-1']);
  expect(read('pipeline_name: [', draft)).toMatchObject({ line: 1 });
  expect(draftFrom([1], draft)).toContain('object');
});

it('says which lines belong to a field, and which changed', () => {
  const text = textOf(sample(), 'yaml');
  const lines = linesOf(text);
  const at = lineOf(lines, '/checkpoints/1/execution/agent_config/creation_mode');
  expect(text.split('\n')[(at?.from ?? 0) - 1]?.trim()).toBe('creation_mode: single');
  expect(lineOf(lines, '/checkpoints/1/execution/agent_config/missing')?.from).toBe(lines.get('/checkpoints/1/execution/agent_config')?.from);
  expect(changedLines('a\nb\nc', 'a\nx\nc\nd')).toEqual([2, 4]);
});

it('follows names and leaves nothing that refers to what is gone', () => {
  const draft = sample();
  const named = { ...draft, parts: draft.parts.map((part) => (part.key === 'id-2' ? { ...part, definition: put(part.definition, '/inputs/include_checkpoint_outputs/0/artifact_ids', ['scope']) } : part)) };
  expect(look(renamedArtifact(named, 'id-1', 'scope', 'frame').parts[1]?.definition, '/inputs/include_checkpoint_outputs/0/artifact_ids')).toEqual(['frame']);
  const left = without(draft, 'id-1');
  expect([look(left.parts[0]?.definition, '/dependencies/required_checkpoint_ids'), look(left.parts[0]?.definition, '/inputs/include_checkpoint_outputs')]).toEqual([[], []]);
});

it('says what is not saved, and whether numbers start again', () => {
  const draft = sample();
  expect(changed(draft, draft)).toEqual({ structure: undefined, words: [] });
  expect(changed(draft, moved(draft, 'id-2', 0))).toEqual({ structure: 'order', words: ['order'] });
  expect(changed(draft, { ...draft, parts: [...draft.parts, made(draft, 'script')] })).toEqual({ structure: 'added', words: ['Script added'] });
  expect(changed(draft, without(draft, 'id-2'))).toEqual({ structure: 'removed', words: ['Agents removed'] });
});

it('keeps the fields of one mode alone', () => {
  const { definition } = made(empty, 'agentic');
  const script = inMode(definition, 'script');
  expect(Object.keys(script.execution as object)).not.toContain('agent_config');
  expect(look(inMode(put(script, '/execution/budget', { tokens: 1 }), 'human_only'), '/execution/budget')).toBeUndefined();
  const team = inCreation({ creation_mode: 'single', agent: { name: 'A', system_prompt: 's', task_prompt: 't' }, tools: [] }, 'predefined');
  expect([Object.keys(team).includes('agent'), team.discussion_mode, look(team, '/agents/0/name')]).toEqual([false, 'sequential', 'A']);
  expect(Object.keys(inCreation(team, 'single')).sort()).toEqual(['agent', 'creation_mode', 'tools']);
  expect(inValidation({ enabled: false }, { enabled: true })).toMatchObject({ validation_mode: 'llm_schema', schema_validation_strictness: 'strict' });
  expect(Object.keys(inValidation({ enabled: true, validation_mode: 'llm_schema' }, { validation_mode: 'llm_custom' }))).not.toContain('schema_validation_strictness');
});

it('finds what is plainly wrong, and says each thing once', () => {
  const draft = { ...empty, name: ' ', parts: [made(empty, 'script')] };
  const local = localFaults(draft);
  expect(local.map((fault) => fault.pointer)).toEqual(['/pipeline_name', '/instructions/task_prompt', '/execution/script_config/script_path']);
  const server = serverFaults([{ pointer: '/checkpoints/0/execution/script_config/script_path', message: 'a path is required (line 3, column 2)' }], draft);
  expect(server).toEqual([{ key: draft.parts[0]?.key, pointer: '/execution/script_config/script_path', message: 'A path is required.' }]);
  expect(merged(local, server)).toEqual(local);
  expect(merged([], server)).toEqual(server);
});

it('says what a checkpoint is and where it holds', () => {
  const form = made(empty, 'human_only');
  expect(about(form)).toBe('Form, 0 fields');
  expect(about(made(empty, 'script'))).toBe('Script, no path yet');
  const held = { ...form, definition: put(form.definition, '/human_interaction', { requires_approval_to_start: true, requires_approval_to_complete: true, max_revision_iterations: 5, required_approvals: 2 }) };
  expect(holds(held)).toEqual({ before: 'Hold: two approvers, approve the start', after: 'Hold: two approvers, up to 5 revisions' });
});
