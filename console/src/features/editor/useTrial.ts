/** Asks the server what it says to a filled-in form: a dry run of the form alone. */
import { useMutation } from '@tanstack/react-query';
import { type Walk, walk } from '@/api/hooks/dry-runs';
import { Problem } from '@/api/problem';
import { isObject, listAt, type Loose, look, put } from '@/model/definition';

export interface Tried {
  /** Whether the answers would be taken. */
  kept: boolean;
  /** What is wrong, by the field's name. */
  wrong: Record<string, string>;
  problem: Problem | undefined;
}

const NAME = 'Form';

/** A form alone: no references, no approvals, nothing that needs a file. */
function alone(definition: Loose): Loose {
  const at = '/execution/human_only_config/input_fields';
  const fields = listAt(definition, at).filter(isObject).filter((field) => field.type !== 'file').map((field) => put(field, '/field_id', undefined));
  return {
    checkpoint_name: NAME,
    checkpoint_description: 'Tried from the editor.',
    inputs: { include_previous_version: false },
    execution: { mode: 'human_only', human_only_config: { ...(look(definition, '/execution/human_only_config') as Loose), input_fields: fields }, retry_config: { max_auto_retries: 0, on_failure: 'pause_pipeline' }, timeout_config: { enabled: false } },
    human_interaction: { requires_approval_to_start: false, requires_approval_to_complete: false, max_revision_iterations: 0 },
    output: {},
  };
}

const fieldOf = (pointer: string) => pointer.replace(/^\/fields\//, '').replaceAll('~1', '/').replaceAll('~0', '~');

async function tryIt({ definition, values }: { definition: Loose; values: Record<string, unknown> }): Promise<Tried> {
  const file = { pipeline_name: 'Tried form', pipeline_description: 'Tried from the editor.', config: { auto_advance: true }, checkpoints: [alone(definition)] };
  const report = await walk({ definition: file, answers: { [NAME]: [{ fields: values }] } } as unknown as Walk);
  const errors = report.findings.filter((one) => one.level === 'error');
  const wrong = Object.fromEntries(errors.flatMap((one) => one.errors ?? []).map((fault) => [fieldOf(fault.pointer), fault.message]));
  const [first] = errors;
  const problem = first ? new Problem(0, 'not_taken', `${first.message}.`, 'Change the form or what is filled in.') : undefined;
  return { kept: report.status === 'completed', wrong, problem };
}

export const useTrial = () => useMutation({ mutationFn: tryIt });
