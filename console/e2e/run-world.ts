/** Pipelines for the page of a run: agents whose answers are played slowly, scripts that fail, checks that refuse. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getRun, type Server, until } from './world';

export interface Made {
  pipeline_id: string;
  pipeline_name: string;
  checkpoints: { checkpoint_id: string; checkpoint_name: string }[];
}

interface Parts {
  retries?: number;
  delay?: number;
  approve?: boolean;
  start?: boolean;
  artifacts?: object[];
  validation?: object;
  inputs?: object;
  after?: string[];
}

const checkpoint = (name: string, execution: object, { retries = 0, delay = 0, approve = false, start = false, artifacts = [], validation = { enabled: false }, inputs = { include_previous_version: false }, after = [] }: Parts = {}) => ({
  checkpoint_name: name,
  checkpoint_description: `About ${name}.`,
  dependencies: { required_checkpoint_ids: after },
  inputs,
  execution: { ...execution, retry_config: { max_auto_retries: retries, on_failure: 'pause_pipeline', retry_delay_seconds: delay }, timeout_config: { enabled: false } },
  human_interaction: { requires_approval_to_start: start, requires_approval_to_complete: approve, max_revision_iterations: 3 },
  output: { artifacts, validation },
  instructions: { task_prompt: `Do ${name}.`, injection_points: { previous_version_context: 'before_task_prompt', checkpoint_references: 'before_task_prompt' } },
});

const field = (name: string) => ({ name, type: 'multiline_text', label: name, required: true });

export const form = (name: string, parts: Parts = {}, format = 'json') =>
  checkpoint(name, { mode: 'human_only', human_only_config: { instructions: 'Say what is wanted.', input_fields: [field('goal')], save_as_artifact: true, artifact_name: name.toLowerCase(), artifact_format: format } }, parts);

export const script = (name: string, file: string, parts: Parts = {}) => checkpoint(name, { mode: 'script', script_config: { script_path: file, requires_user_input: false } }, parts);

export const agents = (name: string, model: string, config: object, parts: Parts = {}) =>
  checkpoint(name, { mode: 'agentic', agent_config: { tools: ['file_operations'], model: `script/${model}`, ...('agent' in config ? {} : { discussion_mode: 'sequential', max_turns: 6, show_conversation: true }), ...config } }, parts);

export const agent = (name: string) => ({ name, role: name.toLowerCase(), system_prompt: `You are ${name}.`, task_prompt: `Do what ${name} does.` });

export const team = (...names: string[]) => ({ creation_mode: 'predefined', agents: names.map(agent) });

/** Puts a pipeline in, with its scripts and the answers of its agents. JSON is YAML. */
export async function put(server: Server, name: string, checkpoints: object[], { scripts = {}, answers = {} }: { scripts?: Record<string, string>; answers?: Record<string, object> } = {}): Promise<Made> {
  mkdirSync(join(server.home, 'scripts'), { recursive: true });
  for (const [file, played] of Object.entries(answers)) writeFileSync(join(server.home, 'scripts', file), JSON.stringify(played));
  const { pipeline } = await server.api<{ pipeline: Made }>('POST', '/api/pipelines/apply', JSON.stringify({ pipeline_name: name, pipeline_description: `All about ${name.toLowerCase()}.`, config: { auto_advance: true }, checkpoints }));
  for (const [file, code] of Object.entries(scripts)) putScript(server, pipeline.pipeline_id, file, code);
  return pipeline;
}

export function putScript(server: Server, pipeline: string, file: string, code: string): void {
  const folder = join(server.home, 'pipelines', pipeline, 'scripts');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), code);
}

export const start = async (server: Server, pipeline: Made): Promise<string> => (await server.api<{ run_id: string }>('POST', '/api/runs', { pipeline_id: pipeline.pipeline_id, start: true })).run_id;

/** Answers whatever a run asks until it asks for something else than a form or an approval, or has ended. */
export async function answerAll(server: Server, run: string, fields: object = { goal: 'Ten users in six weeks.' }): Promise<void> {
  for (;;) {
    const now = await until('a question or the end', async () => {
      const at = await getRun(server, run);
      return (at.status !== 'in_progress' || at.current_execution?.waiting_for) && at;
    });
    const { current_execution: execution, status } = now;
    const waiting = execution?.waiting_for;
    if (status !== 'in_progress' || !execution || !waiting) return;
    const at = `/api/executions/${execution.execution_id}`;
    if (waiting.kind === 'form') await server.api('POST', `${at}/submit`, { fields });
    else if (waiting.kind === 'approve_start') await server.api('POST', `${at}/approve-start`, {});
    else if (waiting.kind === 'approve_complete') await server.api('POST', `${at}/approve-complete`, { digest: waiting.digest });
    else return;
  }
}

