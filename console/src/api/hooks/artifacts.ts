/** Outputs: lists, and the bytes themselves, which never change under an id. */
import { skipToken, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { body, client, text } from '../client';
import { keys } from '../keys';

export interface ArtifactFilter {
  pipeline_id?: string;
  run_id?: string;
  execution_id?: string;
  /** Earlier attempts and revisions as well. */
  all?: boolean;
}

export function useArtifacts(filter: ArtifactFilter = {}, limit = 100) {
  return useInfiniteQuery({
    queryKey: keys.artifacts({ ...filter }),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => body(client.GET('/api/artifacts/list', { params: { query: { ...filter, cursor: pageParam, limit } }, signal })),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
}

export const useArtifact = (id: string | undefined) =>
  useQuery({ queryKey: keys.artifact(id ?? ''), queryFn: id ? () => body(client.GET('/api/artifacts/{id}', { params: { path: { id } } })) : skipToken });

export const downloadPath = (id: string) => `/api/artifacts/${id}/download`;

export const useArtifactText = (id: string | undefined) =>
  useQuery({ queryKey: keys.artifactText(id ?? ''), queryFn: id ? ({ signal }) => text(downloadPath(id), signal) : skipToken });
