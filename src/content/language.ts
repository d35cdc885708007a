import { setImmediate } from 'node:timers/promises'
import type { FileAttributes } from './file-attributes.ts'
import { type Language, type LanguageData, languageData } from './language-data.ts'

/** Only the start of a file is looked at: patterns for detecting languages may take time with the square of this. */
export const SAMPLE_CHARACTERS = 4096

export interface ContentFile {
  path: string
  /** Bytes. */
  size: number
  /** The first characters of the text, for files of which `languageDetector().needsSample` says so. */
  sample?: string | undefined
  attributes?: FileAttributes | undefined
}

export interface LanguageDetector {
  /** Whether the file counts and its language follows neither from its path nor from attributes. */
  needsSample(path: string, attributes?: FileAttributes): boolean
  /** The language of a file, whether it counts or not. */
  detect(path: string, sample?: string): string | undefined
  /** Bytes by language of what people wrote: no vendored, generated or documentation files, no data, no prose. */
  statistics(files: readonly ContentFile[]): Promise<Record<string, number>>
  /** As `#rrggbb`, for bars on pages. */
  colorOf(language: string): string | undefined
}

export async function languageDetector(): Promise<LanguageDetector> {
  const data = await languageData()
  return {
    needsSample: (path, attributes) =>
      // The cheap question first: few names leave it open.
      isOpen(data, path) && !named(data, attributes) && isCounted(data, path, attributes),
    detect: (path, sample) => detect(data, path, sample)?.name,
    statistics: (files) => statistics(data, files),
    colorOf: (language) => data.byName.get(language)?.color,
  }
}

/** Characters of paths that are judged before other work may run: some 30 ms. */
const PORTION = 100_000

async function statistics(data: LanguageData, files: readonly ContentFile[]): Promise<Record<string, number>> {
  const counted: ContentFile[] = []
  let characters = 0
  for (const file of files) {
    characters += file.path.length
    if (characters > PORTION) {
      characters = 0
      await setImmediate()
    }
    if (file.size > 0 && isCounted(data, file.path, file.attributes)) counted.push(file)
  }
  const usual = usualLanguages(data, counted)
  const sums = new Map<string, number>()
  for (const { path, size, sample, attributes } of counted) {
    const said = named(data, attributes)
    const guessed = sample === undefined ? usual.get(extensionsOf(path)[0]) : undefined
    const language = said ?? guessed ?? detect(data, path, sample)
    if (!language) continue
    // Wire: a language named in .gitattributes always counts.
    if (!said && !attributes?.isDetectable && language.type !== 'programming' && language.type !== 'markup') continue
    sums.set(language.group, (sums.get(language.group) ?? 0) + size)
  }
  return Object.fromEntries([...sums].sort(([left, a], [right, b]) => b - a || (left < right ? -1 : 1)))
}

/** The language of most files with an extension. Only a few of them are opened. */
function usualLanguages(data: LanguageData, files: readonly ContentFile[]): ReadonlyMap<string | undefined, Language> {
  const tallies = new Map<string | undefined, Map<Language, number>>()
  for (const { path, sample } of files) {
    const language = sample === undefined ? undefined : detect(data, path, sample)
    if (!language || byName(data, path).length < 2) continue
    const extension = extensionsOf(path)[0]
    const tally = tallies.get(extension) ?? new Map<Language, number>()
    tallies.set(extension, tally.set(language, (tally.get(language) ?? 0) + 1))
  }
  return new Map([...tallies].map(([extension, tally]) => [extension, mostOf(tally)]))
}

function mostOf(tally: ReadonlyMap<Language, number>): Language {
  const [first] = [...tally].sort(([, a], [, b]) => b - a)
  if (!first) throw new Error('an empty tally')
  return first[0]
}

/** Whether content decides: several languages have the name, or the file has no extension. */
function isOpen(data: LanguageData, path: string): boolean {
  const { length } = byName(data, path)
  return length > 1 || (length === 0 && extensionsOf(path).length === 0)
}

