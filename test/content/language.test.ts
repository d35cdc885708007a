import { expect, test } from 'bun:test'
import { type FileAttributes, readFileAttributes } from '../../src/content/file-attributes.ts'
import { languageDetector, SAMPLE_CHARACTERS } from '../../src/content/language.ts'
import { cpuMs } from '../harness/cpu.ts'

const detector = await languageDetector()

test.each([
  ['src/main.go', undefined, 'Go'],
  ['app.py', undefined, 'Python'],
  ['index.tsx', undefined, 'TSX'],
  ['lib.rs', 'fn main() { let x = 1; }\nuse std::io;\n', 'Rust'],
  ['a.ts', 'export const a = 1\n', 'TypeScript'],
  ['a.ts', '<?xml version="1.0"?>\n<!DOCTYPE TS>\n<TS>\n', 'XML'],
  ['a.h', '#include <stdio.h>\nint f(void);\n', 'C'],
  ['a.h', '#include <string>\nclass A {\npublic:\n  std::string b;\n};\n', 'C++'],
  ['a.h', '@interface A : NSObject\n@end\n', 'Objective-C'],
  ['a.m', '#import <Foundation/Foundation.h>\n', 'Objective-C'],
  ['a.pl', 'use strict;\nmy $x = 1;\n', 'Perl'],
  ['a.pl', ':- module(a, [b/1]).\n', 'Prolog'],
  ['Makefile', undefined, 'Makefile'],
  ['Dockerfile', undefined, 'Dockerfile'],
  ['bin/run', '#!/usr/bin/env -S python3.11 -u\n', 'Python'],
  ['bin/run', '#!/bin/sh\n', 'Shell'],
  ['bin/run', 'plain words\n', undefined],
  ['a.unknownending', '#!/bin/sh\n', undefined],
  ['A.JAVA', undefined, 'Java'],
  ['README.md', '# x\n', 'Markdown'],
  ['README.md', undefined, 'Markdown'],
  ['a.h', undefined, 'C'],
  ['a.ts', undefined, 'TypeScript'],
])('%s with %j is %s', (path, sample, language) => {
  expect(detector.detect(path, sample)).toBe(language)
})

test('statistics count bytes of what people wrote', async () => {
  const files = [
    { path: 'src/a.go', size: 100 },
    { path: 'src/b.go', size: 50 },
    { path: 'src/c.ts', size: 70, sample: 'export {}\n' },
    { path: 'src/d.tsx', size: 30 },
    { path: 'web/index.html', size: 20 },
    { path: 'web/style.css', size: 10 },
    { path: 'vendor/x/y.go', size: 9000 },
    { path: 'node_modules/x/index.js', size: 9000 },
    { path: 'dist/bundle.js', size: 9000 },
    { path: 'web/jquery.min.js', size: 9000 },
    { path: 'docs/example.py', size: 9000 },
    { path: 'README.md', size: 9000 },
    { path: 'LICENSE', size: 9000, sample: 'text' },
    { path: 'data.json', size: 9000 },
    { path: '.github/x.py', size: 9000 },
    { path: 'package-lock.json', size: 9000 },
    { path: 'image.png', size: 9000 },
    { path: 'empty.rb', size: 0 },
  ]
  const counted = await detector.statistics(files)
  expect(counted).toEqual({ Go: 150, TypeScript: 100, HTML: 20, CSS: 10 })
  expect(Object.keys(counted)).toEqual(['Go', 'TypeScript', 'HTML', 'CSS'])
})

test.each([
  ['a.go', false],
  ['a.h', true],
  ['run', true],
  ['vendor/a.h', false],
  ['.x/run', false],
])('whether %s must be looked into: %p', (path, isNeeded) => {
  expect(detector.needsSample(path)).toBe(isNeeded)
})

