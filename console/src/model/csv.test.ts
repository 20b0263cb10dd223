import { expect, it } from 'vitest';
import { cells, isFigure, table } from './csv';

it('reads quotes, line ends inside cells, and a last line without an end', () => {
  expect(cells('a,"b, ""c""\nd"\r\n1,\n,2')).toEqual([
    ['a', 'b, "c"\nd'],
    ['1', ''],
    ['', '2'],
  ]);
  expect(cells('')).toEqual([]);
});

it('finds the sign between cells, and fills short lines', () => {
  const it = table('\uFEFFname;size\nMalmö;12\nOslo;7;more');
  expect(it.head).toEqual(['name', 'size', '']);
  expect(it.rows).toEqual([['Malmö', '12'], ['Oslo', '7', 'more']]);
  expect(it.widths).toEqual([5, 4, 4]);
});

it('tells figures from words', () => {
  expect(['12', '-1.5', '1,204', '12 %', '=1+1', 'v7', ''].map(isFigure)).toEqual([true, true, true, true, false, false, false]);
});