/** Files in hidden folders, and hidden files, belong to tools. What people say of a file counts more than its path. */
function isCounted(data: LanguageData, path: string, attributes: FileAttributes = {}): boolean {
  const {
    isVendored = /(?:^|\/)\./.test(path) || data.vendored.test(path),
    isGenerated = data.generated.test(path),
    isDocumentation = data.documentation.test(path),
  } = attributes
  return !isVendored && !isGenerated && !isDocumentation && attributes.isDetectable !== false
}

/** The language that people say a file is in. */
const named = ({ byWord }: LanguageData, attributes: FileAttributes | undefined): Language | undefined =>
  attributes?.language === undefined ? undefined : byWord.get(attributes.language.toLowerCase().replaceAll(' ', '-'))

function detect(data: LanguageData, path: string, sample: string | undefined): Language | undefined {
  const candidates = byName(data, path)
  if (candidates.length === 1) return candidates[0]
  const text = sample === undefined ? undefined : condense(sample.slice(0, SAMPLE_CHARACTERS))
  if (text?.includes('\0')) return undefined
  if (candidates.length === 0)
    return text === undefined || extensionsOf(path).length > 0 ? undefined : byShebang(data, text)
  // Without a sample the rules judge an empty text, and give the default language of the extension.
  const certain = byContent(data, path, text ?? '')
  const fromShebang = text === undefined ? undefined : byShebang(data, text)
  return certain ?? candidates.find((each) => each === fromShebang) ?? likeliest(candidates, path)
}

/**
 * A sample without long runs of blanks and empty lines. The rules do not need them, and one rule took 23 s for 4 KB of line ends.
 */
const condense = (text: string): string =>
  text.replace(/[^\S\n]{20,}/g, ' '.repeat(20)).replace(/(?:[^\S\n]*\n){4,}/g, '\n\n\n')

/** Everything that the name alone allows; the whole name counts more than its ending. */
function byName({ byFilename, byExtension }: LanguageData, path: string): readonly Language[] {
  const exact = byFilename.get(baseName(path))
  if (exact) return exact
  for (const extension of extensionsOf(path)) {
    const languages = byExtension.get(extension)
    if (languages) return languages
  }
  return []
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** `.d.ts` before `.ts`, in lower case. */
function extensionsOf(path: string): string[] {
  const parts = baseName(path).toLowerCase().split('.')
  return parts.slice(1).map((_, index) => `.${parts.slice(index + 1).join('.')}`)
}

function byContent({ heuristics, byName }: LanguageData, path: string, text: string): Language | undefined {
  for (const extension of extensionsOf(path)) {
    const name = heuristics.get(extension)?.(text)
    if (name !== undefined) return byName.get(name)
  }
  return undefined
}

/** `#!/usr/bin/env -S python3.11 -u` names Python. */
function byShebang({ byInterpreter }: LanguageData, text: string): Language | undefined {
  const line = /^#!([^\n]{1,200})/.exec(text)?.[1]
  if (line === undefined) return undefined
  const words = line.trim().split(/\s+/)
  const program = /(?:^|\/)env$/.test(words[0] ?? '')
    ? words.slice(1).find((word) => !word.startsWith('-') && !word.includes('='))
    : words[0]
  const interpreter = program?.split('/').at(-1) ?? ''
  return (byInterpreter.get(interpreter) ?? byInterpreter.get(interpreter.replace(/[\d.]+$/, '')))?.[0]
}

/** Without content: languages to which the extension belongs first, and programs before data. */
function likeliest(candidates: readonly Language[], path: string): Language | undefined {
  const extensions = extensionsOf(path)
  const weight = ({ firstExtension, type }: Language) =>
    (firstExtension !== undefined && extensions.includes(firstExtension.toLowerCase()) ? 2 : 0) +
    (type === 'programming' ? 1 : 0)
  return [...candidates].sort((left, right) => weight(right) - weight(left))[0]
}
