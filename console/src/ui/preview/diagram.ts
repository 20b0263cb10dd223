/** Draws Mermaid text as a picture. Everything happens in this page, and nothing is loaded. */
import mermaid from 'mermaid';
import { nonce } from '../nonce';

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

/** How a diagram looks and what it may do is the console's business, so the text's own settings are left out. */
export function plain(text: string): string {
  return text
    .replace(/^\s*---\n([\s\S]*?)\n---\s*\n/, (_, head: string) => {
      const title = /^title:.*$/m.exec(head);
      return title ? `---\n${title[0]}\n---\n` : '';
    })
    .replace(/%%\{[\s\S]*?\}%%/g, '')
    .replace(/\b(url|image|image-set)\s*\(/gi, 'none(');
}

/** While it draws, the library sets styles in ways that the page's policy forbids; these say the same and may. */
function allowStyles(): () => void {
  const { setAttribute } = Element.prototype;
  const { createElement } = Document.prototype;
  Element.prototype.setAttribute = function set(this: Element, name: string, value: string) {
    if (name === 'style' && 'style' in this) (this as HTMLElement).style.cssText = value;
    else setAttribute.call(this, name, value);
  };
  Document.prototype.createElement = function create(this: Document, name: string, options?: ElementCreationOptions) {
    const made = createElement.call(this, name, options);
    if (nonce && name.toLowerCase() === 'style') made.nonce = nonce;
    return made;
  } as typeof createElement;
  return () => {
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

/** Makes the drawing stand alone, and takes out what an image would not do anyway. */
function alone(svg: string): Picture {
  const page = new DOMParser().parseFromString(svg, 'text/html');
  const root = page.querySelector('svg');
  if (!root) throw new Error('Nothing was drawn.');
  for (const one of root.querySelectorAll('script,iframe,object,embed')) one.remove();
  for (const element of [root, ...root.querySelectorAll('*')])
    for (const { name } of [...element.attributes]) if (name.toLowerCase().startsWith('on') || /^(xlink:)?href$/i.test(name)) if (!element.getAttribute(name)?.startsWith('#')) element.removeAttribute(name);
  const [, , width = 640, height = 360] = (root.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number);
  root.removeAttribute('style');
  root.setAttribute('width', String(width));
  root.setAttribute('height', String(height));
  root.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return { svg: new XMLSerializer().serializeToString(root), width, height };
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
  const forbid = allowStyles();
  try {
    configure(dark);
    count += 1;
    const { svg } = await mermaid.render(`diagram-${count}`, text, place);
    return alone(svg);
  } finally {
    forbid();
    place.remove();
  }
}
