import { GlobError, parseGlob } from '../../kernel/glob.ts'

interface Section {
  glob: string
  values: ReadonlyMap<string, string>
}

/** Every property that holds for a path: the last section that fits it wins (EditorConfig specification 0.17). */
export function propertiesOf(text: string, path: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const { glob, values } of parseSections(text)) {
    if (!fits(glob, path)) continue
    for (const [key, value] of values) {
      if (value === 'unset') found.delete(key)
      else found.set(key, value)
    }
  }
  return complete(found)
}

/** What one property says of another that is left out. */
function complete(found: Map<string, string>): Map<string, string> {
  if (found.get('indent_style') === 'tab' && !found.has('indent_size')) found.set('indent_size', 'tab')
  const [size, width] = [found.get('indent_size'), found.get('tab_width')]
  if (size !== undefined && size !== 'tab' && width === undefined) found.set('tab_width', size)
  if (size === 'tab' && width !== undefined) found.set('indent_size', width)
  return found
}

function parseSections(text: string): Section[] {
  const sections: Section[] = []
  let values: Map<string, string> | undefined
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const plain = line.trim()
    if (/^[#;]/.test(plain)) continue
    const [, glob] = /^\[(.*)\]$/.exec(plain) ?? []
    if (glob !== undefined) {
      values = new Map()
      sections.push({ glob, values })
      continue
    }
    const equals = plain.indexOf('=')
    // What stands before the first section is about the file itself.
    if (equals < 0 || values === undefined) continue
    values.set(
      plain.slice(0, equals).trim().toLowerCase(),
      plain
        .slice(equals + 1)
        .trim()
        .toLowerCase(),
    )
  }
  return sections
}

/** A glob without a slash fits the name of a file in any folder. One that cannot be read fits nothing. */
function fits(glob: string, path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  try {
    return parseGlob(translate(glob.replace(/^\//, '')), '/').matches(glob.includes('/') ? path : name)
  } catch (error) {
    if (error instanceof GlobError) return false
    throw error
  }
}

const MAX_NUMBERS = 50

/** What EditorConfig writes in another way: ranges of numbers, braces that mean themselves, and folders that may be absent. */
const translate = (glob: string): string =>
  glob
    .replace(/\{(-?\d{1,9})\.\.(-?\d{1,9})\}/g, (_, first: string, last: string) =>
      numbers(Number(first), Number(last)),
    )
    .replace(/\{([^{},]*)\}/g, '\\{$1\\}')
    .replaceAll('/**/', '{/,/**/}')

function numbers(first: number, last: number): string {
  const [low, high] = [Math.min(first, last), Math.max(first, last)]
  if (high - low >= MAX_NUMBERS) throw new GlobError(`a range of more than ${MAX_NUMBERS} numbers`)
  // The first comes twice, so that the braces of a single number do not mean themselves.
  return `{${Array.from({ length: high - low + 1 }, (_, index) => low + index).join(',')},${low}}`
}
