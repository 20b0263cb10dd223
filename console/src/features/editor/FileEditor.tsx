/** The file: all of it, with the checkpoints that are not being looked at folded away. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, codeFolding, foldEffect, indentOnInput, syntaxHighlighting, unfoldAll } from '@codemirror/language';
import { Annotation, EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import type { Lines } from '@/model/definition-file';
import { highlight, marked, setMarks, theme, typedOver } from '@/ui/CodeEditor';
import type { CodeProps } from '@/ui/CodeView';
import { nonce } from '@/ui/nonce';

interface Props {
  text: string;
  format: 'yaml' | 'json';
  label: string;
  onChange: ((text: string) => void) | undefined;
  marks: NonNullable<CodeProps['marks']>;
  /** Lines to fold, and what they are folded for: they are folded again only when that changes. */
  folds: readonly Lines[];
  foldedFor: string;
  /** A line to bring into sight. */
  line: number | undefined;
}

/** A change that came from the form, and is not to be told back to it. */
const fromForm = Annotation.define<boolean>();

const folding = codeFolding({
  preparePlaceholder: (state, range) => state.doc.lineAt(range.to).number - state.doc.lineAt(range.from).number,
  placeholderDOM: (_view, onclick, lines: number) => {
    const mark = document.createElement('button');
    mark.type = 'button';
    mark.textContent = ` … ${lines} lines`;
    mark.className = 'text-ink-3';
    mark.onclick = onclick;
    return mark;
  },
});

export default function FileEditor({ text, format, label, onChange, marks, folds, foldedFor, line }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const changed = useRef(onChange);
  const wanted = useRef(folds);
  useEffect(() => {
    changed.current = onChange;
    wanted.current = folds;
  });
  const writable = onChange !== undefined;
  useEffect(() => {
    if (!place.current) return;
    const editor = new EditorView({
      parent: place.current,
      state: EditorState.create({
        extensions: [
          lineNumbers(),
          history(),
          indentOnInput(),
          bracketMatching(),
          folding,
          syntaxHighlighting(highlight),
          keymap.of([...defaultKeymap, ...historyKeymap, ...(writable ? [indentWithTab] : [])]),
          format === 'json' ? json() : yaml(),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorState.readOnly.of(!writable),
          EditorView.editable.of(writable),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !update.transactions.some((one) => one.annotation(fromForm))) changed.current?.(update.state.doc.toString());
          }),
          marked,
          typedOver,
          theme,
          ...(nonce ? [EditorView.cspNonce.of(nonce)] : []),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [format, writable, label]);
  // Only what differs is replaced, so that folds, cursor and scroll stay.
  useEffect(() => {
    const editor = view.current;
    const now = editor?.state.doc.toString();
    if (!editor || now === undefined || now === text) return;
    let from = 0;
    while (from < now.length && from < text.length && now[from] === text[from]) from += 1;
    let end = 0;
    while (end < now.length - from && end < text.length - from && now[now.length - 1 - end] === text[text.length - 1 - end]) end += 1;
    editor.dispatch({ changes: { from, to: now.length - end, insert: text.slice(from, text.length - end) }, annotations: fromForm.of(true) });
  }, [text, format, writable, label]);
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    unfoldAll(editor);
    const { doc } = editor.state;
    const effects = wanted.current.filter(({ from, to }) => from < to && to <= doc.lines).map(({ from, to }) => foldEffect.of({ from: doc.line(from).to, to: doc.line(to).to }));
    if (effects.length > 0) editor.dispatch({ effects });
  }, [foldedFor, format, writable, label]);
  useEffect(() => {
    view.current?.dispatch({ effects: setMarks.of(marks) });
  }, [marks, text, format, writable, label]);
  useEffect(() => {
    const editor = view.current;
    if (!editor || line === undefined || line > editor.state.doc.lines || editor.hasFocus) return;
    editor.dispatch({ effects: EditorView.scrollIntoView(editor.state.doc.line(line).from, { y: 'nearest', yMargin: 40 }) });
  }, [line, foldedFor]);
  return <div ref={place} className="min-h-0 flex-1 overflow-hidden bg-sunken" />;
}
