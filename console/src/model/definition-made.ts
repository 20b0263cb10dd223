/** New checkpoints, and checkpoints that change their mode. */
import { type Draft, isObject, type Loose, look, type Mode, newKey, type Part, put } from './definition';

const INJECTION: Loose = { previous_version_context: 'before_task_prompt', checkpoint_references: 'before_task_prompt' };

const CONFIGS: Record<Mode, [string, Loose]> = {
  human_only: ['human_only_config', { instructions: '', input_fields: [], save_as_artifact: true, artifact_name: 'answers', artifact_format: 'json' }],
  script: ['script_config', { script_path: '', entry_function: 'main', requires_user_input: false }],
  agentic: ['agent_config', { creation_mode: 'single', agent: { name: 'Agent', system_prompt: '', task_prompt: '' }, tools: [] }],
};

/** A name that no other checkpoint has. */
function freeName(draft: Draft, wanted: string): string {
  const taken = new Set(draft.parts.map((part) => part.definition.checkpoint_name));
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number += 1) if (!taken.has(`${wanted} ${number}`)) return `${wanted} ${number}`;
}

const NAMES: Record<Mode, string> = { human_only: 'Form', script: 'Script', agentic: 'Agents' };

export function made(draft: Draft, mode: Mode): Part {
  const [section, config] = CONFIGS[mode];
  const definition: Loose = {
    checkpoint_name: freeName(draft, NAMES[mode]),
    checkpoint_description: '',
    dependencies: { required_checkpoint_ids: [] },
    inputs: { include_previous_version: false, include_checkpoint_outputs: [] },
    execution: { mode, [section]: config, retry_config: { max_auto_retries: 0, on_failure: 'pause_pipeline', retry_delay_seconds: 5 }, timeout_config: { enabled: false } },
    human_interaction: { requires_approval_to_start: false, requires_approval_to_complete: false, max_revision_iterations: 3 },
    output: { artifacts: [], validation: { enabled: false } },
    ...(mode === 'human_only' ? {} : { instructions: { task_prompt: '', injection_points: INJECTION } }),
  };
  return { key: newKey(), definition };
}

/** The same checkpoint done by somebody else: the section of the other mode goes, since it would look as if it did something. */
export function inMode(definition: Loose, mode: Mode): Loose {
  let next = put(definition, '/execution/mode', mode);
  for (const [other, [section, config]] of Object.entries(CONFIGS)) {
    if (other !== mode) next = put(next, `/execution/${section}`, undefined);
    else if (!isObject(look(next, `/execution/${section}`))) next = put(next, `/execution/${section}`, config);
  }
  if (mode === 'human_only') next = put(put(next, '/execution/budget', undefined), '/execution/network', undefined);
  else if (!isObject(next.instructions)) next = put(next, '/instructions', { task_prompt: '', injection_points: INJECTION });
  return next;
}

/** Another way to find the agents: what belongs to the old way goes. */
export function inCreation(config: Loose, mode: string): Loose {
  const { agent, agents, meta_agent_instructions, max_agents, discussion_mode, max_turns, show_conversation, ...rest } = config;
  const list = Array.isArray(agents) ? agents.filter(isObject) : [];
  const one = isObject(agent) ? agent : undefined;
  const talk = { discussion_mode: discussion_mode ?? 'sequential', max_turns: max_turns ?? 6, show_conversation: show_conversation ?? true };
  if (mode === 'single') {
    const first = one ?? list[0] ?? {};
    return { ...rest, creation_mode: mode, agent: { name: first.name ?? 'Agent', system_prompt: first.system_prompt ?? '', task_prompt: first.task_prompt ?? '' } };
  }
  if (mode === 'predefined') {
    const kept = list.length > 0 ? list : [{ name: one?.name ?? 'Agent', role: '', system_prompt: one?.system_prompt ?? '', task_prompt: one?.task_prompt ?? '' }];
    return { ...rest, creation_mode: mode, agents: kept, ...talk };
  }
  return { ...rest, creation_mode: mode, meta_agent_instructions: meta_agent_instructions ?? '', max_agents: max_agents ?? 3, ...talk };
}

/** Checks turned on, off, or asked in another way: fields that do nothing then go. */
export function inValidation(now: Loose, changes: Loose): Loose {
  const next = { ...now, ...changes };
  if (next.enabled !== true) return { enabled: false };
  const mode = next.validation_mode ?? 'llm_schema';
  const schema = mode !== 'llm_custom' ? { schema_validation_strictness: next.schema_validation_strictness ?? 'strict' } : {};
  const custom = mode !== 'llm_schema' ? { custom_validation_prompt: next.custom_validation_prompt ?? '' } : {};
  return { enabled: true, validation_mode: mode, ...schema, ...custom, on_validation_failure: next.on_validation_failure ?? 'retry', max_validation_retries: next.max_validation_retries ?? 2 };
}
