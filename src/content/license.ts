import { licenseTexts } from '../templates/license-texts.ts'

/** A file that may hold the license of a whole repository: by its usual names, at the root. */
export const isLicenseFile = (path: string): boolean =>
  /^(?:un)?licen[cs]e(?:s)?(?:[-_.][\w.-]+)?$|^copying(?:[-_.][\w.-]+)?$|^(?:mit|bsd|apache|gpl|lgpl|agpl|mpl)[-_.]licen[cs]e(?:\.\w+)?$/i.test(
    path,
  )

/** Longer files hold several licenses or something else; only the start is compared. */
const MAX_CHARACTERS = 256 * 1024
/** Share of pairs of words in common. Two versions of one license stay below, a reworded notice above. */
const ALIKE = 0.9
/** Texts are prepared in portions, so that the first call does not hold up the server. */
const PORTION = 20

interface Print {
  key: string
  /** Hashes of pairs of neighbouring words, sorted, each once. */
  pairs: Uint32Array
}

let preparing: Promise<Print[]> | undefined

/**
 * SPDX identifiers of the license that a text is, the likeliest only; empty for none. The text is compared by its words, so
 * notices, line breaks and punctuation do not matter.
 */
export async function detectLicenses(text: string): Promise<string[]> {
  const pairs = printOf(text.slice(0, MAX_CHARACTERS))
  if (pairs.length < 5) return []
  preparing ??= prepare()
  let best: { keys: string[]; alike: number } = { keys: [], alike: ALIKE }
  for (const print of await preparing) {
    const shorter = Math.min(print.pairs.length, pairs.length)
    // The most that they can have in common; saves most comparisons.
    if ((2 * shorter) / (print.pairs.length + pairs.length) < best.alike) continue
    const alike = likeness(pairs, print.pairs)
    if (alike > best.alike) best = { keys: [print.key], alike }
    else if (alike === best.alike) best.keys.push(print.key)
  }
  const key = preferred(best.keys)
  return key === undefined ? [] : [key]
}

/** Chooses among several names of one text: not the outdated `GPL-2.0`, and `-only`, since nothing allows later versions. */
function preferred(keys: readonly string[]): string | undefined {
  return (
    keys.find((key) => key.endsWith('-only')) ?? [...keys].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))[0]
  )
}

async function prepare(): Promise<Print[]> {
  const prints: Print[] = []
  for (const [key, text] of await licenseTexts()) {
    prints.push({ key, pairs: printOf(text) })
    if (prints.length % PORTION === 0) await Bun.sleep(0)
  }
  return prints
}

function printOf(text: string): Uint32Array {
  const words = normalize(text)
  const pairs = new Set<number>()
  for (let index = 1; index < words.length; index++) pairs.add(hash(`${words[index - 1]} ${words[index]}`))
  return Uint32Array.from(pairs).sort()
}

/** Words in lower case, without the lines that state who holds the copyright. */
function normalize(text: string): string[] {
  return (
    text
      .split('\n')
      .filter((line) => !/^[\s#/*;.-]*(?:portions )?(?:copyright|\(c\)|©)[\s:]*(?:\(c\)|©|\d|<|\[|\{|by )/i.test(line))
      .join('\n')
      .toLowerCase()
      .replace(/licence/g, 'license')
      .match(/[a-z0-9]+/g)
      ?.slice(0, 100_000) ?? []
  )
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value >>> 0
}

/** Dice's coefficient of two sorted sets. */
function likeness(left: Uint32Array, right: Uint32Array): number {
  let common = 0
  let at = 0
  for (const value of left) {
    while (at < right.length && (right[at] ?? 0) < value) at++
    if (right[at] === value) common++
  }
  return (2 * common) / (left.length + right.length)
}
