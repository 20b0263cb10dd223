/**
 * A pipeline's definition while it is being changed: loose JSON that may be incomplete, with a stable key per
 * checkpoint. References to other checkpoints hold keys, so that renaming and moving breaks none of them.
 */
import type { Pipeline } from '@/api/types';
import { ordered } from './definition-order';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json | undefined };
export type Loose = { [name: string]: Json | undefined };

export interface Part {
  /** The checkpoint's id, or a name of this console's own for one that is not saved yet. */
  key: string;
  /** Its id; none: it is new. */
  id?: string;
  definition: Loose;
}

export interface Draft {
  name: string;
  description: string;
  config: Loose;
  parts: Part[];
}

export const MODES = ['agentic', 'script', 'human_only'] as const;
export type Mode = (typeof MODES)[number];

const SECTIONS = ['checkpoint_name', 'checkpoint_description', 'dependencies', 'inputs', 'execution', 'human_interaction', 'output', 'instructions'];

/** The draft of what is saved. */
export function draftOf(pipeline: Pick<Pipeline, 'pipeline_name' | 'pipeline_description' | 'config' | 'checkpoints'>): Draft {
  return {
    name: pipeline.pipeline_name,
    description: pipeline.pipeline_description ?? '',
    config: pipeline.config as Loose,
    parts: pipeline.checkpoints.map((checkpoint) => {
      const all = checkpoint as unknown as Loose;
      const given = SECTIONS.filter((name) => all[name] !== undefined && all[name] !== null).map((name) => [name, all[name]]);
      return { key: checkpoint.checkpoint_id, id: checkpoint.checkpoint_id, definition: Object.fromEntries(given) as Loose };
    }),
  };
}

/** Escapes one step of a JSON pointer. */
export const step = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');
const steps = (pointer: string) => pointer.split('/').slice(1).map((one) => one.replaceAll('~1', '/').replaceAll('~0', '~'));

/** What stands at a pointer. */
export function look(value: Json | undefined, pointer: string): Json | undefined {
  let now: Json | undefined = value;
  for (const name of steps(pointer)) {
    if (Array.isArray(now)) now = now[Number(name)];
    else if (now !== null && typeof now === 'object') now = now[name];
    else return undefined;
  }
  return now;
}

/** The same value with something else at a pointer; `undefined` takes it away. Nothing is changed in place. */
export function put<Value extends Json>(value: Value, pointer: string, next: Json | undefined): Value {
  const set = (now: Json | undefined, path: string[]): Json | undefined => {
    const [name, ...rest] = path;
    if (name === undefined) return next;
    if (Array.isArray(now)) {
      const at = Number(name);
      const inner = set(now[at], rest);
      return inner === undefined ? now.filter((_, other) => other !== at) : Object.assign([...now], { [at]: inner });
    }
    const object: Loose = now !== null && typeof now === 'object' ? { ...now } : {};
    const inner = set(object[name], rest);
    if (inner === undefined) delete object[name];
    else object[name] = inner;
    return object;
  };
  return set(value, steps(pointer)) as Value;
}

export const textAt = (value: Json | undefined, pointer: string): string => {
  const found = look(value, pointer);
  return typeof found === 'string' ? found : '';
};
export const listAt = (value: Json | undefined, pointer: string): Json[] => {
  const found = look(value, pointer);
  return Array.isArray(found) ? found : [];
};

export const nameOf = (part: Part) => textAt(part.definition, '/checkpoint_name');
export const modeOf = (part: Part) => textAt(part.definition, '/execution/mode') as Mode;

/** How the parts are called in a file: by their names, by ids where several have the same. */
function called(draft: Draft): Map<string, string> {
  const counts = new Map<string, number>();
  for (const part of draft.parts) counts.set(nameOf(part), (counts.get(nameOf(part)) ?? 0) + 1);
  return new Map(draft.parts.map((part) => [part.key, counts.get(nameOf(part)) === 1 || !part.id ? nameOf(part) : part.id]));
}

/** The references of a definition, each turned into something else. */
function turned(definition: Loose, checkpoint: (key: string) => string, artifact: (key: string, artifact: string) => string): Loose {
  let next = definition;
  const required = look(definition, '/dependencies/required_checkpoint_ids');
  if (Array.isArray(required)) next = put(next, '/dependencies/required_checkpoint_ids', required.map((key) => checkpoint(String(key))));
  const outputs = look(definition, '/inputs/include_checkpoint_outputs');
  if (Array.isArray(outputs)) {
    const named = outputs.map((one) => {
      if (one === null || typeof one !== 'object' || Array.isArray(one)) return one;
      const key = String(one.checkpoint_id);
      const artifacts = Array.isArray(one.artifact_ids) ? { artifact_ids: one.artifact_ids.map((id) => artifact(key, String(id))) } : {};
      return { ...one, checkpoint_id: checkpoint(key), ...artifacts };
    });
    next = put(next, '/inputs/include_checkpoint_outputs', named);
  }
  return next;
}

