import { pathProblem } from '../../git/paths.ts'
import { badRequest } from '../../kernel/errors.ts'

/**
 * A page is a file of the wiki's root folder. Wire: a blank of the title is `-` in file and address; of a title that has a dash
 * itself both end in `.-`, and its blanks stay. Everything but letters, digits and `-_.~` is escaped as in a form.
 */

const ENDING = '.md'
const DASHES_STAY = '.-'

/** Titles that are addresses of Gitea's own pages. */
const RESERVED: ReadonlySet<string> = new Set(['_pages', '_new', '_edit', 'raw'])

/** Controls, and those marks that make a text read as another one (CVE-2021-42574). */
const UNSHOWN = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u

/**
 * The title as it is stored.
 * @throws Refusal 400 for one that no page may have
 */
export function requireTitle(text: string): string {
  const title = text.trim()
  if (title === '') throw badRequest('wiki title is empty')
  if (RESERVED.has(title)) throw badRequest(`wiki title is reserved: ${title}`)
  // Dots alone would lead elsewhere in an address.
  if (!title.isWellFormed() || UNSHOWN.test(title) || /^\.+$/.test(title))
    throw badRequest('wiki title has characters that it may not have')
  const problem = pathProblem(fileOf(title))
  if (problem === 'too long') throw badRequest('wiki title is too long')
  if (problem !== undefined) throw badRequest('wiki title cannot be the name of a file')
  return title
}

/** How the title stands in addresses (`sub_url`). */
export function addressOf(title: string): string {
  const dashesStay = title.includes('-') || title.endsWith(ENDING)
  return encode(dashesStay ? title + DASHES_STAY : title.replaceAll(' ', '-'))
}

/** The file that a page of that title is written to. */
export const fileOf = (title: string): string => addressOf(title).replaceAll('+', ' ') + ENDING

/** Undefined for a file that is no page. Pages that came by a push may be named in other ways. */
export function titleOf(file: string): string | undefined {
  if (!file.endsWith(ENDING) || file === ENDING) return undefined
  const name = readDashes(file.slice(0, -ENDING.length))
  return decode(name) ?? name
}

/** What the last part of an address may mean, best first. Clients escape it once, twice, or send the title itself. */
export function readAddress(part: string): { title?: string; file?: string }[] {
  const once = decode(part) ?? part
  const readings = new Set([decode(part.replaceAll('+', ' ')) ?? part, once, decode(once.replaceAll('+', ' ')) ?? once])
  return [...readings].flatMap((reading) => [
    // Wire: the name of the file leads to the page as well.
    ...(reading.endsWith(ENDING) ? [{ file: reading }] : []),
    { title: readDashes(reading) },
  ])
}

const readDashes = (name: string): string =>
  name.endsWith(DASHES_STAY) ? name.slice(0, -DASHES_STAY.length) : name.replaceAll('-', ' ')

const encode = (text: string): string =>
  encodeURIComponent(text)
    .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')

/** Undefined where a `%` does not begin an escape. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
