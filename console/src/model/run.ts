/** A run as its page draws it: the strip of checkpoints, and what can be done now, or why it cannot. */
import type { Checkpoint, Execution, Graph, Me, Run, WaitingFor } from '@/api/types';
import { many, money } from './figures';
import { hasRole } from './rights';
import { execution as drawn, type Status } from './status';
import { took } from './time';

export interface StripStop {
  /** The execution, or the checkpoint that has none yet. */
  id: string;
  execution: string | undefined;
  name: string;
  status: Status;
  reached: boolean;
  gate: 'ahead' | 'reached' | 'passed' | undefined;
  meta: string;
}

type Node = Graph['nodes'][number];

/** The strip. Where a checkpoint was visited more than once, its last visit stands for it. */
export function strip(nodes: readonly Node[], executions: readonly Execution[], definitions: readonly Checkpoint[], mine: (waiting: WaitingFor) => boolean): { stops: StripStop[]; end: StripStop['gate'] } {
  const defined = new Map(definitions.map((one) => [one.checkpoint_id as string, one]));
  const latest = new Map<string, Execution>();
  for (const one of executions) if (one.checkpoint_id) latest.set(one.checkpoint_id, one);
  const steps = nodes.length > 0 ? nodes.filter((node) => node.kind === 'step').map((node) => ({ id: node.id as string, name: node.name })) : executions.map((one) => ({ id: one.checkpoint_id as string, name: one.checkpoint_name }));
  const stops = steps.map((step, at): StripStop => {
    const execution = latest.get(step.id);
    const definition = defined.get(step.id);
    const before = steps[at - 1];
    const asks = definition?.human_interaction.requires_approval_to_start || (before && defined.get(before.id)?.human_interaction.requires_approval_to_complete);
    const reached = execution !== undefined;
    const waitsHere = execution?.waiting_for?.kind === 'approve_start' || (before && latest.get(before.id)?.waiting_for?.kind === 'approve_complete');
    return {
      id: execution?.execution_id ?? step.id,
      execution: execution?.execution_id,
      name: execution?.checkpoint_name ?? step.name ?? `Checkpoint ${at + 1}`,
      status: execution ? drawn(execution, mine) : { icon: definition?.execution.mode === 'human_only' ? 'person-pending' : 'pending', tone: 'ink-3', word: 'Pending' },
      reached,
      gate: asks ? (waitsHere ? 'reached' : reached && execution.status !== 'pending' ? 'passed' : 'ahead') : undefined,
      meta: [work(definition, execution), spent(execution)].filter(Boolean).join('. '),
    };
  });
  const last = steps.at(-1);
  const ends = last && defined.get(last.id)?.human_interaction.requires_approval_to_complete;
  const at = last && latest.get(last.id);
  return { stops, end: ends ? (at?.waiting_for?.kind === 'approve_complete' ? 'reached' : at?.status === 'completed' ? 'passed' : 'ahead') : undefined };
}

/** Who does it: "Form", "3 agents, council", "analyse.py". */
export function work(definition: Pick<Checkpoint, 'execution'> | undefined, execution?: Pick<Execution, 'mode'>): string {
  const config = definition?.execution;
  switch (config?.mode ?? execution?.mode) {
    case 'human_only':
      return 'Form';
    case 'script':
      return config?.script_config?.script_path ?? 'Script';
    case 'agentic': {
      const agent = config?.agent_config;
      if (!agent) return 'Agents';
      if (agent.creation_mode === 'meta_agent') return 'Agents of a meta-agent';
      if (agent.creation_mode === 'single') return '1 agent';
      return `${many(agent.agents?.length ?? 0, 'agent')}${agent.discussion_mode ? `, ${agent.discussion_mode}` : ''}`;
    }
    default:
      return '';
  }
}

function spent(execution: Execution | undefined): string {
  if (!execution) return '';
  const ended = execution.completed_at ?? execution.failed_at;
  const parts: string[] = [];
  if (execution.revision_iteration > 0) parts.push(`Revision ${execution.revision_iteration + 1}`);
  if (ended && execution.started_at) parts.push(took(new Date(ended).getTime() - new Date(execution.started_at).getTime()));
  if (execution.usage.cost_usd > 0) parts.push(money(execution.usage.cost_usd));
  if (execution.attempt_number > 1) parts.push(`${execution.attempt_number} tries`);
  return parts.join(', ');
}

export type Act = 'start' | 'pause' | 'resume' | 'retry' | 'cancel' | 'note' | 'fail' | 'abort';

/** Why something cannot be done now; nothing, where it can. */
export type Off = Record<Act, string | undefined>;

const ENDED = new Set(['completed', 'failed', 'aborted', 'rolled_back', 'archived']);

export function whyOff(run: Pick<Run, 'status' | 'pause_requested' | 'current_execution'>, execution: Pick<Execution, 'status' | 'mode' | 'waiting_for' | 'checkpoint_name'> | undefined, me: Pick<Me, 'role' | 'kind'> | undefined, offline: string | undefined): Off {
  const role = me && !hasRole(me, 'operator') ? `Your role is ${me.role}; this needs operator.` : undefined;
  const over = ENDED.has(run.status) ? 'The run has ended.' : undefined;
  const first = offline ?? role;
  const current = run.current_execution;
  const works = current?.status === 'in_progress' && !current.waiting_for;
  const name = execution?.checkpoint_name ?? 'This checkpoint';
  return {
    start: first ?? over ?? (run.status === 'not_started' || current?.waiting_for?.kind === 'start' ? undefined : 'No checkpoint waits to be started.'),
    pause: first ?? over ?? (run.status === 'not_started' ? 'The run has not started.' : run.status === 'paused' ? 'The run is paused.' : run.pause_requested ? 'It pauses when this step ends.' : undefined),
    resume: first ?? over ?? (run.status === 'paused' || run.pause_requested ? (current?.status === 'failed' ? 'A failed checkpoint is tried again, not resumed.' : undefined) : 'The run is not paused.'),
    retry: first ?? over ?? (execution?.status === 'failed' ? undefined : `${name} has not failed.`),
    cancel: first ?? over ?? (works ? undefined : 'Nothing works now.'),
    note: first ?? over ?? (execution?.status !== 'in_progress' || execution.waiting_for ? 'No agent works now.' : execution.mode !== 'agentic' ? `No agent works on ${name}.` : undefined),
    fail: first ?? over,
    abort: first ?? over,
  };
}
