/**
 * An HTML output as a page for a frame that can do nothing. The frame is the wall: no scripts, no forms, no origin,
 * and a policy that loads nothing. What could not work there is taken out, so that it does not complain either.
 *
 * The page's policy is inherited by the frame and by every document that the browser reads here, so the text is read
 * by a library, and styles carry the page's word.
 */
import { type DefaultTreeAdapterTypes as Tree, parse, parseFragment, serialize } from 'parse5';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

const GONE = new Set(
  'script noscript iframe frame frameset object embed applet base link meta template portal fencedframe audio video source track animate animatemotion animatetransform set title plaintext'.split(' '),
);
const DROPPED = new Set(
  'srcdoc srcset imagesrcset formaction action ping target background poster manifest nonce autofocus accesskey contenteditable popovertarget commandfor data code codebase archive dynsrc lowsrc longdesc profile cite http-equiv integrity'.split(' '),
);
const ADDRESSES = new Set(['href', 'xlink:href', 'src']);

/** Style text without what would be loaded. */
export const still = (css: string) =>
  css
    .replace(/@import[^;]*;?/gi, '')
    .replace(/@font-face\s*\{[^}]*\}/gi, '')
    .replace(/(url|src|image|image-set|-webkit-image-set)\(\s*(?!['"]?(data:|#))[^)]*\)?/gi, 'none')
    .replaceAll('</', '<\\/');

/** Rules as the browser understood them: written again, with no other way to spell the same. */
function rules(css: string): string {
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    return still([...sheet.cssRules].map((rule) => rule.cssText).join('\n'));
  } catch {
    return '';
  }
}

/** A style attribute, read as one rule, so that it cannot be more than that. */
function declarations(text: string): string {
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`a{${text}}`);
    const [rule] = sheet.cssRules;
    return rule instanceof CSSStyleRule ? still(rule.style.cssText) : '';
  } catch {
    return '';
  }
}

const isElement = (node: Tree.ChildNode): node is Tree.Element => 'tagName' in node;

/** The text without what runs, loads or leads away. `nonce` is the word that styles of the page carry. */
export function frameDocument(html: string, nonce: string | undefined, styles = { rules, declarations }): string {
  const inline: string[] = [];
  const word = nonce ? [{ name: 'nonce', value: nonce }] : [];
  const clean = (parent: Tree.ParentNode) => {
    parent.childNodes = parent.childNodes.filter((node) => (isElement(node) ? !GONE.has(node.tagName.toLowerCase()) : node.nodeName !== '#comment'));
    for (const node of parent.childNodes) {
      if (!isElement(node)) continue;
      // A form could be sent nowhere; its fields stay to be seen.
      if (node.tagName === 'form') node.tagName = node.nodeName = 'div';
      node.attrs = attributes(node);
      if (node.tagName === 'style') {
        const text = node.childNodes.map((one) => ('value' in one ? one.value : '')).join('');
        node.childNodes = [{ nodeName: '#text', value: styles.rules(text), parentNode: node }];
        node.attrs = word;
      } else clean(node);
    }
  };
  const attributes = (node: Tree.Element) =>
    node.attrs.flatMap((one) => {
      const name = (one.prefix ? `${one.prefix}:${one.name}` : one.name).toLowerCase();
      const { value } = one;
      if (name === 'style') {
        // The inherited policy forbids style attributes: they become rules of the page's one sheet.
        const text = styles.declarations(value);
        return text ? [{ name: 'data-style', value: String(inline.push(text) - 1) }] : [];
      }
      if (name.startsWith('on') || DROPPED.has(name)) return [];
      if (ADDRESSES.has(name)) {
        const picture = /^data:image\//i.test(value) && (name === 'src' || node.tagName === 'image');
        if (picture || value.startsWith('#')) return [one];
        // Where it would lead can be read, and not followed.
        return node.tagName === 'a' && /^(https?|mailto):/i.test(value) ? [{ name: 'title', value }] : [];
      }
      return /url\(\s*['"]?(?!#|data:)/i.test(value) ? [] : [one];
    });
  // What is written and read again can become something else, so it is cleaned as often as it is read.
  const first = parse(html);
  clean(first);
  const page = parse(serialize(first));
  clean(page);
  const sheet = inline.map((text, at) => `:is(#_#_#_,[data-style="${at}"]){${text}}`).join('\n');
  // The policy stands before everything, so the page is put together anew around what is left of it.
  const own = parseFragment(`<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><style${nonce ? ` nonce="${nonce}"` : ''}></style>`);
  const [, , style] = own.childNodes as Tree.Element[];
  if (style) style.childNodes = [{ nodeName: '#text', value: sheet.replaceAll('</', '<\\/'), parentNode: style }];
  const root = page.childNodes.find((node): node is Tree.Element => isElement(node) && node.tagName === 'html');
  const head = root?.childNodes.find((node): node is Tree.Element => isElement(node) && node.tagName === 'head');
  if (!root || !head) throw new Error('The page has no beginning.');
  head.childNodes.unshift(...own.childNodes);
  page.childNodes = [root];
  return `<!doctype html>${serialize(page)}`;
}
