/** The palette: verbs of this screen first, then places, then settings. Loaded when it is first opened. */
import { Command } from 'cmdk';
import { useState } from 'react';
import { Icon } from './Icon';
import type { Thing } from './icons/things';
import { Keys } from './Keys';
import { Dialog } from './overlays';

export interface PaletteItem {
  id: string;
  label: string;
  meta?: string | undefined;
  icon?: Thing | undefined;
  keys?: string | undefined;
  run: () => void;
}

export interface PaletteGroup {
  title: string;
  items: readonly PaletteItem[];
}

export default function CommandPalette({ open, onClose, groups, jump }: { open: boolean; onClose: () => void; groups: readonly PaletteGroup[]; jump?: (text: string) => PaletteItem | undefined }) {
  const [text, setText] = useState('');
  const direct = text ? jump?.(text.trim()) : undefined;
  const all = direct ? [{ title: 'Jump', items: [direct] }, ...groups] : groups;
  const pick = (item: PaletteItem) => {
    onClose();
    setText('');
    item.run();
  };
  return (
    <Dialog open={open} onClose={onClose} title="Commands" plain place="palette" className="overflow-hidden">
      <Command label="Commands" loop filter={matches}>
        <div className="flex h-[42px] items-center gap-[9px] border-b border-line px-[14px] max-tablet:h-[52px]">
          <Icon name="search" className="text-ink-3" />
          <Command.Input value={text} onValueChange={setText} placeholder="Find a verb, a pipeline, a run" className="min-w-0 flex-1 bg-transparent text-[14px] outline-none max-tablet:text-[16px]" />
          <Keys keys="escape" />
        </div>
        <Command.List className="scroll-pane max-h-[min(420px,60dvh)] pb-1.5">
          <Command.Empty className="px-[14px] py-3 text-ink-2">Nothing is called that.</Command.Empty>
          {all.map(
            (group) =>
              group.items.length > 0 && (
                <Command.Group
                  key={group.title}
                  heading={group.title}
                  className="[&_[cmdk-group-heading]]:label [&_[cmdk-group-heading]]:px-[14px] [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-[3px]"
                >
                  {group.items.map((item) => (
                    <Command.Item
                      key={item.id}
                      value={`${item.id} ${item.label} ${item.meta ?? ''}`}
                      keywords={item === direct ? [text] : []}
                      onSelect={() => pick(item)}
                      className="flex min-h-8 cursor-pointer items-center gap-[9px] px-[14px] text-ink-2 data-[selected=true]:selected-row data-[selected=true]:text-ink max-tablet:min-h-11"
                    >
                      {item.icon && <Icon name={item.icon} className="text-ink-3" />}
                      <span className="min-w-0 truncate">
                        <Found text={item.label} wanted={text} />
                      </span>
                      {item.meta && <span className="truncate text-small text-ink-3">{item.meta}</span>}
                      <span className="flex-1" />
                      {item.keys && <Keys keys={item.keys} />}
                    </Command.Item>
                  ))}
                </Command.Group>
              ),
          )}
        </Command.List>
      </Command>
    </Dialog>
  );
}

/** Plain containing, so that what matches is what is marked. */
function matches(value: string, search: string, keywords?: string[]): number {
  if (keywords?.includes(search)) return 1;
  const label = value.slice(value.indexOf(' ') + 1).toLowerCase();
  const wanted = search.trim().toLowerCase();
  if (label.startsWith(wanted)) return 1;
  if (label.includes(` ${wanted}`)) return 0.8;
  return label.includes(wanted) ? 0.5 : 0;
}

function Found({ text, wanted }: { text: string; wanted: string }) {
  const at = wanted ? text.toLowerCase().indexOf(wanted.trim().toLowerCase()) : -1;
  if (at < 0) return text;
  const end = at + wanted.trim().length;
  return (
    <>
      {text.slice(0, at)}
      <b className="text-ink">{text.slice(at, end)}</b>
      {text.slice(end)}
    </>
  );
}