test('what people say of a file counts more than its path', async () => {
  const counted = (path: string, attributes: FileAttributes) => detector.statistics([{ path, size: 7, attributes }])
  expect(await counted('vendor/a.go', { isVendored: false })).toEqual({ Go: 7 })
  expect(await counted('.tool/a.go', { isVendored: false })).toEqual({ Go: 7 })
  expect(await counted('docs/a.go', { isDocumentation: false })).toEqual({ Go: 7 })
  expect(await counted('package-lock.json', { isGenerated: false, isDetectable: true })).toEqual({ JSON: 7 })
  for (const no of [{ isVendored: true }, { isGenerated: true }, { isDocumentation: true }, { isDetectable: false }])
    expect([no, await counted('a.go', no)]).toEqual([no, {}])
  expect(await counted('vendor/a.go', { language: 'Rust' })).toEqual({})
  expect(await counted('a.md', { isDetectable: true })).toEqual({ Markdown: 7 })
  for (const language of ['C++', 'cpp', 'CPP']) expect(await counted('a.md', { language })).toEqual({ 'C++': 7 })
  expect(await counted('a.x', { language: 'common lisp' })).toEqual({ 'Common Lisp': 7 })
  // Counted as what it belongs to, and whatever it is when it was said.
  expect(await counted('a.x', { language: 'TSX' })).toEqual({ TypeScript: 7 })
  expect(await counted('a.go', { language: 'JSON' })).toEqual({ JSON: 7 })
  expect(await counted('a.go', { language: 'No Such Thing' })).toEqual({ Go: 7 })
  expect(detector.needsSample('vendor/a.h', { isVendored: false })).toBe(true)
  expect(detector.needsSample('a.h', { language: 'C' })).toBe(false)
})

test('files that nobody looked into count as most of their kind', async () => {
  const rust = 'fn main() { let x = 1; }\nuse std::io;\n'
  const files = [
    { path: 'a.rs', size: 1, sample: rust },
    { path: 'b.rs', size: 2, sample: rust },
    { path: 'c.rs', size: 4, sample: '#pragma version(1)\n#pragma rs java_package_name(x)\n' },
    { path: 'd.rs', size: 8 },
    { path: 'e.h', size: 16 },
  ]
  expect(await detector.statistics(files)).toEqual({ C: 16, Rust: 11, RenderScript: 4 })
})

test('attributes are read as git prints them', () => {
  const values = (...all: [string, string][]) => readFileAttributes(new Map(all))
  expect(values(['linguist-vendored', 'set'], ['linguist-generated', 'false'])).toMatchObject({
    isVendored: true,
    isGenerated: false,
    isDocumentation: undefined,
  })
  expect(values(['linguist-detectable', 'unset'], ['linguist-documentation', 'true'])).toMatchObject({
    isDetectable: false,
    isDocumentation: true,
  })
  expect(values(['linguist-language', 'set'], ['linguist-vendored', 'perhaps'])).toEqual({})
  expect(values(['linguist-language', 'C#'])).toMatchObject({ language: 'C#' })
})

test('binary samples have no language', () => {
  expect(detector.detect('a.h', 'x\0y')).toBeUndefined()
})

test('hostile samples do not hold up the detection', async () => {
  const extensions = [
    'h',
    'm',
    'ts',
    'pl',
    'md',
    'sql',
    'v',
    't',
    'r',
    'inc',
    'php',
    'as',
    'asm',
    'd',
    'cs',
    'mod',
    'txt',
    'yy',
    'bas',
  ]
  const pieces = [' ', '\n', '\t\n', 'a', '#', '{', '(', ' a', '-- ', 'begin\n', 'class ', '/*', '"', '%']
  for (const extension of extensions)
    for (const piece of pieces) {
      const text = piece.repeat(SAMPLE_CHARACTERS).slice(0, SAMPLE_CHARACTERS)
      expect(await cpuMs(() => detector.detect(`a.${extension}`, text))).toBeLessThan(1000)
    }
})

test('colors are known for bars on pages', () => expect(detector.colorOf('Go')).toBe('#00ADD8'))
