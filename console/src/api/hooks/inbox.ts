/** What waits for people, and every way to answer it. */
import { useInfiniteQuery, useMutation, useQueries, useQueryClient } from '@tanstack/react-query';
import { body, client } from '../client';
import { keys } from '../keys';
import type { components } from '../schema';
import type { Event } from '../types';

export function useInbox(pipeline?: string) {
  return useInfiniteQuery({
    queryKey: keys.inbox(pipeline),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      body(client.GET('/api/inbox', { params: { query: { pipeline_id: pipeline, cursor: pageParam, limit: 100 } }, signal })),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

type Schemas = components['schemas'];

/** An answer to a question; `gate` and `execution` come from the inbox item. */
export type Answer =
  | { act: 'start'; run: string }
  | { act: 'approve-start' | 'approve-complete'; execution: string; approval: Schemas['Approval'] }
  | { act: 'reject'; execution: string; refusal: Schemas['Refusal'] }
  | { act: 'submit'; execution: string; submission: Schemas['Submission'] }
  | { act: 'retry'; execution: string }
  | { act: 'fail'; run: string; reason?: string }
  | { act: 'answer'; gate: string; option: string; digest?: string | null; feedback?: string };

function send(answer: Answer): Promise<unknown> {
  switch (answer.act) {
    case 'start':
      return body(client.POST('/api/executions/start', { body: { run_id: answer.run } }));
    case 'approve-start':
      return body(
        client.POST('/api/executions/{id}/approve-start', { params: { path: { id: answer.execution } }, body: answer.approval }),
      );
    case 'approve-complete':
      return body(
        client.POST('/api/executions/{id}/approve-complete', { params: { path: { id: answer.execution } }, body: answer.approval }),
      );
    case 'reject':
      return body(client.POST('/api/executions/{id}/reject', { params: { path: { id: answer.execution } }, body: answer.refusal }));
    case 'submit':
      return body(client.POST('/api/executions/{id}/submit', { params: { path: { id: answer.execution } }, body: answer.submission }));
    case 'retry':
      return body(client.POST('/api/executions/{id}/retry', { params: { path: { id: answer.execution } }, body: {} }));
    case 'fail':
      return body(client.POST('/api/runs/{id}/fail', { params: { path: { id: answer.run } }, body: { reason: answer.reason } }));
    case 'answer':
      return body(
        client.POST('/api/gates/{id}/answer', {
          params: { path: { id: answer.gate } },
          body: { option: answer.option, digest: answer.digest, feedback: answer.feedback },
        }),
      );
  }
}

/** Sends an answer and waits for it: decisions are never shown before they are made. */
export function useAnswer() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: () =>
      Promise.all(['inbox', 'run', 'runs', 'execution', 'pipelines'].map((area) => queries.invalidateQueries({ queryKey: [area] }))),
  });
}

/** What the log calls the answers of people. */
const ANSWERS = ['execution.approved', 'execution.approval_given', 'execution.rejected', 'execution.revision_requested', 'execution.submitted', 'gate.answered'];

/** The answers that people gave since a time, newest first, and whether there were more of them. */
export function useAnswered(since: string): { events: Event[]; more: boolean } {
  return useQueries({
    queries: ANSWERS.map((event_type) => ({
      queryKey: keys.events({ event_type, since }),
      queryFn: () => body(client.GET('/api/events', { params: { query: { event_type, since, limit: 100 } } })),
    })),
    combine: (all) => ({
      events: all
        .flatMap((one) => one.data?.items ?? [])
        .filter((event) => event.actor.kind === 'person')
        .sort((a, b) => b.seq - a.seq),
      more: all.some((one) => one.data?.next_cursor != null),
    }),
  });
}
