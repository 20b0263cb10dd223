/** Code to read or to write, with line numbers. The editor is loaded when it is first needed. */
import { lazy, Suspense } from 'react';
import { loaded } from '@/api/loaded';

export interface CodeProps {
  text: string;
  /** `json`, `yaml`, `md`, or anything else for plain text. */
  format?: string | undefined;
  onChange?: ((text: string) => void) | undefined;
  label: string;
  /** Lines with a mark: the focused field, what changed, what is wrong. */
  marks?: readonly { line: number; kind: 'focus' | 'changed' | 'wrong'; message?: string }[] | undefined;
  className?: string | undefined;
}

const Editor = lazy(loaded(() => import('./CodeEditor')));

export function CodeView(props: CodeProps) {
  return (
    <Suspense fallback={<pre tabIndex={0} className="scroll-pane bg-sunken p-3 font-mono text-[12px] leading-5">{props.text}</pre>}>
      <Editor {...props} />
    </Suspense>
  );
}
