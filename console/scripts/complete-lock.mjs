// After `npm install` changed the lock file: names the packages of other systems that the registry did not have.
// Without their names `npm ci` takes the lock file for unfinished; they are never installed here.
import { readFileSync, writeFileSync } from 'node:fs';

const path = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8'));
const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'aix', 'win32'];
const CPUS = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 's390x', 'riscv64', 'loong64', 'mips64el', 'wasm32'];

let added = 0;
for (const owner of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const at = `node_modules/${name}`;
    const words = name.split(/[-/]/);
    const os = SYSTEMS.find((system) => words.includes(system));
    const cpu = CPUS.find((one) => words.includes(one));
    if (lock.packages[at] || !cpu) continue;
    const dev = owner.dev ? { dev: true } : {};
    lock.packages[at] = { version, cpu: [cpu], ...dev, optional: true, ...(os ? { os: [os] } : {}) };
    added += 1;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`lock file: ${added} packages of other systems named`);
