/// <reference types="vitest/config" />
import { fileURLToPath } from 'node:url';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// `HOLDPOINT_URL=http://127.0.0.1:PORT npm run dev` shows the sources on top of a running server.
const server = process.env.HOLDPOINT_URL;

/** The server hears only pages that came from itself, so the request says that it did. */
const behind = (target: string) => ({ target, changeOrigin: true, headers: { origin: target } });

export default defineConfig({
  plugins: [react(), tailwind()],
  resolve: { alias: { '@': here('./src') } },
  build: {
    outDir: here('./built/site'),
    emptyOutDir: true,
    target: 'es2023',
    // A file that a page would inline could not be cached, and data: is no source of scripts or fonts here.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { entryFileNames: 'assets/[name]-[hash].js', chunkFileNames: 'assets/[name]-[hash].js' } },
  },
  server: {
    host: '127.0.0.1',
    proxy: server ? { '/api': behind(server), '/sign-in': behind(server), '/readyz': behind(server) } : undefined,
  },
  test: {
    projects: [
      { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts', 'src/**/*.test.tsx'] } },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['e2e/**/*.test.ts'],
          globalSetup: ['e2e/setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // One browser at a time: each is heavy, and the machines are small.
          fileParallelism: false,
        },
      },
    ],
  },
});
