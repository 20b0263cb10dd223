// After the build: compresses what the server sends, and holds the first load under its limit.
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const LIMIT_KB = 350;
const site = fileURLToPath(new URL('../built/site', import.meta.url));
const packed = new Set(['.js', '.css', '.svg', '.json']);

const walk = (folder) =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? walk(path) : [path];
  });

for (const path of walk(site)) {
  if (!packed.has(extname(path))) continue;
  const bytes = readFileSync(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
}

// The first load: the page, what it names, what those import at once, and the two fonts of every screen.
const gzip = (path) => gzipSync(readFileSync(path)).length;
const page = readFileSync(join(site, 'index.html'), 'utf8');
const files = new Set([...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((match) => match[1]));
for (const file of files) {
  if (!file.endsWith('.js')) continue;
  const text = readFileSync(join(site, file), 'utf8');
  for (const match of text.matchAll(/(?:from|^import|;import)\s*["']\.\/([^"']+)["']/g)) files.add(`assets/${match[1]}`);
}
const fonts = readdirSync(join(site, 'assets')).filter((name) => /(instrument-sans|geist-mono)-latin-wght-normal.*woff2$/.test(name));
const total = [...files].reduce((sum, file) => sum + gzip(join(site, file)), gzip(join(site, 'index.html')));
const with_fonts = total + fonts.reduce((sum, name) => sum + statSync(join(site, 'assets', name)).size, 0);
const kb = (bytes) => Math.round(bytes / 100) / 10;
console.log(`console: first load ${kb(with_fonts)} kB compressed (${kb(total)} kB without fonts), limit ${LIMIT_KB} kB`);
if (with_fonts > LIMIT_KB * 1000) {
  console.error('console: the first load is too large; load what one screen needs with that screen');
  process.exit(1);
}
