/** The places of the console, and which addresses are work: there the sidebar is a rail. */
import type { Thing } from '@/ui/icons/things';

export interface Place {
  to: '/inbox' | '/pipelines' | '/sessions' | '/loops' | '/artifacts' | '/events' | '/usage' | '/settings';
  name: string;
  icon: Thing;
  keys?: string;
}

export const PLACES: readonly Place[] = [
  { to: '/inbox', name: 'Inbox', icon: 'inbox', keys: 'g i' },
  { to: '/pipelines', name: 'Pipelines', icon: 'pipelines', keys: 'g p' },
  { to: '/sessions', name: 'Sessions', icon: 'sessions', keys: 'g s' },
  { to: '/loops', name: 'Loops', icon: 'loops', keys: 'g l' },
  { to: '/artifacts', name: 'Artifacts', icon: 'file', keys: 'g a' },
  { to: '/events', name: 'Events', icon: 'events', keys: 'g e' },
  { to: '/usage', name: 'Usage', icon: 'usage', keys: 'g u' },
];

export const SETTINGS: Place = { to: '/settings', name: 'Settings', icon: 'settings', keys: 'g ,' };

const WORK = [/^\/review\//, /^\/runs\//, /^\/pipelines\/[^/]+\/edit$/, /^\/sessions\/[^/]+/, /^\/compare/];

export const isWork = (path: string) => WORK.some((pattern) => pattern.test(path));

/** The place that an address belongs to. */
export function placeOf(path: string): string {
  if (path.startsWith('/review')) return '/inbox';
  if (path.startsWith('/runs') || path.startsWith('/compare')) return '/pipelines';
  return `/${path.split('/')[1] ?? ''}`;
}
