/** The word that the page's own styles carry. Libraries that add styles while the page runs are given it. */
const meta = typeof document === 'undefined' ? null : document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]');

export const nonce: string | undefined = meta?.nonce || undefined;

// The library that stops the page behind a dialog from scrolling looks here.
declare global {
  var __webpack_nonce__: string | undefined;
}
globalThis.__webpack_nonce__ = nonce;
