/** CodeMirror in the console's colours. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { markdown } from '@codemirror/lang-markdown';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState, type Extension, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import clsx from 'clsx';
import { useEffect, useRef } from 'react';
import type { CodeProps } from './CodeView';
import { useField } from './fields';
import { nonce } from './nonce';

export const theme = EditorView.theme({
  '&': { backgroundColor: 'var(--color-sunken)', color: 'var(--color-ink)', fontSize: '12px', height: '100%' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '20px' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--color-ink-3)', border: 'none' },
  '.cm-content': { caretColor: 'var(--color-ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--color-ink)' },
  '&.cm-focused': { outline: '2px solid var(--color-ink)', outlineOffset: '-2px' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { backgroundColor: 'var(--color-select) !important' },
  '.cm-mark-focus': { boxShadow: 'inset 3px 0 var(--color-ink)' },
  '.cm-mark-changed': { boxShadow: 'inset 3px 0 var(--color-done)' },
  '.cm-mark-wrong': { boxShadow: 'inset 3px 0 var(--color-fail)', backgroundColor: 'var(--color-fail-wash)' },
});

// Weight and shade tell the parts apart; colours mean states here.
export const highlight = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.heading], fontWeight: '600' },
  { tag: [tags.comment, tags.punctuation, tags.separator], color: 'var(--color-ink-3)' },
  { tag: [tags.string, tags.number, tags.bool, tags.null], color: 'var(--color-ink-2)' },
  { tag: tags.keyword, fontWeight: '600' },
]);

const LANGUAGES: Record<string, () => Extension> = { json, yaml, yml: yaml, md: markdown, markdown };

type Marks = NonNullable<CodeProps['marks']>;
export const setMarks = StateEffect.define<Marks>();
export const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(now, change) {
    let next = now.map(change.changes);
    for (const effect of change.effects) {
      if (!effect.is(setMarks)) continue;
      const builder = new RangeSetBuilder<Decoration>();
      for (const mark of [...effect.value].sort((a, b) => a.line - b.line)) {
        if (mark.line < 1 || mark.line > change.state.doc.lines) continue;
        const { from } = change.state.doc.line(mark.line);
        builder.add(from, from, Decoration.line({ class: `cm-mark-${mark.kind}`, attributes: mark.message ? { title: mark.message } : {} }));
      }
      next = builder.finish();
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** A browser keeps the look of what is typed over with a style of its own, which the policy forbids: so the text is put in here. */
export const typedOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== 'insertText' || event.data === null || view.composing || view.state.readOnly || view.state.selection.main.empty) return false;
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

export default function CodeEditor({ text, format, onChange, label, marks, className }: CodeProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const changed = useRef(onChange);
  const wire = useField();
  useEffect(() => {
    changed.current = onChange;
  });
  const writable = onChange !== undefined;
  const described = wire['aria-describedby'];
  useEffect(() => {
    if (!place.current) return;
    const language = new Compartment();
    const editor = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          indentOnInput(),
          bracketMatching(),
          syntaxHighlighting(highlight),
          keymap.of([...defaultKeymap.filter((one) => one.key !== 'Mod-Enter'), ...historyKeymap, ...(writable ? [indentWithTab] : [])]),
          language.of(LANGUAGES[format ?? '']?.() ?? []),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0', ...(described ? { 'aria-describedby': described } : {}) }),
          EditorState.readOnly.of(!writable),
          EditorView.editable.of(writable),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed.current?.(update.state.doc.toString());
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
    // The text is put in below, without losing the place of the cursor.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [format, writable, label, described]);
  useEffect(() => {
    const editor = view.current;
    if (editor && editor.state.doc.toString() !== text) editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [text]);
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    editor.dispatch({ effects: setMarks.of(marks ?? []) });
    // What is wrong is brought into sight, but not while somebody writes elsewhere.
    const wrong = Math.min(...(marks ?? []).filter((mark) => mark.kind === 'wrong').map((mark) => mark.line));
    if (editor.hasFocus || wrong < 1 || wrong > editor.state.doc.lines) return;
    editor.dispatch({ effects: EditorView.scrollIntoView(editor.state.doc.line(wrong).from, { y: 'center' }) });
  }, [marks, text, format, writable, label, described]);
  return <div ref={place} data-content="whole" className={clsx('min-h-0 overflow-hidden bg-sunken', className)} />;
}
