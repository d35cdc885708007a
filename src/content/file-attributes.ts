/** The attributes of Linguist, which Gitea obeys in `.gitattributes`. */
export const fileAttributeNames = [
  'linguist-vendored',
  'linguist-generated',
  'linguist-documentation',
  'linguist-detectable',
  'linguist-language',
] as const

/** What .gitattributes says of a file. It overrides what the path suggests; undefined where it says nothing. */
export interface FileAttributes {
  isVendored?: boolean | undefined
  isGenerated?: boolean | undefined
  isDocumentation?: boolean | undefined
  isDetectable?: boolean | undefined
  /** As written: a name or another word for it, in any letter case. */
  language?: string | undefined
}

/** `values`: as git prints them, `set`, `unset` or a text. */
export function readFileAttributes(values: ReadonlyMap<string, string>): FileAttributes {
  const language = values.get('linguist-language')
  return {
    isVendored: yesNo(values.get('linguist-vendored')),
    isGenerated: yesNo(values.get('linguist-generated')),
    isDocumentation: yesNo(values.get('linguist-documentation')),
    isDetectable: yesNo(values.get('linguist-detectable')),
    language: language === 'set' || language === 'unset' ? undefined : language,
  }
}

function yesNo(value: string | undefined): boolean | undefined {
  if (value === 'set' || value === 'true') return true
  return value === 'unset' || value === 'false' ? false : undefined
}