const artifactsOf = (part: Part | undefined) => listAt(part?.definition, '/output/artifacts') as Loose[];

/** What is sent: everything, with ids wherever there are any, so that a new name is a new name and nothing more. */
export function sent(draft: Draft, pipelineId: string): Loose {
  const names = called(draft);
  const ids = new Map(draft.parts.map((part) => [part.key, part.id]));
  return {
    pipeline_id: pipelineId,
    pipeline_name: draft.name,
    pipeline_description: draft.description === '' ? null : draft.description,
    config: draft.config,
    checkpoints: draft.parts.map((part) => ({
      ...(part.id ? { checkpoint_id: part.id } : {}),
      ...turned(part.definition, (key) => ids.get(key) ?? names.get(key) ?? key, (_, artifact) => artifact),
    })),
  };
}

/** What is shown as a file: names in place of ids, as an export has them. */
export function shown(draft: Draft): Loose {
  const names = called(draft);
  const parts = new Map(draft.parts.map((part) => [part.key, part]));
  const artifact = (key: string, id: string) => {
    const found = artifactsOf(parts.get(key)).find((one) => one.artifact_id === id);
    return typeof found?.name === 'string' ? found.name : id;
  };
  const checkpoints = draft.parts.map((part) => {
    const plain = withoutIds(turned(part.definition, (key) => names.get(key) ?? key, artifact));
    const own = names.get(part.key) === part.id && part.id ? { checkpoint_id: part.id } : {};
    return ordered({ ...own, ...withoutEmpty(plain) });
  });
  return {
    pipeline_name: draft.name,
    ...(draft.description === '' ? {} : { pipeline_description: draft.description }),
    config: draft.config,
    checkpoints,
  };
}

const NESTED = [
  ['/output/artifacts', 'artifact_id'],
  ['/execution/human_only_config/input_fields', 'field_id'],
  ['/execution/agent_config/agents', 'agent_id'],
] as const;

function withoutIds(definition: Loose): Loose {
  return NESTED.reduce((now, [pointer, id]) => {
    const list = look(now, pointer);
    return Array.isArray(list) ? put(now, pointer, list.map((one) => (isObject(one) ? put(one, `/${id}`, undefined) : one))) : now;
  }, definition);
}

function withoutEmpty(definition: Loose): Loose {
  let next = definition;
  for (const [list, section] of [['/dependencies/required_checkpoint_ids', '/dependencies'], ['/inputs/include_checkpoint_outputs', '/inputs/include_checkpoint_outputs']] as const) {
    if (listAt(next, list).length === 0) next = put(next, section, undefined);
  }
  return next;
}

export const isObject = (value: Json | undefined): value is Loose => value !== null && typeof value === 'object' && !Array.isArray(value);

let made = 0;
/** A key for a checkpoint that is not saved yet. */
export const newKey = () => `new-${(made += 1)}`;

/** The draft that a file describes. Checkpoints are known again by name, then by place; so is what stands inside them. */
export function draftFrom(file: Json, before: Draft, keyOf: (place: number) => string = newKey): Draft | string {
  if (!isObject(file)) return 'A pipeline file is an object with pipeline_name and checkpoints.';
  const given = file.checkpoints ?? [];
  if (!Array.isArray(given) || !given.every(isObject)) return 'checkpoints is a list of checkpoints.';
  const free = [...before.parts];
  const take = (matches: (part: Part, at: number) => boolean) => {
    const at = free.findIndex(matches);
    return at < 0 ? undefined : free.splice(at, 1)[0];
  };
  const known: (Part | undefined)[] = given.map((one) => take((part) => part.id !== undefined && part.id === one.checkpoint_id) ?? take((part) => nameOf(part) === one.checkpoint_name));
  // What has another name at the same place was renamed.
  known.forEach((part, at) => {
    if (!part && before.parts.length === given.length) known[at] = take((other) => other.key === before.parts[at]?.key);
  });
  const parts: Part[] = given.map((one, at) => {
    const definition = put(one, '/checkpoint_id', undefined);
    const part = known[at];
    return { key: part?.key ?? keyOf(at), ...(part?.id ? { id: part.id } : {}), definition: part ? withIds(definition, part.definition) : definition };
  });
  const keys = new Map<string, string>();
  for (const part of [...parts].reverse()) {
    if (part.id) keys.set(part.id, part.key);
    keys.set(nameOf(part), part.key);
  }
  // What was renamed is still meant by what refers to its old name.
  known.forEach((part) => part && !keys.has(nameOf(part)) && keys.set(nameOf(part), part.key));
  const byKey = new Map(parts.map((part) => [part.key, part]));
  const artifact = (key: string, name: string) => {
    const found = artifactsOf(byKey.get(key)).find((one) => one.name === name);
    return typeof found?.artifact_id === 'string' ? found.artifact_id : name;
  };
  return {
    name: typeof file.pipeline_name === 'string' ? file.pipeline_name : '',
    description: typeof file.pipeline_description === 'string' ? file.pipeline_description : '',
    config: isObject(file.config) ? file.config : {},
    parts: parts.map((part) => ({
      ...part,
      definition: turned(part.definition, (name) => keys.get(name) ?? name, (name, one) => artifact(keys.get(name) ?? name, one)),
    })),
  };
}

