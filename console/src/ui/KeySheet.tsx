/** All keys of this screen, read from what is registered. */
import { Keys } from './Keys';
import { Dialog } from './overlays';
import { acting, type Shortcut, useShortcuts } from './shortcuts';

export function KeySheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const every = useShortcuts();
  const shortcuts = every.filter((one) => one.keys !== '' && acting(every, one.keys)?.group === one.group);
  const groups = new Map<string, Map<string, Shortcut>>();
  for (const shortcut of shortcuts) {
    const group = groups.get(shortcut.group) ?? new Map<string, Shortcut>();
    group.set(shortcut.keys, shortcut);
    groups.set(shortcut.group, group);
  }
  const ordered = [...groups].sort(([a], [b]) => Number(a === 'Anywhere') - Number(b === 'Anywhere'));
  return (
    <Dialog open={open} onClose={onClose} title="Keys" about="Single letters are off while you type. Settings turns them off altogether.">
      <div className="grid gap-x-8 gap-y-4 tablet:grid-cols-2">
        {ordered.map(([group, all]) => (
          <section key={group}>
            <h3 className="label mb-1">{group}</h3>
            <dl>
              {[...all.values()].map((one) => (
                <div key={one.keys} className="flex min-h-[26px] items-center justify-between gap-4 border-t border-line">
                  <dt className="first-letter:uppercase">{one.long ?? one.label}</dt>
                  <dd className="flex">
                    <Keys keys={one.keys} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
