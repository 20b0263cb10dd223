/** The order in which a definition's fields are written, as the document and every export have them. */
import type { Json, Loose } from './definition';

const ORDER = [
  'checkpoint_id checkpoint_name checkpoint_description dependencies inputs execution human_interaction output instructions',
  'include_previous_version include_checkpoint_outputs',
  'mode agent_config script_config human_only_config retry_config timeout_config budget network',
  'creation_mode meta_agent_instructions max_agents agents agent discussion_mode max_turns show_conversation tools model',
  'script_path entry_function requires_user_input user_input_prompt',
  'input_fields save_as_artifact artifact_name artifact_format',
  'artifacts name type label required default validation',
  'role system_prompt task_prompt examples injection_points injection_format',
  'format description schema',
  'enabled validation_mode schema_validation_strictness custom_validation_prompt on_validation_failure max_validation_retries timeout_minutes on_timeout',
  'requires_approval_to_start requires_approval_to_complete max_revision_iterations approvers required_approvals',
  'max_auto_retries on_failure retry_delay_seconds',
  'tokens cost_usd minutes',
].flatMap((line) => line.split(' '));
const PLACE = new Map(ORDER.map((name, at) => [name, at]));

/** What people write freely keeps their order. */
const FREE = new Set(['schema', 'parameters', 'input', 'output', 'default']);
const place = (name: string) => PLACE.get(name) ?? ORDER.length;

export function ordered(value: Loose, free = false): Loose {
  const names = Object.keys(value);
  if (!free) names.sort((a, b) => place(a) - place(b));
  return Object.fromEntries(names.map((name) => [name, inside(value[name], free || (FREE.has(name) && !(name === 'output' && 'execution' in value)))]));
}

function inside(value: Json | undefined, free: boolean): Json | undefined {
  if (Array.isArray(value)) return value.map((one) => inside(one, free) as Json);
  return value !== null && typeof value === 'object' ? ordered(value, free) : value;
}
