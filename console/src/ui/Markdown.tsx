/** Rendered Markdown, in the voice of the work. Loaded when it is first needed. */
import { lazy, Suspense } from 'react';
import { loaded } from '@/api/loaded';

const Rendered = lazy(loaded(() => import('./MarkdownRendered')));

export function Markdown({ text, className }: { text: string; className?: string }) {
  return (
    <Suspense fallback={<div className="work whitespace-pre-wrap">{text}</div>}>
      <Rendered text={text} className={className} />
    </Suspense>
  );
}
