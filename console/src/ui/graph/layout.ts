/** Where the nodes of a graph stand, and which one lies in a direction. */
import dagre from '@dagrejs/dagre';

export interface Place {
  x: number;
  y: number;
}

export const NODE = { width: 140, height: 74 };

/** Lays a graph out so that edges run one way. Edges to nodes that are not there are left out. */
export function arrange(ids: readonly string[], lines: readonly { from: string; to: string; weight?: number }[], direction: 'LR' | 'TB' = 'LR'): Map<string, Place> {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: direction, nodesep: 36, ranksep: direction === 'LR' ? 28 : 40, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  const known = new Set(ids);
  for (const id of ids) graph.setNode(id, { ...NODE });
  for (const line of lines) if (known.has(line.from) && known.has(line.to)) graph.setEdge(line.from, line.to, { weight: line.weight ?? 1 });
  dagre.layout(graph);
  return new Map(
    ids.map((id) => {
      const { x, y } = graph.node(id) as Place;
      return [id, { x: x - NODE.width / 2, y: y - NODE.height / 2 }];
    }),
  );
}

export type Way = 'left' | 'right' | 'up' | 'down';

/** The nearest node in a direction: straight on counts more than aside. */
export function neighbour(places: ReadonlyMap<string, Place>, from: string, way: Way): string | undefined {
  const here = places.get(from);
  if (!here) return places.keys().next().value;
  let best: { id: string; far: number } | undefined;
  for (const [id, place] of places) {
    const [dx, dy] = [place.x - here.x, place.y - here.y];
    const ahead = way === 'right' ? dx : way === 'left' ? -dx : way === 'down' ? dy : -dy;
    const aside = way === 'right' || way === 'left' ? Math.abs(dy) : Math.abs(dx);
    if (id === from || ahead <= 1) continue;
    const far = ahead + aside * 2;
    if (!best || far < best.far) best = { id, far };
  }
  return best?.id;
}
