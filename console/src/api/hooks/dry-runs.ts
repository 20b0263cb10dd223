/** Dry runs: a definition is walked with made-up and scripted answers. Nothing is kept. */
import { useMutation } from '@tanstack/react-query';
import { body, client } from '../client';
import type { components } from '../schema';

export type DryRunReport = components['schemas']['DryRunReport'];
export type DryCheckpoint = components['schemas']['DryCheckpoint'];
export type Walk = components['schemas']['Walk'];

export const walk = (wanted: Walk) => body(client.POST('/api/dry-runs', { body: wanted }));

export const useDryRun = () => useMutation({ mutationFn: walk });
