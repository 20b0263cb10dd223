/** A definition in words: what a checkpoint is, where it holds, and what its choices are called. */
import { many } from './figures';
import { isObject, type Json, type Loose, listAt, look, type Mode, modeOf, type Part, textAt } from './definition';

export const MODE_WORDS: Record<Mode, string> = { agentic: 'Agents', script: 'Script', human_only: 'Person' };

export const CREATION = [
  { value: 'predefined', label: 'Named' },
  { value: 'meta_agent', label: 'Made by a meta-agent' },
  { value: 'single', label: 'One agent' },
];
export const DISCUSSION = [
  { value: 'sequential', label: 'In turn', help: 'Each sees all before it; the last one writes.' },
  { value: 'parallel', label: 'In parallel', help: 'All at once, none sees the others; the last one merges.' },
  { value: 'council', label: 'As a council', help: 'All answer, read each other, and answer again until they agree.' },
  { value: 'debate', label: 'In debate', help: 'Two sides argue in turn; the last one judges.' },
];
export const TOOLS = [
  { value: 'web_search', label: 'Web search' },
  { value: 'file_operations', label: 'Files' },
  { value: 'code_execution', label: 'Run code' },
];
export const FIELD_TYPES = [
  { value: 'text', label: 'Line of text' },
  { value: 'multiline_text', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'boolean', label: 'Yes or no' },
  { value: 'file', label: 'File' },
];
export const FORMATS = ['json', 'md', 'mmd', 'txt', 'py', 'html', 'csv'].map((value) => ({ value, label: value }));
export const ON_FAILURE = [
  { value: 'pause_pipeline', label: 'Pause the run' },
  { value: 'rollback_checkpoint', label: 'Roll the checkpoint back' },
];
export const VALIDATION = [
  { value: 'llm_schema', label: 'By schema' },
  { value: 'llm_custom', label: 'By a question' },
  { value: 'both', label: 'By both' },
];
export const STRICTNESS = [
  { value: 'strict', label: 'Strict' },
  { value: 'lenient', label: 'Lenient' },
];
export const ON_INVALID = [
  { value: 'retry', label: 'Try again with the reasons' },
  { value: 'ask_human', label: 'Ask a person' },
  { value: 'fail_checkpoint', label: 'Fail' },
];
export const PREVIOUS_POINTS = [
  { value: 'before_task_prompt', label: 'Before the task' },
  { value: 'after_task_prompt', label: 'After the task' },
  { value: 'before_system_prompt', label: 'Before the system prompt' },
];
export const REFERENCE_POINTS = PREVIOUS_POINTS.slice(0, 2);
export const CONTENT_FORMATS = [
  { value: 'markdown', label: 'Markdown' },
  { value: 'xml', label: 'XML' },
  { value: 'json', label: 'JSON' },
];

/** "Form, 5 fields", "Agents, council of 3", "Script, analyse.py" */
export function about(part: Part): string {
  const { definition } = part;
  switch (modeOf(part)) {
    case 'human_only':
      return `Form, ${many(listAt(definition, '/execution/human_only_config/input_fields').length, 'field')}`;
    case 'script':
      return `Script, ${textAt(definition, '/execution/script_config/script_path') || 'no path yet'}`;
    case 'agentic':
      return agents(definition);
    default:
      return 'No mode yet';
  }
}

function agents(definition: Loose): string {
  const base = '/execution/agent_config';
  const mode = textAt(definition, `${base}/creation_mode`);
  if (mode === 'single') return `One agent${textAt(definition, `${base}/agent/name`) && `, ${textAt(definition, `${base}/agent/name`)}`}`;
  const talk = textAt(definition, `${base}/discussion_mode`);
  if (mode === 'meta_agent') return `Meta-agent, up to ${String(look(definition, `${base}/max_agents`) ?? '?')}`;
  const count = listAt(definition, `${base}/agents`).length;
  return talk === 'council' ? `Agents, council of ${count}` : `Agents, ${talk ? `${talk}, ` : ''}${count}`;
}

/** Where a person decides: before a checkpoint, and after it. */
export function holds(part: Part): { before: string | undefined; after: string | undefined } {
  const at = (name: string) => look(part.definition, `/human_interaction/${name}`);
  const approvers = listAt(part.definition, '/human_interaction/approvers');
  const needed = Number(at('required_approvals') ?? 1);
  const who = needed > 1 ? `${needed === 2 ? 'two' : needed} approvers` : approvers.length > 0 ? String(approvers.length === 1 ? approvers[0] : `one of ${approvers.length}`) : undefined;
  const revisions = Number(at('max_revision_iterations') ?? 0);
  return {
    before: at('requires_approval_to_start') === true ? `Hold: ${who ? `${who}, ` : ''}approve the start` : undefined,
    after: at('requires_approval_to_complete') === true ? `Hold: ${who ?? (revisions > 0 ? 'approve' : 'approve the result')}${revisions > 0 ? `, up to ${many(revisions, 'revision')}` : ''}` : undefined,
  };
}

/** "strict, 12 fields": what is known of a declared output. */
export function aboutArtifact(artifact: Loose): string {
  const description = textAt(artifact, '/description');
  if (description) return description;
  const schema = artifact.schema;
  if (isObject(schema)) {
    const properties = isObject(schema.properties) ? Object.keys(schema.properties).length : 0;
    return properties > 0 ? `schema with ${many(properties, 'field')}` : 'with a schema';
  }
  return '';
}

const WORDS: Record<string, string> = {
  checkpoint_name: 'name',
  checkpoint_description: 'description',
  human_only_config: 'form',
  agent_config: 'agents',
  script_config: 'script',
  required_checkpoint_ids: 'depends on',
  include_checkpoint_outputs: 'reads',
};

/** A pointer in words: "agents, turns 2, name". */
export function place(pointer: string): string {
  const parts = pointer.split('/').slice(1).filter((part) => !['execution', 'output', 'human_interaction'].includes(part));
  return parts.map((part) => (/^\d+$/.test(part) ? String(Number(part) + 1) : (WORDS[part] ?? part.replaceAll('_', ' ')))).join(', ');
}

/** A value in a few characters, for "was 18". */
export function short(value: Json | undefined): string {
  if (value === undefined || value === null || value === '') return 'empty';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'object') return 'something else';
  const text = String(value).replace(/\s+/g, ' ');
  return text.length > 28 ? `${text.slice(0, 27)}…` : text;
}
