/** Sends a filled form, with its files where it has some. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { body, client } from '../client';
import type { ExecutionAnswer } from '../types';

export interface Filled {
  execution: string;
  fields: Record<string, unknown>;
  files: Record<string, File>;
}

function send({ execution, fields, files }: Filled): Promise<ExecutionAnswer> {
  const path = { params: { path: { id: execution } } };
  const names = Object.keys(files);
  if (names.length === 0) return body(client.POST('/api/executions/{id}/submit', { ...path, body: { fields: fields as never } }));
  const form = new FormData();
  form.set('fields', JSON.stringify(fields));
  for (const name of names) form.set(name, files[name] as File);
  // Without a content type of ours the browser writes its own, with the boundary.
  return body(client.POST('/api/executions/{id}/submit', { ...path, body: form as never, bodySerializer: () => form as never }));
}

export function useSubmitForm() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: () => Promise.all(['inbox', 'run', 'runs', 'execution', 'pipelines'].map((area) => queries.invalidateQueries({ queryKey: [area] }))),
  });
}
