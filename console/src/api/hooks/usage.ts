/** What work cost and what it keeps on disk. Asked anew with each visit: no single event says that it changed. */
import { useQuery } from '@tanstack/react-query';
import { body, client } from '../client';
import type { paths } from '../schema';

export type UsageQuery = NonNullable<paths['/api/usage']['get']['parameters']['query']>;

const fresh = { refetchOnMount: 'always' as const, staleTime: 0 };

export const useUsage = (query: UsageQuery) => useQuery({ ...fresh, queryKey: ['usage', query], queryFn: ({ signal }) => body(client.GET('/api/usage', { params: { query }, signal })) });

export const useDisk = () => useQuery({ ...fresh, queryKey: ['usage', 'disk'], queryFn: ({ signal }) => body(client.GET('/api/usage/disk', { signal })) });

export const useRetention = () => useQuery({ ...fresh, queryKey: ['usage', 'retention'], queryFn: ({ signal }) => body(client.GET('/api/usage/retention', { signal })) });
