/** Trying one checkpoint: what is asked of the server, and what is shown of its answer. */
import type { components } from '@/api/schema';
import { type Draft, isObject, listAt, type Loose, look, modeOf, nameOf, type Part, shown, textAt } from './definition';

type DryRunReport = components['schemas']['DryRunReport'];
type DryCheckpoint = components['schemas']['DryCheckpoint'];
type Walk = components['schemas']['Walk'];

/** What somebody wrote for the checkpoint; what is empty is made up. */
export interface Script {
  /** By the output's name. */
  outputs: Readonly<Record<string, string>>;
  verdict: 'passes' | 'fails';
  reason: string;
}

export const UNWRITTEN: Script = { outputs: {}, verdict: 'passes', reason: '' };

/** The outputs that can be written. */
export const outputsOf = (definition: Loose) =>
  listAt(definition, '/output/artifacts')
    .filter(isObject)
    .map((one) => ({ name: textAt(one, '/name'), format: textAt(one, '/format') }))
    .filter((one) => one.name !== '');

/** Whether a model looks at what is made. */
export const isJudged = (definition: Loose) => look(definition, '/output/validation/enabled') === true && modeOf({ definition } as Part) !== 'human_only';

/** What the server is asked to walk: everything up to the checkpoint, with its own answers. */
export function asked(draft: Draft, part: Part, script: Script, pipeline: string | undefined): Walk {
  const written = Object.fromEntries(Object.entries(script.outputs).filter(([, text]) => text !== ''));
  const judged = isJudged(part.definition) ? { verdict: script.verdict === 'passes' ? true : { passed: false, reasons: [script.reason || 'It was to fail.'] } } : {};
  const stub = { ...(Object.keys(written).length > 0 ? { artifacts: written } : {}), ...judged };
  return {
    definition: shown(draft),
    until: nameOf(part),
    ...(pipeline === undefined ? {} : { pipeline_id: pipeline }),
    ...(Object.keys(stub).length > 0 ? { stubs: { [nameOf(part)]: stub } } : {}),
  } as Walk;
}

export interface Trial {
  /** The checkpoint, if it was reached. */
  reached: DryCheckpoint | undefined;
  completed: boolean;
  /** One sentence. */
  said: string;
  errors: readonly string[];
  /** What a real run would stumble over, and what was left out. */
  notes: readonly string[];
}

/** What is shown of a report. */
export function trial(report: DryRunReport, name: string): Trial {
  const reached = report.checkpoints.find((one) => one.name === name);
  const told = (levels: readonly string[]) =>
    report.findings.filter((one) => levels.includes(one.level) && (one.checkpoint === undefined || one.checkpoint === null || one.checkpoint === name || one.level === 'error')).map((one) => (one.checkpoint && one.checkpoint !== name ? `${one.checkpoint}: ${one.message}` : one.message));
  const completed = reached?.status === 'completed';
  const attempts = reached?.attempts ?? 0;
  const said = !reached
    ? 'It was not reached: an earlier checkpoint stopped the way.'
    : completed
      ? attempts > 1
        ? `It completes with attempt ${attempts}.`
        : 'It completes.'
      : 'It does not complete.';
  return { reached, completed, said, errors: told(['error']), notes: told(['warning', 'note']) };
}
