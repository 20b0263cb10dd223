/** What the palette offers: verbs on this screen, places, pipelines and runs, settings. */
import { useNavigate } from '@tanstack/react-router';
import { usePipelines } from '@/api/hooks/pipelines';
import { useRuns } from '@/api/hooks/runs';
import CommandPalette, { type PaletteGroup, type PaletteItem } from '@/ui/CommandPalette';
import { acting, useShortcuts } from '@/ui/shortcuts';
import { setTheme } from '@/ui/theme';
import { PLACES, SETTINGS } from './places';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export default function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const shortcuts = useShortcuts();
  const pipelines = usePipelines().data?.pages.flatMap((page) => page.items) ?? [];
  const runs = useRuns({}, 50).data?.pages.flatMap((page) => page.items) ?? [];
  const verbs = new Map<string, PaletteItem>();
  for (const one of shortcuts) {
    const label = one.long ?? one.label;
    if ((one.group !== 'On this screen' && !one.long) || !label) continue;
    // A key that does something else here is not shown.
    const keys = acting(shortcuts, one.keys)?.label === one.label ? one.keys : '';
    verbs.set(label, { id: `verb-${label}`, label: upper(label), keys: keys || undefined, run: one.run });
  }
  const groups: PaletteGroup[] = [
    { title: 'On this screen', items: [...verbs.values()] },
    {
      title: 'Go to',
      items: [
        ...PLACES.map((place) => ({ id: place.to, label: place.name, icon: place.icon, keys: place.keys, run: () => void navigate({ to: place.to }) })),
        ...pipelines.map((pipeline) => ({
          id: pipeline.pipeline_id,
          label: pipeline.pipeline_name,
          meta: 'pipeline',
          icon: 'pipelines' as const,
          run: () => void navigate({ to: '/pipelines/$pipelineId', params: { pipelineId: pipeline.pipeline_id } }),
        })),
        ...runs.map((run) => ({
          id: run.run_id,
          label: `${run.pipeline_name ?? 'Run'} v${run.run_version ?? ''}`,
          meta: 'run',
          icon: 'right' as const,
          run: () => void navigate({ to: '/runs/$runId', params: { runId: run.run_id } }),
        })),
      ],
    },
    {
      title: 'Settings',
      items: [
        { id: 'settings', label: 'Settings', icon: SETTINGS.icon, keys: SETTINGS.keys, run: () => void navigate({ to: '/settings' }) },
        ...(['light', 'dark', 'system'] as const).map((theme) => ({
          id: `theme-${theme}`,
          label: theme === 'system' ? 'Theme as the system has it' : `${upper(theme)} theme`,
          icon: 'theme' as const,
          run: () => setTheme(theme),
        })),
      ],
    },
  ];
  const jump = (text: string): PaletteItem | undefined => {
    if (UUID.test(text)) return { id: 'jump', label: `Run ${text}`, icon: 'right', run: () => void navigate({ to: '/runs/$runId', params: { runId: text } }) };
    const version = /^v(\d+)$/i.exec(text)?.[1];
    const run = version ? runs.find((one) => one.run_version === Number(version)) : undefined;
    return run ? { id: 'jump', label: `${run.pipeline_name ?? 'Run'} v${run.run_version}`, icon: 'right', run: () => void navigate({ to: '/runs/$runId', params: { runId: run.run_id } }) } : undefined;
  };
  return <CommandPalette open onClose={onClose} groups={groups} jump={jump} />;
}
