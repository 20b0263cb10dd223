/**
 * An HTML output as a page for a frame that can do nothing. The frame is the wall: no scripts, no forms, no origin,
 * and a policy that loads nothing. What could not work there is taken out, so that it does not complain either.
 */
import { nonce } from '../nonce';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

const GONE = 'script,noscript,iframe,frame,frameset,object,embed,applet,base,link,meta,template,portal,fencedframe,audio,video,source,track,animate,animatemotion,animatetransform,set,use[href^="http"],title';
const DROPPED = new Set(['srcdoc', 'srcset', 'imagesrcset', 'formaction', 'action', 'ping', 'target', 'background', 'poster', 'manifest', 'nonce', 'autofocus', 'accesskey', 'contenteditable', 'popovertarget', 'commandfor', 'data', 'code', 'codebase', 'archive', 'dynsrc', 'lowsrc', 'longdesc', 'profile', 'cite']);
const ADDRESSES = new Set(['href', 'xlink:href', 'src']);

/** Style text without what would be loaded. */
const still = (css: string) =>
  css
    .replace(/@import[^;]*;?/gi, '')
    .replace(/@font-face\s*\{[^}]*\}/gi, '')
    .replace(/(url|src|image|image-set)\(\s*(?!['"]?(data:|#))[^)]*\)/gi, 'none')
    .replaceAll('</', '<\\/');

/** A style attribute, read as one rule and written again, so that it cannot be more than that. */
function declarations(text: string): string {
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`a{${still(text)}}`);
    const [rule] = sheet.cssRules;
    return rule instanceof CSSStyleRule ? rule.style.cssText : '';
  } catch {
    return '';
  }
}

export function frameDocument(html: string): string {
  const page = new DOMParser().parseFromString(html, 'text/html');
  for (const one of page.querySelectorAll(GONE)) one.remove();
  // A form could be sent nowhere; its fields stay to be seen.
  for (const form of page.querySelectorAll('form')) {
    const place = page.createElement('div');
    place.append(...form.childNodes);
    form.replaceWith(place);
  }
  const rules: string[] = [];
  for (const element of page.querySelectorAll('*')) {
    for (const { name, value } of [...element.attributes]) {
      const low = name.toLowerCase();
      if (low === 'style') {
        // The page's policy forbids style attributes, and the frame inherits it: they become rules of its one sheet.
        element.removeAttribute(name);
        const text = declarations(value);
        if (text) {
          element.setAttribute('data-style', String(rules.length));
          rules.push(`:is(#_#_#_,[data-style="${rules.length}"]){${text}}`);
        }
      } else if (low.startsWith('on') || DROPPED.has(low)) element.removeAttribute(name);
      else if (ADDRESSES.has(low)) {
        const kept = low === 'src' ? /^data:image\//i.test(value) : value.startsWith('#') || (element.localName === 'image' && /^data:image\//i.test(value));
        if (!kept) {
          element.removeAttribute(name);
          // Where it would lead can be read, and not followed.
          if (/^https?:|^mailto:/i.test(value) && element.localName === 'a') element.setAttribute('title', value);
        }
      } else if (/url\(\s*['"]?(?!#|data:)/i.test(value)) element.removeAttribute(name);
    }
  }
  for (const style of page.querySelectorAll('style')) {
    style.textContent = still(style.textContent ?? '');
    if (nonce) style.setAttribute('nonce', nonce);
  }
  const sheet = page.createElement('style');
  sheet.textContent = rules.join('\n').replaceAll('</', '<\\/');
  if (nonce) sheet.setAttribute('nonce', nonce);
  page.head.append(sheet);
  const policy = page.createElement('meta');
  policy.setAttribute('http-equiv', 'Content-Security-Policy');
  policy.setAttribute('content', POLICY);
  const charset = page.createElement('meta');
  charset.setAttribute('charset', 'utf-8');
  page.head.prepend(charset, policy);
  return `<!doctype html>${page.documentElement.outerHTML}`;
}
