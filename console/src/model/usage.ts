/** What work cost, as bars: a measure, a length, a figure. */
import type { components } from '@/api/types';
import { count, money } from './figures';
import { date, took } from './time';

type Schemas = components['schemas'];
export type Group = Schemas['UsageGroup'];
export type Summary = Schemas['UsageSummary'];

export const BYS = ['pipeline', 'checkpoint', 'model', 'agent', 'day'] as const;
export type By = (typeof BYS)[number];

export const MEASURES = ['cost', 'tokens', 'calls', 'time'] as const;
export type Measure = (typeof MEASURES)[number];

const tokens = ({ usage }: Group) => usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens;

export function amount(it: Group, measure: Measure): number {
  if (measure === 'cost') return it.usage.cost_usd;
  if (measure === 'tokens') return tokens(it);
  return measure === 'calls' ? it.usage.calls : it.seconds;
}

export function figure(value: number, measure: Measure): string {
  if (measure === 'cost') return money(value);
  if (measure === 'time') return took(value * 1000);
  return measure === 'tokens' ? `${count(value)} tok` : count(value);
}

export interface Bar {
  key: string;
  name: string;
  /** Of the longest, 0 to 1. */
  length: number;
  figure: string;
  group: Group;
}

/** Days stand in their order; all else as the API has it, but the largest of the measure first. */
export function bars(items: readonly Group[], by: By, measure: Measure): Bar[] {
  const most = Math.max(0, ...items.map((it) => amount(it, measure)));
  const sorted = [...items].sort((a, b) => (by === 'day' ? (b.key ?? '').localeCompare(a.key ?? '') : amount(b, measure) - amount(a, measure)));
  return sorted.map((group, at) => ({
    key: group.key ?? `none-${at}`,
    name: by === 'day' && group.key ? date(`${group.key}T12:00:00`) : (group.name ?? group.key ?? NAMELESS[by]),
    length: most > 0 ? amount(group, measure) / most : 0,
    figure: figure(amount(group, measure), measure),
    group,
  }));
}

const NAMELESS: Record<By, string> = { pipeline: 'No pipeline', checkpoint: 'No checkpoint', model: 'No model', agent: 'No agent by name', day: 'No day' };

/** The measure that tells something: work that cost nothing is told by its calls, or by its time. */
export function telling({ total, items }: Summary): Measure {
  if (total.cost_usd > 0) return 'cost';
  return items.some((it) => it.usage.calls > 0) ? 'calls' : 'time';
}

export const PERIODS = [
  { value: '1', label: '24 hours', days: 1 },
  { value: '7', label: '7 days', days: 7 },
  { value: '30', label: '30 days', days: 30 },
  { value: 'all', label: 'All time', days: undefined },
] as const;

/** When a period begins, on the hour, so that the same question is asked under the same name. */
export function begins(period: string, now: Date): string | undefined {
  const days = PERIODS.find((one) => one.value === period)?.days;
  if (days === undefined) return undefined;
  const hour = 3_600_000;
  return new Date(Math.floor(now.getTime() / hour) * hour - days * 24 * hour).toISOString();
}

/** What a folder that would go was kept for. */
export const kept = (kind: string) => ({ archive: 'archive of a rollback', error: 'a failed execution', errored: 'a failed execution', archived: 'archive of a rollback' })[kind] ?? kind.replaceAll('_', ' ');
