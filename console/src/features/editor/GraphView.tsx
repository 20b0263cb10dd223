/** The checkpoints as a graph: what comes after what, who reads whose outputs, who waits for whom. */
import { useMemo } from 'react';
import { type Draft, isObject, listAt, modeOf, nameOf } from '@/model/definition';
import { about, MODE_WORDS } from '@/model/definition-words';
import { Graph } from '@/ui/graph/Graph';
import type { GraphItem, GraphLine } from '@/ui/graph/types';
import { useNarrow } from '@/ui/media';
import { ModeIcon } from './List';

interface Props {
  draft: Draft;
  selected: string | undefined;
  onSelect: (key: string) => void;
  onOpen: (key: string) => void;
}

export function GraphView({ draft, selected, onSelect, onOpen }: Props) {
  const narrow = useNarrow();
  const items = useMemo<GraphItem[]>(
    () =>
      draft.parts.map((part) => ({
        id: part.key,
        label: nameOf(part) || 'No name',
        meta: about(part),
        icon: <ModeIcon part={part} />,
        status: { icon: 'checkpoint', tone: 'ink-2', word: MODE_WORDS[modeOf(part)] },
      })),
    [draft],
  );
  const lines = useMemo<GraphLine[]>(
    () =>
      draft.parts.flatMap((part, at) => {
        const before = draft.parts[at - 1];
        const reads = listAt(part.definition, '/inputs/include_checkpoint_outputs').filter(isObject).map((one) => String(one.checkpoint_id));
        const needs = listAt(part.definition, '/dependencies/required_checkpoint_ids').map(String).filter((key) => !reads.includes(key));
        return [
          ...(before ? [{ from: before.key, to: part.key, cause: 'next' as const }] : []),
          ...reads.map((from) => ({ from, to: part.key, cause: 'reads' as const })),
          ...needs.map((from) => ({ from, to: part.key, cause: 'needs' as const })),
        ];
      }),
    [draft],
  );
  return <Graph items={items} lines={lines} selected={selected} onSelect={onSelect} onOpen={onOpen} direction={narrow || draft.parts.length > 3 ? 'TB' : 'LR'} label={`Graph of ${draft.name}`} className="min-h-0 flex-1" />;
}
