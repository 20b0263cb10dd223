/** Every address of the console. A screen's code is loaded with its first visit. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import type { QueryClient } from '@tanstack/react-query';
import { loaded } from '@/api/loaded';
import { body, client } from '@/api/client';
import { meQuery } from '@/api/hooks/session';
import { isMine } from '@/model/rights';
import { Loading } from '@/ui/states';
import { Root } from './Root';

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined);

/** Keeps the known parameters of an address, and drops what is empty. */
const only =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): { [name in Name]?: string } =>
    Object.fromEntries(names.flatMap((name) => (text(search[name]) === undefined ? [] : [[name, text(search[name])]]))) as { [name in Name]?: string };

const root = createRootRoute({ component: Root });

const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: lazyRouteComponent(loaded(() => import('@/features/shell'))) });
const parent = { getParentRoute: () => shell };

const home = (queries: QueryClient) =>
  createRoute({
    ...parent,
    path: '/',
    // The inbox when something waits for this person, else the pipelines.
    loader: async () => {
      const [me, page] = await Promise.all([
        queries.fetchQuery(meQuery),
        body(client.GET('/api/inbox', { params: { query: { limit: 100 } } })),
      ]);
      const waits = page.items.some((item) => isMine(me, item.waiting_for));
      throw redirect({ to: waits ? '/inbox' : '/pipelines', replace: true });
    },
  });

const inbox = createRoute({ ...parent, path: '/inbox', validateSearch: only('item', 'show', 'order'), component: lazyRouteComponent(loaded(() => import('@/features/inbox'))) });
const review = createRoute({ ...parent, path: '/review/$executionId', validateSearch: only('view', 'artifact', 'do'), component: lazyRouteComponent(loaded(() => import('@/features/review'))) });
const pipelines = createRoute({ ...parent, path: '/pipelines', validateSearch: only('find', 'deleted', 'item', 'new'), component: lazyRouteComponent(loaded(() => import('@/features/pipelines'))) });
const pipeline = createRoute({ ...parent, path: '/pipelines/$pipelineId', validateSearch: only('tab'), component: lazyRouteComponent(loaded(() => import('@/features/pipelines/one'))) });
const editor = createRoute({ ...parent, path: '/pipelines/$pipelineId/edit', validateSearch: only('checkpoint', 'view', 'part'), component: lazyRouteComponent(loaded(() => import('@/features/editor'))) });
const history = createRoute({ ...parent, path: '/pipelines/$pipelineId/history', validateSearch: only('from', 'to'), component: lazyRouteComponent(loaded(() => import('@/features/history'))) });
const run = createRoute({ ...parent, path: '/runs/$runId', validateSearch: only('execution', 'tab', 'message', 'artifact', 'attempt', 'view'), component: lazyRouteComponent(loaded(() => import('@/features/run'))) });
const rollback = createRoute({ ...parent, path: '/runs/$runId/rollback', validateSearch: only('to', 'run', 'level', 'done'), component: lazyRouteComponent(loaded(() => import('@/features/rollback'))) });
const compare = createRoute({ ...parent, path: '/compare', validateSearch: only('a', 'b', 'checkpoint', 'artifact', 'view'), component: lazyRouteComponent(loaded(() => import('@/features/compare'))) });
const events = createRoute({
  ...parent,
  path: '/events',
  validateSearch: only('event_type', 'since', 'until', 'pipeline_id', 'run_id', 'execution_id', 'actor', 'event'),
  component: lazyRouteComponent(loaded(() => import('@/features/events'))),
});
const artifacts = createRoute({ ...parent, path: '/artifacts', validateSearch: only('artifact', 'find', 'pipeline_id', 'name', 'view'), component: lazyRouteComponent(loaded(() => import('@/features/artifacts'))) });
const usage = createRoute({ ...parent, path: '/usage', validateSearch: only('by', 'since', 'pipeline_id', 'show'), component: lazyRouteComponent(loaded(() => import('@/features/usage'))) });
const settings = createRoute({ ...parent, path: '/settings', validateSearch: only('part'), component: lazyRouteComponent(loaded(() => import('@/features/settings'))) });
const sessions = createRoute({ ...parent, path: '/sessions', validateSearch: only('session', 'node', 'find', 'run'), component: lazyRouteComponent(loaded(() => import('@/features/sessions'))) });
const loops = createRoute({ ...parent, path: '/loops', validateSearch: only('loop', 'iteration', 'tab'), component: lazyRouteComponent(loaded(() => import('@/features/loops'))) });

/** Whatever else: inside the frame, so that the ways on are there. */
const missing = createRoute({ ...parent, path: '$', component: lazyRouteComponent(loaded(() => import('@/features/missing'))) });

export function makeRouter(queries: QueryClient) {
  const screens = [home(queries), inbox, review, pipelines, pipeline, editor, history, run, rollback, compare, events, artifacts, usage, settings, sessions, loops, missing];
  return createRouter({
    routeTree: root.addChildren([shell.addChildren(screens)]),
    defaultPreload: 'intent',
    defaultPendingComponent: () => <Loading label="Loading" />,
    // Screens keep their own places; the page itself never scrolls.
    scrollRestoration: false,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
