/** The drawn graph. Loaded when a graph is first looked at. */
import '@xyflow/react/dist/base.css';
import { Background, BackgroundVariant, BaseEdge, type Edge, type EdgeProps, Handle, type Node, type NodeProps, Position, ReactFlow, ReactFlowProvider, useReactFlow } from '@xyflow/react';
import clsx from 'clsx';
import { type KeyboardEvent, useEffect, useMemo, useRef } from 'react';
import { StatusMark } from '../Icon';
import { useShortcut } from '../shortcuts';
import { arrange, neighbour, NODE, type Way } from './layout';
import { type Cause, CAUSES, type GraphItem, type GraphProps } from './types';

interface Drawn extends Record<string, unknown> {
  item: GraphItem;
  selected: boolean;
  onSelect: (id: string) => void;
  onOpen: ((id: string) => void) | undefined;
  sides: [Position, Position];
  /** The side for lines that do not follow the order. */
  aside: Position;
}

const KEYS: Record<string, Way> = { h: 'left', l: 'right', j: 'down', k: 'up', ArrowLeft: 'left', ArrowRight: 'right', ArrowDown: 'down', ArrowUp: 'up' };

/** Lines run from icon to icon: all of them are pinned to its middle. */
const PIN = { left: NODE.width / 2, top: 52, right: 'auto', bottom: 'auto', transform: 'translate(-50%, -50%)', minWidth: 1, minHeight: 1, width: 1, height: 1 } as const;
const ASIDE = new Set<Cause>(['reads', 'needs']);

function Spot({ data }: NodeProps<Node<Drawn>>) {
  const { item, selected, onSelect, onOpen, sides, aside } = data;
  return (
    <div className={clsx('flex flex-col items-center', item.dim && 'opacity-70')} style={{ width: NODE.width, height: NODE.height }}>
      <Handle id="in" type="target" position={sides[0]} isConnectable={false} className="opacity-0!" style={PIN} />
      <Handle id="in-aside" type="target" position={aside} isConnectable={false} className="opacity-0!" style={PIN} />
      <button
        type="button"
        data-node={item.id}
        tabIndex={selected ? 0 : -1}
        aria-pressed={selected}
        onClick={() => onSelect(item.id)}
        onDoubleClick={() => onOpen?.(item.id)}
        className="flex w-full flex-col items-center rounded-2 pt-0.5"
      >
        <span className={clsx('relative z-10 block max-w-full truncate bg-surface px-1 text-small', item.dim ? 'text-ink-2' : 'font-name')}>{item.label}</span>
        <span className="relative z-10 block max-w-full truncate bg-surface px-1 pb-0.5 text-label text-ink-3">{item.meta ?? '\u00a0'}</span>
        <span className={clsx('relative z-10 grid size-[26px] place-items-center rounded-2 bg-surface', selected && 'outline-2 outline-ink')}>
          {item.icon ?? <StatusMark icon={item.status.icon} tone={item.status.tone} label={item.status.word} />}
        </span>
        {item.tag && <span className="mt-1 rounded-1 bg-ink px-1.5 text-label font-name text-surface">{item.tag}</span>}
      </button>
      <Handle id="out" type="source" position={sides[1]} isConnectable={false} className="opacity-0!" style={PIN} />
      <Handle id="out-aside" type="source" position={aside} isConnectable={false} className="opacity-0!" style={PIN} />
    </div>
  );
}

/** A line beside the order: an arc, so that it is seen where another line runs straight. */
function Arc({ sourceX, sourceY, targetX, targetY, sourcePosition, style }: EdgeProps) {
  const far = 26 + 0.16 * Math.hypot(targetX - sourceX, targetY - sourceY);
  const [dx, dy] = sourcePosition === Position.Bottom ? [0, far] : [far, 0];
  return <BaseEdge path={`M${sourceX} ${sourceY}C${sourceX + dx} ${sourceY + dy} ${targetX + dx} ${targetY + dy} ${targetX} ${targetY}`} {...(style ? { style } : {})} />;
}

const TYPES = { spot: Spot };
const EDGES = { arc: Arc };

function Flow({ items, lines, selected, onSelect, onOpen, direction = 'LR', label, className }: GraphProps) {
  const flow = useReactFlow();
  const pane = useRef<HTMLElement>(null);
  const places = useMemo(
    () => arrange(items.map((item) => item.id), lines.map((line) => ({ from: line.from, to: line.to, weight: line.cause === 'next' ? 4 : 1 })), direction),
    [items, lines, direction],
  );
  const nodes = useMemo<Node<Drawn>[]>(
    () =>
      items.map((item) => ({
        id: item.id,
        type: 'spot',
        position: places.get(item.id) ?? { x: 0, y: 0 },
        draggable: false,
        selectable: false,
        focusable: false,
        data: { item, selected: item.id === selected, onSelect, onOpen, sides: direction === 'LR' ? [Position.Left, Position.Right] : [Position.Top, Position.Bottom], aside: direction === 'LR' ? Position.Bottom : Position.Right },
      })),
    [items, places, selected, onSelect, onOpen, direction],
  );
  const edges = useMemo<Edge[]>(
    () =>
      lines.map((line) => {
        const { color, width, dash } = CAUSES[line.cause];
        return { id: `${line.from}-${line.cause}-${line.to}`, source: line.from, target: line.to, sourceHandle: ASIDE.has(line.cause) ? 'out-aside' : 'out', targetHandle: ASIDE.has(line.cause) ? 'in-aside' : 'in', ...(ASIDE.has(line.cause) ? { type: 'arc' } : {}), focusable: false, selectable: false, style: { stroke: color, strokeWidth: width, ...(dash ? { strokeDasharray: dash } : {}) } };
      }),
    [lines],
  );
  const count = items.length;
  useEffect(() => {
    void flow.fitView({ padding: 0.12, maxZoom: 1, minZoom: 0.3 });
  }, [flow, count, direction]);
  useShortcut('0', 'fit', () => void flow.fitView({ padding: 0.12, maxZoom: 1 }), { hint: true });
  const walk = (event: KeyboardEvent) => {
    const way = KEYS[event.key];
    if (!way || event.altKey || event.ctrlKey || event.metaKey) {
      if (event.key === 'Enter' && selected && onOpen) {
        event.preventDefault();
        onOpen(selected);
      }
      return;
    }
    event.preventDefault();
    const next = neighbour(places, selected ?? '', way);
    if (!next) return;
    onSelect(next);
    pane.current?.querySelector<HTMLElement>(`[data-node="${CSS.escape(next)}"]`)?.focus({ preventScroll: true });
    void flow.fitView({ nodes: [{ id: selected ?? next }, { id: next }], padding: 1, maxZoom: 1 });
  };
  return (
    <section ref={pane} aria-label={label} onKeyDown={walk} className={clsx('relative min-h-0', className)}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={TYPES}
        edgeTypes={EDGES}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        deleteKeyCode={null}
        proOptions={{ hideAttribution: true }}
        fitView
        fitViewOptions={{ padding: 0.12, maxZoom: 1 }}
        minZoom={0.2}
        maxZoom={1.6}
      >
        <Background variant={BackgroundVariant.Dots} gap={20} size={1} color="var(--color-line-2)" />
      </ReactFlow>
    </section>
  );
}

export default function Canvas(props: GraphProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}
