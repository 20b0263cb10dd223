/** Everything that the page of one run shows, and what of it is selected, which the address says. */
import { useQueries, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { conversationQuery, useConversation, useInteractions } from '@/api/hooks/executions';
import { useRunEvents, useRunUsage, useToolResults } from '@/api/hooks/journal';
import { usePipeline } from '@/api/hooks/pipelines';
import { useGraph, useRun, useRunCheckpoints } from '@/api/hooks/runs';
import { useMe } from '@/api/hooks/session';
import type { Execution } from '@/api/types';
import { isMine } from '@/model/rights';
import { strip } from '@/model/run';
import { type Row, rows as toRows, type Talk } from '@/model/timeline-rows';

/** More conversations than this are not asked for at once; the last messages stand in each execution anyway. */
const CONVERSATIONS = 8;
const NONE: never[] = [];

export const TABS = ['conversation', 'context', 'artifacts', 'logs', 'events', 'cost'] as const;
export type TabName = (typeof TABS)[number];

export function useRunView() {
  const { runId } = useParams({ from: '/shell/runs/$runId' });
  const search = useSearch({ from: '/shell/runs/$runId' });
  const navigate = useNavigate({ from: '/runs/$runId' });
  const { data: me } = useMe();
  const run = useRun(runId);
  const checkpoints = useRunCheckpoints(runId);
  const graph = useGraph(runId);
  const pipeline = usePipeline(run.data?.pipeline_id ?? undefined);
  const events = useRunEvents(runId);
  const usage = useRunUsage(runId, 'model');
  const executions: Execution[] = checkpoints.data?.items ?? NONE;

  const wanted = search.execution;
  const current = run.data?.current_execution?.execution_id;
  const execution = executions.find((one) => one.execution_id === wanted) ?? (wanted ? undefined : (executions.find((one) => one.execution_id === current) ?? executions.at(-1)));
  const { stops, end } = useMemo(
    () => strip(graph.data?.nodes ?? NONE, executions, pipeline.data?.checkpoints ?? NONE, (waiting) => isMine(me, waiting)),
    [graph.data, executions, pipeline.data, me],
  );
  // A checkpoint that was visited again is found by the visit that is looked at.
  const stop = stops.find((one) => one.id === (execution?.execution_id ?? wanted)) ?? stops.find((one) => one.name === execution?.checkpoint_name);

  const conversation = useConversation(execution?.execution_id);
  const interactions = useInteractions(execution);
  const tools = useToolResults(execution);
  const id = execution?.execution_id;
  const agentic = useMemo(() => executions.filter((one) => one.mode === 'agentic' && one.execution_id !== id), [executions, id]);
  const queries = useQueryClient();
  const others = useQueries({
    queries: (agentic.length > CONVERSATIONS ? NONE : agentic).map((one) => conversationQuery(queries, one.execution_id)),
    combine: (all) => all.map((one) => one.data?.items),
  });
  const talk = useMemo(() => {
    const all = new Map<string, Talk>();
    agentic.forEach((one, at) => all.set(one.execution_id, { messages: others[at] ?? one.agent_conversation, tools: NONE }));
    if (execution) all.set(execution.execution_id, { messages: conversation.data?.items ?? execution.agent_conversation, tools: tools.data?.items ?? NONE });
    return all;
  }, [agentic, others, execution, conversation.data, tools.data]);
  const rows: Row[] = useMemo(() => toRows(events.data?.items ?? NONE, executions, talk), [events.data, executions, talk]);
  const ofExecution = rows.filter((row) => row.execution === id);
  const row = ofExecution.find((one) => `${one.revision}.${one.attempt}` === search.attempt) ?? ofExecution.at(-1);
  const ahead = useMemo(() => stops.filter((one) => !one.execution), [stops]);

  const go = useCallback((change: Partial<typeof search>) => void navigate({ search: (now) => ({ ...now, ...change }), replace: true }), [navigate]);
  const models = usage.data?.items.flatMap((item) => (item.key ? [item.key] : [])) ?? NONE;
  const definition = pipeline.data?.checkpoints.find((one) => one.checkpoint_id === execution?.checkpoint_id);
  // Messages do not say which model they are from: it is known where the definition has not changed, or there was one only.
  const pinned = definition && definition.definition_digest === execution?.definition_digest ? (definition.execution.agent_config?.model ?? undefined) : undefined;

  return {
    runId,
    me,
    search,
    go,
    run,
    checkpoints,
    pipeline,
    events,
    usage,
    executions,
    execution,
    definition,
    stops,
    stop,
    end,
    conversation,
    interactions,
    tools,
    rows,
    row,
    ahead,
    model: pinned ?? (models.length === 1 && run.data?.status === 'completed' ? models[0] : undefined),
    tab: (TABS as readonly string[]).includes(search.tab ?? '') ? (search.tab as TabName) : execution?.mode === 'script' ? ('logs' as TabName) : ('conversation' as TabName),
    select: (id: string) => go({ execution: id, attempt: undefined, message: undefined, artifact: undefined }),
    selectRow: (one: Row) => go({ execution: one.execution, attempt: `${one.revision}.${one.attempt}`, message: undefined, artifact: undefined }),
  };
}

export type RunView = ReturnType<typeof useRunView>;
