/** What every part of the settings is made of: a label column and one column of fields. */
import type { ReactNode } from 'react';
import { Copy } from '@/ui/CopyAs';

export function Part({ id, title, about, children }: { id: string; title: string; about?: ReactNode; children: ReactNode }) {
  return (
    <section id={id} aria-labelledby={`${id}-title`} className="border-b border-line py-5 last:border-b-0">
      <h2 id={`${id}-title`} tabIndex={-1} className="text-page">
        {title}
      </h2>
      {about && <p className="max-w-[640px] text-ink-2">{about}</p>}
      <div className="mt-3 flex flex-col gap-3">{children}</div>
    </section>
  );
}

export function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="grid gap-x-4 tablet:grid-cols-[160px_minmax(0,1fr)]">
      <div className="pt-0.5 text-small text-ink-3">{label}</div>
      <div className="min-w-0">{children}</div>
    </div>
  );
}

export function Command({ text }: { text: string }) {
  return (
    <span className="inline-flex max-w-full items-center gap-2 rounded-2 bg-sunken pl-2">
      <code className="fact min-w-0 [overflow-wrap:anywhere]">{text}</code>
      <Copy text={text} label={`Copy ${text}`} />
    </span>
  );
}
