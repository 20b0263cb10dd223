import { expect, it } from 'vitest';
import { type Draft, put } from './definition';
import { made } from './definition-made';
import { told, tokens } from './prompts';

const empty: Draft = { name: 'Brief', description: '', config: {}, parts: [] };

it('puts what is given where the definition says, around the task', () => {
  const form = made(empty, 'human_only');
  let agents = made(empty, 'agentic');
  const changes = {
    '/instructions/task_prompt': 'Write it.',
    '/instructions/system_prompt': 'House rules.',
    '/execution/agent_config/agent': { name: 'Clerk', system_prompt: 'You are the clerk.', task_prompt: 'In one page.' },
    '/inputs/include_previous_version': true,
    '/inputs/include_checkpoint_outputs': [{ checkpoint_id: form.key, use_summarization: true }],
    '/instructions/injection_points': { previous_version_context: 'before_system_prompt', checkpoint_references: 'after_task_prompt' },
  };
  for (const [pointer, value] of Object.entries(changes)) agents = { ...agents, definition: put(agents.definition, pointer, value) };
  const [one] = told({ ...empty, parts: [form, agents] }, agents);
  expect(one?.name).toBe('Clerk');
  expect(one?.system).toMatch(/^=== PREVIOUS VERSION: Checkpoint 2[^]*House rules\.\n\nYou are the clerk\.$/);
  expect(one?.user).toMatch(/^=== YOUR TASK ===\nWrite it\.\n\nIn one page\.\n\n=== REFERENCED OUTPUT: Checkpoint 1[^]*Form: all that it made, as a summary\]$/);
  expect(tokens('12345')).toBe(2);
});
