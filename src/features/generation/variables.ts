/** Words of a name: runs of letters and digits, also where a capital begins one. */
const wordsOf = (text: string): string[] =>
  text.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|[\p{L}]+/gu)?.map((word) => word.toLowerCase()) ?? []

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
const pascal = (text: string): string => wordsOf(text).map(capital).join('')

/** Wire: the forms that Gitea's templates know, by the end of the variable's name. */
const FORMS: Record<string, (text: string) => string> = {
  SNAKE: (text) => wordsOf(text).join('_'),
  KEBAB: (text) => wordsOf(text).join('-'),
  CAMEL: (text) => pascal(text).replace(/^\p{Lu}/u, (first) => first.toLowerCase()),
  PASCAL: pascal,
  LOWER: (text) => text.toLowerCase(),
  UPPER: (text) => text.toUpperCase(),
  TITLE: (text) => text.replace(/[\p{L}\p{N}]+/gu, capital),
}

/** What templates may say of a repository. */
export interface Described {
  owner: string
  name: string
  description: string
  htmlUrl: string
  cloneUrl: string
  sshUrl: string
}

export type Variables = ReadonlyMap<string, string>

/** Wire: the variables of Gitea's templates. */
export function variablesOf(subjects: { REPO: Described; TEMPLATE: Described }, now: Date): Variables {
  const variables = new Map<string, string>([
    ['YEAR', String(now.getUTCFullYear())],
    ['MONTH', String(now.getUTCMonth() + 1).padStart(2, '0')],
    ['DAY', String(now.getUTCDate()).padStart(2, '0')],
  ])
  for (const [prefix, subject] of Object.entries(subjects)) {
    for (const [name, value] of Object.entries({ NAME: subject.name, OWNER: subject.owner })) {
      variables.set(`${prefix}_${name}`, value)
      for (const [form, transform] of Object.entries(FORMS))
        variables.set(`${prefix}_${name}_${form}`, transform(value))
    }
    variables.set(`${prefix}_DESCRIPTION`, subject.description)
    variables.set(`${prefix}_LINK`, subject.htmlUrl)
    variables.set(`${prefix}_HTTPS_URL`, subject.cloneUrl)
    variables.set(`${prefix}_SSH_URL`, subject.sshUrl)
  }
  return variables
}

/** Puts values for `$NAME` and `${NAME}`. What is no variable stays: it is for a shell, say. */
export const expand = (
  text: string,
  variables: Variables,
  clean: (value: string) => string = (value) => value,
): string =>
  text.replace(/\$(?:\{([A-Z][A-Z0-9_]*)\}|([A-Z][A-Z0-9_]*))/g, (whole, braced?: string, bare?: string) => {
    const value = variables.get(braced ?? bare ?? '')
    return value === undefined ? whole : clean(value)
  })

/** A value as a part of a file's name: nothing in it leads to another folder, and Windows can write it. */
export const fileNamePart = (value: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these cannot be in a name
  value.replace(/[/\\?%*:|"<>\x00-\x1f]/g, '_')
