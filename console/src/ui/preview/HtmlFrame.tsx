/** An HTML output in a frame without scripts, forms, popups, origin or any load. */
import { useMemo } from 'react';
import { nonce } from '../nonce';
import { frameDocument } from './frame-document';

export default function HtmlFrame({ text, label }: { text: string; label: string }) {
  const page = useMemo(() => frameDocument(text, nonce), [text]);
  return (
    <iframe
      title={label}
      // A frame without scripts does not tell how far it was scrolled.
      data-content="raw"
      sandbox=""
      srcDoc={page}
      referrerPolicy="no-referrer"
      allow=""
      // The work's own page is white, whatever the theme around it.
      style={{ colorScheme: 'light', background: '#fff' }}
      className="min-h-[320px] w-full flex-1 border-0"
    />
  );
}
