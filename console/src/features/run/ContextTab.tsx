/** Exactly what agents were told, or would be: with tokens by part, and what was shortened and why. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useContext } from '@/api/hooks/executions';
import type { components } from '@/api/schema';
import { bytes, count } from '@/model/figures';
import { Badge } from '@/ui/Badge';
import { Copy } from '@/ui/CopyAs';
import { Empty, ErrorBlock, Loading } from '@/ui/states';
import { SegmentedControl } from '@/ui/Tabs';
import { Share } from '@/ui/values';
import type { RunView } from './useRunView';

type Rendered = components['schemas']['RenderedContext'];
type Given = components['schemas']['GivenOutput'];

interface Part {
  name: string;
  layer: string;
  tokens: number;
  shortened?: unknown;
  /** In a preview: how it will be shortened. */
  would_be?: unknown;
}

export function ContextTab({ view }: { view: RunView }) {
  const { execution } = view;
  const context = useContext(execution?.execution_id);
  const [name, setName] = useState<string>();
  if (context.error) return <ErrorBlock title="The context could not be read" problem={context.error} className="m-5" />;
  if (context.isPending || !context.data) return <Loading label="Context" />;
  const { rendered, sent, previous_version: previous, referenced_outputs: referenced } = context.data;
  const given = [...(previous ? [previous] : []), ...referenced];
  const agent = rendered.find((one) => one.agent_name === name) ?? rendered[0];
  if (rendered.length === 0 && given.length === 0) return <Empty title="Nothing is given to this checkpoint">Outputs of earlier checkpoints, of the run before, and what agents are told stand here.</Empty>;
  return (
    <div className="scroll-pane h-full pb-5">
      <div className="flex flex-wrap items-center gap-2 px-5 py-2.5 max-tablet:px-4">
        <Badge status={sent ? { icon: 'done', tone: 'ink-2', word: 'Sent' } : { icon: 'pending', tone: 'ink-3', word: 'Preview' }} />
        <span className="min-w-0 flex-1 text-small text-ink-2">{sent ? 'This is what was sent, word by word.' : 'Nothing was sent yet. This is what would be sent now.'}</span>
      </div>
      {rendered.length > 1 && (
        <div className="px-5 pb-2 max-tablet:px-4">
          <SegmentedControl label="Agent" value={agent?.agent_name ?? ''} onChange={setName} segments={rendered.map((one) => ({ value: one.agent_name, label: one.agent_name, count: count(one.tokens) }))} />
        </div>
      )}
      {agent && <AgentContext key={agent.agent_name} agent={agent} />}
      {given.length > 0 && <GivenOutputs given={given} previous={previous ?? undefined} />}
    </div>
  );
}

function AgentContext({ agent }: { agent: Rendered }) {
  const parts = agent.parts as unknown as Part[];
  const most = Math.max(1, ...parts.map((part) => part.tokens));
  return (
    <>
      <table className="w-full text-small">
        <caption className="sr-only">Parts of what {agent.agent_name} is told</caption>
        <thead>
          <tr className="label text-left">
            <th scope="col" className="py-1 pr-3 pl-5 font-name max-tablet:pl-4">
              Part
            </th>
            <th scope="col" className="py-1 pr-3 font-name">
              Layer
            </th>
            <th scope="col" className="w-[35%] py-1 pr-3 font-name">
              <span className="sr-only">Share</span>
            </th>
            <th scope="col" className="py-1 pr-5 text-right font-name">
              Tokens
            </th>
          </tr>
        </thead>
        <tbody>
          {parts.map((part, at) => (
            <tr key={`${part.name}${at}`} className="border-t border-line align-top">
              <td className="py-1 pr-3 pl-5 font-value max-tablet:pl-4">
                {part.name}
                {isSaid(part.shortened) && <span className="block font-body text-ink-2">Shortened: {shortening(part.shortened)}</span>}
                {isSaid(part.would_be) && <span className="block font-body text-ink-2">Will be shortened: {shortening(part.would_be)}</span>}
              </td>
              <td className="py-1 pr-3 text-ink-3">{part.layer.toLowerCase()}</td>
              <td className="py-1 pr-3">
                <Share of={part.tokens / most} className="mt-1" />
              </td>
              <td className="py-1 pr-5 text-right">{count(part.tokens)}</td>
            </tr>
          ))}
          <tr className="border-t border-line font-name">
            <td className="py-1 pr-3 pl-5 max-tablet:pl-4" colSpan={3}>
              {agent.agent_name} in all, about
            </td>
            <td className="py-1 pr-5 text-right">{count(agent.tokens)}</td>
          </tr>
        </tbody>
      </table>
      <Exact title="System prompt" text={agent.system} />
      <Exact title="First message" text={agent.user} />
    </>
  );
}

const SHORTENED: Record<string, string> = {
  summarised: 'a model summarised it, since all of it does not fit.',
  extracted: 'headings, first and last lines, since all of it does not fit.',
  path_only: 'only its path, since it does not fit.',
  too_large: 'not even its path fits, and the work will not begin.',
};

const isSaid = (value: unknown) => value !== undefined && value !== null && value !== false;

const shortening = (value: unknown): string => (typeof value === 'string' ? (SHORTENED[value] ?? value) : 'it does not fit.');

function Exact({ title, text }: { title: string; text: string }) {
  return (
    <section className="mt-3 px-5 max-tablet:px-4">
      <div className="flex items-center justify-between">
        <h3 className="label">{title}</h3>
        <Copy text={text} label={`Copy ${title.toLowerCase()}`} />
      </div>
      <pre tabIndex={0} aria-label={title} className="scroll-pane max-h-[420px] rounded-2 bg-sunken px-3 py-2 font-mono text-[12px] leading-[18px] [overflow-wrap:anywhere] whitespace-pre-wrap">
        {text || 'Nothing.'}
      </pre>
    </section>
  );
}

function GivenOutputs({ given, previous }: { given: readonly Given[]; previous: Given | undefined }) {
  return (
    <section className="mt-3">
      <h3 className="label px-5 max-tablet:px-4">What it is given</h3>
      <ul className="text-small">
        {given.map((one) => (
          <li key={`${one.checkpoint_id}${one.run_version ?? ''}`} className="border-b border-line px-5 py-1.5 max-tablet:px-4">
            <p className="font-value">
              {one.checkpoint_name ?? 'A checkpoint'}
              {one.run_version != null && ` of v${one.run_version}`}
              <span className="font-body text-ink-3">
                {one === previous ? ', from the run before' : ''}
                {one.use_summarization && ', summarised'}
              </span>
            </p>
            {one.missing && <p className="text-ink-2">{one.missing}</p>}
            <ul>
              {one.artifacts.map((artifact) => (
                <li key={artifact.artifact_record_id} className="flex items-center gap-2">
                  <Link to="/artifacts" search={{ artifact: artifact.artifact_record_id }} className="fact truncate underline decoration-line-2 underline-offset-2 hover:decoration-ink">
                    {artifact.file_name}
                  </Link>
                  <span className="text-ink-3">{bytes(artifact.size_bytes)}</span>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </section>
  );
}
