import { expect, it } from 'vitest';
import { frameDocument, still } from './frame-document';

// The browser reads styles; here they are taken as they are.
const styles = { rules: still, declarations: still };
const page = (html: string) => frameDocument(html, 'word', styles);

it('keeps the text and takes out what runs, loads or leads away', () => {
  const made = page('<h1 onclick="x()">Title</h1><script>x()</script><img src="https://a.test/x.png"><a href="https://a.test" ping="https://b.test">go</a><form action="/x"><input name="a"></form>');
  expect(made).toContain('<h1>Title</h1>');
  expect(made).toContain('<a title="https://a.test">go</a><div><input name="a"></div>');
  expect(made).not.toMatch(/script>|onclick|src=|action|ping/);
});

it('has its policy before everything else, and styles with the word of the page', () => {
  const made = page('<html><head><style>p{color:red;background:url(https://a.test/x.png)}</style></head><body><p style="margin:4px">x</p></body></html>');
  expect(made).toMatch(/^<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; /);
  expect(made).toContain('<style nonce="word">p{color:red;background:none}</style>');
  expect(made).toContain('[data-style="0"]){margin:4px}');
  expect(made).not.toContain('a.test');
});

it('is not misled by what looks like its beginning', () => {
  expect(page('<!-- <head> --><p>x')).toMatch(/^<!doctype html><html><head><meta charset="utf-8"><meta http-equiv/);
});

it('keeps pictures that are part of the text', () => {
  expect(page('<img src="data:image/png;base64,AAAA" alt="x">')).toContain('<img src="data:image/png;base64,AAAA" alt="x">');
  expect(page('<svg><image xlink:href="https://a.test/x.png"/><use href="#a"/></svg>')).toContain('<svg><image></image><use href="#a"></use></svg>');
});
