/** The keys of this screen, and whether what is shown is live. */
import { useConnection } from '@/api/live/connection';
import { count } from '@/model/figures';
import { clock } from '@/model/time';
import { Keys } from './Keys';
import { acting, useShortcuts } from './shortcuts';

export function HintBar() {
  const connection = useConnection();
  const all = useShortcuts();
  const hints = all.filter((one) => one.hint && one.keys !== '' && one.keys !== '?' && acting(all, one.keys)?.label === one.label).sort((a, b) => a.order - b.order);
  // Keys with one word, such as j and k, stand together.
  const words = new Map<string, string[]>();
  for (const one of hints) {
    const keys = words.get(one.label) ?? [];
    if (!keys.includes(one.keys)) words.set(one.label, [...keys, one.keys]);
  }
  return (
    <footer className="hidden items-center gap-[14px] overflow-hidden border-t border-line bg-canvas px-5 text-label whitespace-nowrap text-ink-3 tablet:flex">
      {[...words].map(([word, keys]) => (
        <span key={word} className="inline-flex items-center gap-[5px]">
          {keys.map((one) => (
            <Keys key={one} keys={one} />
          ))}
          {word}
        </span>
      ))}
      <span className="flex-1" />
      <span role="status" className="inline-flex items-center gap-[5px]">
        {connection.state === 'live' ? (
          <>
            <svg width="7" height="7" aria-hidden="true">
              <circle cx="3.5" cy="3.5" r="3.5" className="fill-done" />
            </svg>
            Live{connection.seq !== undefined && `, event ${count(connection.seq)}`}
          </>
        ) : (
          <>
            <svg width="7" height="7" aria-hidden="true">
              <circle cx="3.5" cy="3.5" r="2.75" className="fill-none stroke-fail" strokeWidth="1.5" />
            </svg>
            <span className={connection.state === 'lost' ? 'font-name text-fail' : ''}>
              {connection.state === 'lost' ? `Not connected${connection.heard ? `, showing ${clock(connection.heard)}` : ''}` : 'Connecting'}
            </span>
          </>
        )}
      </span>
      <span className="inline-flex items-center gap-[5px]">
        <Keys keys="?" />
        all keys
      </span>
    </footer>
  );
}

/** Why decisions are off now; nothing, while the console is connected. */
export function useOffline(): string | undefined {
  const { state } = useConnection();
  return state === 'lost' ? 'Not connected: decisions are off.' : undefined;
}
