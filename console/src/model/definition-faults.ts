/**
 * What is plainly wrong with a draft, known without asking: said at once, while the server's own word is under way.
 * The server decides; where both speak of one field, the sentence that says how to put it right stands.
 */
import type { FieldFault } from '@/api/problem';
import { type Draft, isObject, type Loose, listAt, look, type Part, textAt } from './definition';

export interface Fault extends FieldFault {
  /** The checkpoint that it belongs to; none: the pipeline itself. */
  key: string | undefined;
}

export function localFaults(draft: Draft): Fault[] {
  const faults: Fault[] = [];
  if (draft.name.trim() === '') faults.push({ key: undefined, pointer: '/pipeline_name', message: 'Give the pipeline a name.' });
  for (const part of draft.parts) faults.push(...ofPart(part).map((fault) => ({ key: part.key, ...fault })));
  return faults;
}

const blank = (definition: Loose, pointer: string) => textAt(definition, pointer).trim() === '';

function ofPart({ definition }: Part): FieldFault[] {
  const faults: FieldFault[] = [];
  const say = (pointer: string, message: string) => faults.push({ pointer, message });
  const mode = textAt(definition, '/execution/mode');
  if (blank(definition, '/checkpoint_name')) say('/checkpoint_name', 'Give it a name.');
  if (mode !== 'human_only' && blank(definition, '/instructions/task_prompt')) say('/instructions/task_prompt', 'Say what is to be done.');
  if (mode === 'script' && blank(definition, '/execution/script_config/script_path')) say('/execution/script_config/script_path', 'Name the script: a path inside the scripts folder, such as analyse.py.');
  if (mode === 'human_only') form(definition, say);
  if (mode === 'agentic') agents(definition, say);
  twice(definition, '/output/artifacts', say, 'Another output has this name.', 'Name the output.');
  return faults;
}

type Say = (pointer: string, message: string) => void;

function twice(definition: Loose, pointer: string, say: Say, taken: string, missing: string): void {
  const seen = new Set<string>();
  listAt(definition, pointer).forEach((one, at) => {
    const name = isObject(one) ? textAt(one, '/name').trim() : '';
    if (name === '') say(`${pointer}/${at}/name`, missing);
    else if (seen.has(name)) say(`${pointer}/${at}/name`, taken);
    seen.add(name);
  });
}

function form(definition: Loose, say: Say): void {
  const base = '/execution/human_only_config';
  if (look(definition, `${base}/save_as_artifact`) === true && blank(definition, `${base}/artifact_name`)) say(`${base}/artifact_name`, 'Name the output that the answers become.');
  twice(definition, `${base}/input_fields`, say, 'Another field has this name.', 'Give the field a name.');
  listAt(definition, `${base}/input_fields`).forEach((field, at) => {
    if (isObject(field) && blank(field, '/label')) say(`${base}/input_fields/${at}/label`, 'Say what is asked: the label stands above the field.');
  });
}

function agents(definition: Loose, say: Say): void {
  const base = '/execution/agent_config';
  const mode = textAt(definition, `${base}/creation_mode`);
  if (mode === 'meta_agent' && blank(definition, `${base}/meta_agent_instructions`)) say(`${base}/meta_agent_instructions`, 'Say what team is wanted.');
  if (mode === 'single' && blank(definition, `${base}/agent/name`)) say(`${base}/agent/name`, 'Give the agent a name.');
  if (mode !== 'predefined') return;
  if (listAt(definition, `${base}/agents`).length === 0) say(`${base}/agents`, 'Add at least one agent.');
  twice(definition, `${base}/agents`, say, 'Another agent has this name.', 'Give the agent a name.');
  listAt(definition, `${base}/agents`).forEach((agent, at) => {
    if (isObject(agent) && blank(agent, '/role')) say(`${base}/agents/${at}/role`, `Say what ${textAt(agent, '/name') || 'the agent'} does: agents that talk need a role.`);
  });
}

/** The server's faults, each with the checkpoint that it belongs to. */
export function serverFaults(errors: readonly FieldFault[], draft: Draft): Fault[] {
  return errors.map(({ pointer, message }) => {
    const [, at, rest] = /^\/checkpoints\/(\d+)(.*)$/.exec(pointer) ?? [];
    const key = at === undefined ? undefined : draft.parts[Number(at)]?.key;
    // A file's place is drawn as a mark; in words it would only be read twice.
    const said = `${message.replace(/ \(line \d+, column \d+\)$/, '')}`;
    return { key, pointer: key === undefined ? pointer : (rest ?? ''), message: said.charAt(0).toUpperCase() + said.slice(1) + (/[.!?]$/.test(said) ? '' : '.') };
  });
}

/** Both together, one per field. */
export function merged(local: readonly Fault[], server: readonly Fault[]): Fault[] {
  const at = (fault: Fault) => `${fault.key ?? ''}${fault.pointer}`;
  const said = new Set(local.map(at));
  return [...local, ...server.filter((fault) => !said.has(at(fault)))];
}
