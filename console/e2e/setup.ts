/** Before the browser tests: is everything there that they need? */
import { existsSync } from 'node:fs';
import { binary, CHROMIUM } from './world';

export default function setup(): void {
  if (!existsSync(CHROMIUM)) throw new Error(`${CHROMIUM} is missing: apt-get install chromium`);
  if (!existsSync(binary())) throw new Error(`${binary()} is missing: cargo build --locked --bin holdpoint`);
}