/** Puts the ids of what has the same name back. */
function withIds(definition: Loose, before: Loose): Loose {
  return NESTED.reduce((now, [pointer, id]) => {
    const list = look(now, pointer);
    const old = listAt(before, pointer).filter(isObject);
    if (!Array.isArray(list)) return now;
    const named = list.map((one) => {
      const found = isObject(one) && one[id] === undefined ? old.find((other) => other.name === one.name) : undefined;
      return isObject(one) && found?.[id] !== undefined ? { [id]: found[id], ...one } : one;
    });
    return put(now, pointer, named as Json);
  }, definition);
}

/** Another name for an output: what refers to it by name follows. */
export function renamedArtifact(draft: Draft, key: string, from: string, to: string): Draft {
  const parts = draft.parts.map((part) => {
    const outputs = listAt(part.definition, '/inputs/include_checkpoint_outputs');
    const uses = outputs.some((one) => isObject(one) && one.checkpoint_id === key && Array.isArray(one.artifact_ids) && one.artifact_ids.includes(from));
    if (!uses) return part;
    const next = outputs.map((one) =>
      isObject(one) && one.checkpoint_id === key && Array.isArray(one.artifact_ids) ? { ...one, artifact_ids: one.artifact_ids.map((id) => (id === from ? to : id)) } : one,
    );
    return { ...part, definition: put(part.definition, '/inputs/include_checkpoint_outputs', next) };
  });
  return { ...draft, parts };
}

/** The draft without a checkpoint and without what refers to it. */
export function without(draft: Draft, key: string): Draft {
  const parts = draft.parts
    .filter((part) => part.key !== key)
    .map((part) => {
      let definition = part.definition;
      const required = listAt(definition, '/dependencies/required_checkpoint_ids');
      if (required.includes(key)) definition = put(definition, '/dependencies/required_checkpoint_ids', required.filter((one) => one !== key));
      const outputs = listAt(definition, '/inputs/include_checkpoint_outputs');
      const left = outputs.filter((one) => !(isObject(one) && one.checkpoint_id === key));
      if (left.length < outputs.length) definition = put(definition, '/inputs/include_checkpoint_outputs', left);
      return definition === part.definition ? part : { ...part, definition };
    });
  return { ...draft, parts };
}

/** The draft with a checkpoint at another place. */
export function moved(draft: Draft, key: string, to: number): Draft {
  const from = draft.parts.findIndex((part) => part.key === key);
  const part = draft.parts[from];
  if (!part || to < 0 || to >= draft.parts.length || to === from) return draft;
  const parts = draft.parts.filter((one) => one !== part);
  parts.splice(to, 0, part);
  return { ...draft, parts };
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** A definition whose fields stand in their order and whose empty lists are left out: what says the same is the same. */
const settled = (part: Part | undefined) => JSON.stringify(part && ordered(withoutEmpty(part.definition)));

export interface Changed {
  /** Checkpoints come, go or stand elsewhere: run numbers start again. */
  structure: 'order' | 'added' | 'removed' | undefined;
  /** In a few words, for the bar at the bottom. */
  words: string[];
}

/** What is not saved. */
export function changed(before: Draft, after: Draft): Changed {
  const words: string[] = [];
  const had = new Map(before.parts.map((part) => [part.key, part]));
  const has = new Set(after.parts.map((part) => part.key));
  const added = after.parts.filter((part) => !had.has(part.key));
  const removed = before.parts.filter((part) => !has.has(part.key));
  const order = (parts: Part[], other: (key: string) => boolean) => parts.map((part) => part.key).filter(other);
  const reordered = !same(order(before.parts, (key) => has.has(key)), order(after.parts, (key) => had.has(key)));
  if (before.name !== after.name) words.push('name');
  if (before.description !== after.description) words.push('description');
  if (!same(before.config, after.config)) words.push('settings');
  if (reordered) words.push('order');
  words.push(...added.map((part) => `${nameOf(part) || 'a checkpoint'} added`), ...removed.map((part) => `${nameOf(part)} removed`));
  words.push(...after.parts.filter((part) => had.has(part.key) && settled(had.get(part.key)) !== settled(part)).map((part) => nameOf(part) || 'a checkpoint'));
  return { structure: reordered ? 'order' : added.length > 0 ? 'added' : removed.length > 0 ? 'removed' : undefined, words };
}
