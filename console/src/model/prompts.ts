/** What each agent of a checkpoint would be told, as far as the definition says it: a look before anything is spent. */
import { type Draft, isObject, listAt, type Loose, look, nameOf, type Part, textAt } from './definition';

export interface Told {
  name: string;
  system: string;
  user: string;
}

const trimmed = (texts: readonly (string | undefined)[]) => texts.map((text) => (text ?? '').trim()).filter((text, at, all) => text !== '' && all.indexOf(text) === at);

/** Every agent's prompts; what a run gives stands there as a heading with what it will be. */
export function told(draft: Draft, part: Part): Told[] {
  const { definition } = part;
  const config = look(definition, '/execution/agent_config');
  const team: Loose[] = !isObject(config)
    ? []
    : config.creation_mode === 'meta_agent'
      ? [{ name: 'Meta-agent', task_prompt: config.meta_agent_instructions }]
      : isObject(config.agent)
        ? [config.agent]
        : listAt(config, '/agents').filter(isObject);
  const place = draft.parts.indexOf(part) + 1;
  const previous = look(definition, '/inputs/include_previous_version') === true ? [`=== PREVIOUS VERSION: Checkpoint ${place} from the run before ===\n[what ${nameOf(part)} made there]`] : [];
  const referenced = listAt(definition, '/inputs/include_checkpoint_outputs')
    .filter(isObject)
    .map((one) => {
      const at = draft.parts.findIndex((other) => other.key === one.checkpoint_id);
      const other = draft.parts[at];
      const names = Array.isArray(one.artifact_ids) ? one.artifact_ids.map((id) => listAt(other?.definition, '/output/artifacts').filter(isObject).find((artifact) => artifact.artifact_id === id)?.name ?? id).join(', ') : 'all that it made';
      return `=== REFERENCED OUTPUT: Checkpoint ${at + 1} from this run ===\n[${other ? nameOf(other) : 'a checkpoint that is gone'}: ${names}${one.use_summarization === true ? ', as a summary' : ''}]`;
    });
  const previousAt = textAt(definition, '/instructions/injection_points/previous_version_context') || 'before_task_prompt';
  const referencedAt = textAt(definition, '/instructions/injection_points/checkpoint_references') || 'before_task_prompt';
  const examples = listAt(definition, '/instructions/examples')
    .filter(isObject)
    .map((one, at) => [`Example ${at + 1}:`, ...(['input', 'output'] as const).flatMap((name) => (one[name] === undefined ? [] : [`${name === 'input' ? 'Input' : 'Output'}:\n${JSON.stringify(one[name], null, 2)}`]))].join('\n'));
  return team.map((agent) => {
    const task = trimmed([textAt(definition, '/instructions/task_prompt'), textAt(agent, '/task_prompt')]).join('\n\n');
    const around = (point: string) => [...(previousAt === point ? previous : []), ...(referencedAt === point ? referenced : [])];
    return {
      name: textAt(agent, '/name') || 'Agent',
      system: [...(previousAt === 'before_system_prompt' ? previous : []), ...trimmed([textAt(definition, '/instructions/system_prompt'), textAt(agent, '/system_prompt')]), ...examples].join('\n\n'),
      user: [...around('before_task_prompt'), `=== YOUR TASK ===\n${task || '[no task yet]'}`, ...around('after_task_prompt')].join('\n\n'),
    };
  });
}

/** About how many tokens a text has: four bytes are one, as the server counts. */
export const tokens = (text: string) => Math.ceil(new TextEncoder().encode(text).length / 4);
