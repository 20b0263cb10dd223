/**
 * Asks the server what it says to a filled-in form. There is no other judge of a field's rule, so a pipeline with this
 * form alone is made, run once and put away; the next trial brings the same one back.
 */
import { useMutation } from '@tanstack/react-query';
import { body, client } from '@/api/client';
import { Problem } from '@/api/problem';
import { isObject, listAt, type Loose, look, put } from '@/model/definition';

export const TRIAL = 'Tried form';

export interface Tried {
  /** What was kept; none: it was refused. */
  kept: boolean;
  /** What is wrong, by the field's name. */
  wrong: Record<string, string>;
  problem: Problem | undefined;
}

/** A form alone: no references, no approvals, nothing that needs a file. */
function alone(definition: Loose): Loose {
  const at = '/execution/human_only_config/input_fields';
  const fields = listAt(definition, at).filter(isObject).filter((field) => field.type !== 'file').map((field) => put(field, '/field_id', undefined));
  return {
    checkpoint_name: 'Form',
    checkpoint_description: 'Tried from the editor.',
    inputs: { include_previous_version: false },
    execution: { mode: 'human_only', human_only_config: { ...(look(definition, '/execution/human_only_config') as Loose), input_fields: fields }, retry_config: { max_auto_retries: 0, on_failure: 'pause_pipeline' }, timeout_config: { enabled: false } },
    human_interaction: { requires_approval_to_start: false, requires_approval_to_complete: false, max_revision_iterations: 0 },
    output: {},
  };
}

const path = (id: string) => ({ params: { path: { id } } });

async function prepared(definition: Loose): Promise<string> {
  const deleted = await body(client.GET('/api/pipelines', { params: { query: { deleted: true, limit: 100 } } }));
  const before = deleted.items.find((one) => one.pipeline_name === TRIAL)?.pipeline_id;
  if (before) await body(client.POST('/api/pipelines/{id}/restore', { ...path(before), body: {} }));
  const file = { ...(before ? { pipeline_id: before } : {}), pipeline_name: TRIAL, pipeline_description: 'Made by “Try the form”.', config: { auto_advance: true }, checkpoints: [alone(definition)] };
  try {
    const applied = await body(client.POST('/api/pipelines/apply', { body: file as never, headers: { 'Content-Type': 'application/json' } }));
    return applied.pipeline?.pipeline_id ?? '';
  } catch (error) {
    if (before) await body(client.DELETE('/api/pipelines/{id}', path(before)));
    throw error;
  }
}

/** The execution, once it has its form. */
async function waiting(run: string): Promise<string> {
  for (let look = 0; look < 50; look += 1) {
    const now = await body(client.GET('/api/runs/{id}', path(run)));
    if (now.current_execution?.waiting_for?.kind === 'form') return now.current_execution.execution_id;
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  throw new Problem(0, 'console_error', 'The form did not come up.', 'Try again.');
}

async function tryIt({ definition, values }: { definition: Loose; values: Record<string, unknown> }): Promise<Tried> {
  const pipeline = await prepared(definition);
  const run = await body(client.POST('/api/runs', { body: { pipeline_id: pipeline, start: true } }));
  try {
    const execution = await waiting(run.run_id);
    await body(client.POST('/api/executions/{id}/submit', { ...path(execution), body: { fields: values } as never }));
    return { kept: true, wrong: {}, problem: undefined };
  } catch (error) {
    const problem = Problem.of(error);
    const wrong = Object.fromEntries(problem.errors.map((fault) => [fault.pointer.replace(/^\/fields\//, '').replaceAll('~1', '/').replaceAll('~0', '~'), fault.message]));
    return { kept: false, wrong, problem };
  } finally {
    await body(client.POST('/api/runs/{id}/abort', { ...path(run.run_id), body: {} })).catch(() => undefined);
    await body(client.DELETE('/api/pipelines/{id}', path(pipeline))).catch(() => undefined);
  }
}

export const useTrial = () => useMutation({ mutationFn: tryIt });
