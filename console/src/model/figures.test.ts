import { expect, it } from 'vitest';
import { bytes, count, digest, initials, many, money, names, sentence } from './figures';

it('writes money so that small amounts do not look like nothing', () => {
  expect([0, 0.0004, 0.098, 2.31, 12, 12_345.6].map(money)).toEqual(['$0.00', '$0.0004', '$0.098', '$2.31', '$12.00', '$12,345.60']);
});

it('writes sizes, counts, digests and names', () => {
  expect([12, 9400, 999_900, 48_000_000].map(bytes)).toEqual(['12 B', '9.4 kB', '1.0 MB', '48 MB']);
  expect([count(48_211), many(1, 'field'), many(6, 'field')]).toEqual(['48,211', '1 field', '6 fields']);
  expect(digest('sha256:9f31c07abcdef')).toBe('sha256 9f31c07a');
  expect(names(['You', 'Jonas Okafor', 'Ann', 'Bo'])).toBe('You, Jonas Okafor and 2 more');
  expect(['Mara Lindqvist', 'admin', '', 'analyse.py'].map(initials)).toEqual(['ML', 'A', '?', 'AP']);
});

it('makes sentences of what the server remarks', () => {
  expect([sentence('`name` is required'), sentence('Is it running?')]).toEqual(['Name is required.', 'Is it running?']);
});
