import { expect, test } from 'bun:test'
import { languageDetector, SAMPLE_CHARACTERS } from '../../src/content/language.ts'

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
])('%s with %j is %s', (path, sample, language) => {
  expect(detector.detect(path, sample)).toBe(language)
})

test('statistics count bytes of what people wrote', () => {
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
  const counted = detector.statistics(files)
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

test('binary samples have no language', () => {
  expect(detector.detect('a.h', 'x\0y')).toBeUndefined()
})

test('hostile samples do not hold up the detection', () => {
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
      const start = performance.now()
      detector.detect(`a.${extension}`, piece.repeat(SAMPLE_CHARACTERS).slice(0, SAMPLE_CHARACTERS))
      expect(performance.now() - start).toBeLessThan(500)
    }
})

test('colors are known for bars on pages', () => expect(detector.colorOf('Go')).toBe('#00ADD8'))
