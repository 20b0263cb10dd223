/** A Mermaid diagram, drawn here and shown as a picture. What cannot be read is shown as text, with the reason. */
import { useEffect, useState, useSyncExternalStore } from 'react';
import { CodeView } from '../CodeView';
import { StatusMark } from '../Icon';
import { isDark, useTheme } from '../theme';
import { loaded } from '@/api/loaded';
import type { Picture } from './diagram';

const scheme = '(prefers-color-scheme: dark)';
function useDark(): boolean {
  useTheme();
  return useSyncExternalStore(
    (changed) => {
      const media = matchMedia(scheme);
      media.addEventListener('change', changed);
      return () => media.removeEventListener('change', changed);
    },
    () => isDark(),
  );
}

type Drawn = { of: string; dark: boolean } & ({ picture: Picture; address: string } | { reason: string });

export default function Diagram({ text, label }: { text: string; label: string }) {
  const dark = useDark();
  const [drawn, setDrawn] = useState<Drawn>();
  useEffect(() => {
    let gone = false;
    let address: string | undefined;
    void loaded(() => import('./diagram'))()
      .then(({ draw }) => draw(text, dark))
      .then(
        (picture) => {
          if (gone) return;
          address = URL.createObjectURL(new Blob([picture.svg], { type: 'image/svg+xml' }));
          setDrawn({ of: text, dark, picture, address });
        },
        (error: unknown) => {
          if (!gone) setDrawn({ of: text, dark, reason: error instanceof Error ? error.message : String(error) });
        },
      );
    return () => {
      gone = true;
      if (address) URL.revokeObjectURL(address);
    };
  }, [text, dark]);
  const current = drawn && drawn.of === text && drawn.dark === dark ? drawn : undefined;
  if (!current) return <p className="px-5 py-4 text-small text-ink-3">Drawing the diagram</p>;
  if ('reason' in current)
    return (
      <div className="flex min-h-0 flex-1 flex-col">
        <div role="note" className="flex flex-none items-start gap-2 border-b border-line px-5 py-2">
          <StatusMark icon="failed" tone="fail" size={14} className="mt-[3px]" />
          <div className="min-w-0">
            <p className="font-name">The diagram could not be drawn</p>
            <pre className="fact scroll-pane max-h-24 whitespace-pre-wrap text-ink-2">{current.reason}</pre>
          </div>
        </div>
        <CodeView text={text} label={`${label}, text`} className="flex-1" />
      </div>
    );
  const { picture, address } = current;
  return (
    <div className="scroll-pane min-h-0 flex-1 p-5" tabIndex={0} role="region" aria-label={label} data-content="whole">
      <img src={address} alt={`Diagram of ${label}; its text stands under Raw.`} width={picture.width} height={picture.height} className="mx-auto h-auto max-w-full" />
    </div>
  );
}
