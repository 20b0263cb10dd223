/** Draws Mermaid text as a picture. Everything happens in this page, and nothing is loaded. */
import mermaid from 'mermaid';
import { type DefaultTreeAdapterTypes as Tree, parseFragment } from 'parse5';
import { nonce } from '../nonce';
import { plain } from './plain';

/** The tokens of the theme as plain colours: the drawing library counts with them. */
const COLOURS = {
  light: { ground: '#fdfdfe', raised: '#ffffff', sunken: '#eceff2', canvas: '#f3f5f8', line: '#81878d', ink: '#191e27', quiet: '#484d56' },
  dark: { ground: '#15181c', raised: '#1d2126', sunken: '#0a0c0f', canvas: '#0f1115', line: '#6f757d', ink: '#ebedef', quiet: '#b7bbc0' },
};
// A picture knows no fonts of the page, so text is measured with the system's.
const FONT = 'ui-sans-serif, system-ui, sans-serif';

function configure(dark: boolean): void {
  const { ground, raised, sunken, canvas, line, ink, quiet } = COLOURS[dark ? 'dark' : 'light'];
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    logLevel: 'fatal',
    deterministicIds: true,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    class: { htmlLabels: false },
    look: 'classic',
    theme: 'base',
    fontFamily: FONT,
    themeVariables: {
      darkMode: dark,
      fontFamily: FONT,
      fontSize: '14px',
      background: ground,
      primaryColor: raised,
      primaryBorderColor: line,
      primaryTextColor: ink,
      secondaryColor: sunken,
      tertiaryColor: canvas,
      lineColor: quiet,
      textColor: ink,
      mainBkg: raised,
      nodeBorder: line,
      clusterBkg: canvas,
      clusterBorder: line,
      edgeLabelBackground: ground,
      noteBkgColor: canvas,
      noteBorderColor: line,
      noteTextColor: ink,
      actorBkg: raised,
      actorBorder: line,
      signalColor: quiet,
      signalTextColor: ink,
      labelBoxBkgColor: canvas,
      labelBoxBorderColor: line,
    },
  });
}

/**
 * While it draws, the library sets styles in ways that the page's policy forbids; these say the same and may. At the
 * end it has the browser read the whole drawing to clean it, which the policy complains about as well: the drawing is
 * taken there, and cleaned by {@link alone}.
 */
function allowStyles(take: (svg: string) => void): () => void {
  const { setAttribute } = Element.prototype;
  const { createElement } = Document.prototype;
  Element.prototype.setAttribute = function set(this: Element, name: string, value: string) {
    if (name === 'style' && 'style' in this) (this as HTMLElement).style.cssText = value;
    // A picture cannot be pressed, so nothing is told what to do then.
    else if (!/^on/i.test(name)) setAttribute.call(this, name, value);
  };
  Document.prototype.createElement = function create(this: Document, name: string, options?: ElementCreationOptions) {
    const made = createElement.call(this, name, options);
    if (nonce && name.toLowerCase() === 'style') made.nonce = nonce;
    return made;
  } as typeof createElement;
  const { parseFromString } = DOMParser.prototype;
  DOMParser.prototype.parseFromString = function read(this: DOMParser, text: string, type: DOMParserSupportedType) {
    // It may come wrapped as trusted text.
    const drawing = /^\s*<svg\s/.test(String(text));
    if (drawing) take(String(text));
    return parseFromString.call(this, drawing ? '<svg></svg>' : text, type);
  };
  return () => {
    DOMParser.prototype.parseFromString = parseFromString;
    Element.prototype.setAttribute = setAttribute;
    Document.prototype.createElement = createElement;
  };
}

export interface Picture {
  /** The picture's text; shown as an image, it can neither run nor load anything. */
  svg: string;
  width: number;
  height: number;
}

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** A tree as XML, which is how a picture is read; without what an image would not do anyway. */
function xml(node: Tree.ChildNode): string {
  if ('value' in node) return escape(node.value);
  if (!('tagName' in node) || /^(script|iframe|object|embed)$/i.test(node.tagName)) return '';
  const attributes = node.attrs.flatMap(({ prefix, name, value }) => {
    const kept = !/^on/i.test(name) && (name !== 'href' || value.startsWith('#')) && !name.startsWith('xmlns');
    return kept && /^[\w:.-]+$/.test(name) ? [` ${prefix ? `${prefix}:` : ''}${name}="${escape(value)}"`] : [];
  });
  const space = node.tagName === 'svg' ? ' xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"' : node.namespaceURI.endsWith('/xhtml') ? ' xmlns="http://www.w3.org/1999/xhtml"' : '';
  return `<${node.tagName}${space}${attributes.join('')}>${node.childNodes.map(xml).join('')}</${node.tagName}>`;
}

/** Makes the drawing stand alone. It is read by a library: the browser would hold it to the page's policy. */
function alone(svg: string): Picture {
  const root = parseFragment(svg).childNodes.find((node) => 'tagName' in node && node.tagName === 'svg') as Tree.Element | undefined;
  if (!root) throw new Error('Nothing was drawn.');
  const box = root.attrs.find((one) => one.name === 'viewBox')?.value ?? '';
  const [, , width = 640, height = 360] = box.split(/[\s,]+/).map(Number);
  root.attrs = [...root.attrs.filter((one) => !/^(style|width|height)$/.test(one.name)), { name: 'width', value: String(width) }, { name: 'height', value: String(height) }];
  return { svg: xml(root), width, height };
}

let before: Promise<unknown> = Promise.resolve();
let count = 0;

/** Draws one after another; refuses with the reason that the text cannot be read. */
export function draw(text: string, dark: boolean): Promise<Picture> {
  const next = before.then(() => drawNow(plain(text), dark));
  before = next.catch(() => {});
  return next;
}

async function drawNow(text: string, dark: boolean): Promise<Picture> {
  if (/@\{[^}]*\bimg\s*:/i.test(text)) throw new Error('It names a picture to load, and previews load nothing.');
  const place = document.createElement('div');
  place.setAttribute('aria-hidden', 'true');
  place.className = 'pointer-events-none invisible fixed top-0 left-[-20000px] w-[1200px]';
  document.body.append(place);
  let drawing: string | undefined;
  const forbid = allowStyles((svg) => (drawing = svg));
  try {
    configure(dark);
    count += 1;
    const { svg } = await mermaid.render(`diagram-${count}`, text, place);
    return alone(drawing ?? svg);
  } finally {
    forbid();
    place.remove();
  }
}
