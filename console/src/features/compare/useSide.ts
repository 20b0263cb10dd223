/** Which run and which execution an address names; the address itself does not say. */
import { skipToken, useQuery } from '@tanstack/react-query';
import { body, client } from '@/api/client';
import { Problem } from '@/api/problem';
import { parseSide } from '@/model/compare';

export interface Found {
  run: string;
  pipeline: string | undefined;
  execution: string | undefined;
}

async function find(id: string): Promise<Found> {
  const at = { params: { path: { id } } };
  try {
    const run = await body(client.GET('/api/runs/{id}', at));
    return { run: run.run_id, pipeline: run.pipeline_id ?? undefined, execution: undefined };
  } catch (error) {
    if (Problem.of(error).status !== 404) throw error;
    const execution = await body(client.GET('/api/executions/{id}', at));
    return { run: execution.run_id, pipeline: execution.pipeline_id ?? undefined, execution: execution.execution_id };
  }
}

export function useSide(address: string | undefined) {
  const side = parseSide(address);
  return useQuery({ queryKey: ['side', side?.id ?? ''], queryFn: side ? () => find(side.id) : skipToken, retry: false });
}