const usage = (input: number, output: number, cents: number) => ({ calls: 1, input_tokens: input, output_tokens: output, cost_micros: cents * 10_000 });

/** A morning's brief: a form, three agents, a script that fails first, a draft that is being written, a review to come. */
export async function brief(server: Server, slow: number): Promise<{ pipeline: Made; run: string }> {
  const told = (name: string) => ({ agent: `You are ${name}` });
  const write = { tool: 'file_operations', input: { operation: 'write', path: 'market_brief.md', content: '# Market brief\n\nThe share is 6.8 per cent, on 412 lanes.\n' } };
  const pipeline = await put(
    server,
    'Quarterly market brief',
    [
      form('Scope'),
      agents('Research', 'research.yaml', team('Scout', 'Sceptic', 'Editor'), { artifacts: [{ name: 'sources', format: 'md' }], approve: true }),
      script('Analysis', 'analyse.py', { retries: 1, delay: 1, artifacts: [{ name: 'figures', format: 'json' }] }),
      agents('Draft', 'draft.yaml', team('Writer', 'Critic', 'Editor'), { artifacts: [{ name: 'market_brief', format: 'md' }], approve: true, inputs: { include_previous_version: true, include_checkpoint_outputs: [{ checkpoint_id: 'Analysis' }] }, after: ['Analysis'] }),
      form('Legal review', { approve: true }),
    ],
    {
      scripts: {
        'analyse.py': 'import os\n\ndef main():\n    print("reading the lanes")\n    mark = os.path.join(os.environ["HOLDPOINT_STAGING"], "..", "workspace", "tried")\n    if not os.path.exists(mark):\n        open(mark, "w").close()\n        raise ValueError("no lanes in the table")\n    print("412 lanes")\n    return {"share": 6.8, "lanes": 412}\n',
      },
      answers: {
        'research.yaml': {
          turns: [
            { when: told('Scout'), say: 'The port statistics and two tariff tables cover the quarter.', delay_ms: 300, usage: usage(18_204, 911, 9.8) },
            { when: told('Sceptic'), say: 'The spot figures leave out contracts.', delay_ms: 300, usage: usage(21_340, 420, 8.1) },
            { when: { ...told('Editor'), turn: 1 }, call: [{ tool: 'file_operations', input: { operation: 'write', path: 'sources.md', content: '# Sources\n\n1. Port statistics\n' } }], usage: usage(22_871, 604, 7.4) },
          ],
          default: { say: 'The sources are written.', usage: usage(12_000, 20, 3) },
        },
        'draft.yaml': {
          turns: [
            { when: { ...told('Writer'), turn: 1 }, think: 'Nine is the spot figure.', say: 'Nine is the spot figure from last quarter’s table. The analysis has 6.8 for contracts, on 412 lanes. I will use that, and name the sample.', call: [write], delay_ms: 400, usage: usage(18_204, 2911, 9.8) },
            { when: { ...told('Writer'), tool_result: true }, say: 'The first version stands.', usage: usage(18_900, 40, 2) },
            { when: told('Critic'), say: 'Agreed on 6.8. The capacity sentence must say that two operators do not report sub-contracted vehicles; otherwise 58 reads as the whole market.', delay_ms: 300, usage: usage(21_340, 1120, 8.1) },
            { when: { ...told('Editor'), turn: 1 }, say: 'Both comments are answered and the rest is untouched. Before I hand over I am checking the Energy section once more: “far less” should carry the number from the tariff table, a third of what it was, and the table itself wants a date, a source and somebody who has read it to the end.', delay_ms: slow, usage: usage(22_871, 604, 7.4), call: [write] },
          ],
          default: { say: 'The brief is written.', usage: usage(12_000, 20, 3) },
        },
      },
    },
  );
  const run = await start(server, pipeline);
  const at = (kind: string) =>
    until(`waiting for ${kind}`, async () => {
      const now = await getRun(server, run);
      return now.current_execution?.waiting_for?.kind === kind && now.current_execution;
    });
  const scope = await at('form');
  await server.api('POST', `/api/executions/${scope.execution_id}/submit`, { fields: { goal: 'Freight in the north.' } });
  const research = await at('approve_complete');
  await server.api('POST', `/api/executions/${research.execution_id}/approve-complete`, { digest: research.waiting_for?.digest });
  return { pipeline, run };
}
