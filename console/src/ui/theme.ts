/** Light, dark, or as the system has it. */
import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';
const NAME = 'holdpoint.theme';
const listeners = new Set<() => void>();

export const theme = (): Theme => {
  const kept = localStorage.getItem(NAME);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
};

export function setTheme(next: Theme): void {
  if (next === 'system') localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, next);
  applyTheme();
  for (const listener of listeners) listener();
}

export function applyTheme(): void {
  const now = theme();
  if (now === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = now;
}

export const useTheme = (): Theme =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => theme(),
  );

export const isDark = () => theme() === 'dark' || (theme() === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
