// biome-ignore format: one name a line would hide the list
const SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'mailto', 'ftp', 'ftps', 'tel', 'sms', 'xmpp', 'irc', 'ircs', 'ssh', 'git', 'magnet', 'geo'])
const IMAGE_SCHEMES: ReadonlySet<string> = new Set(['http', 'https'])

/** The scheme in lower case; undefined for a relative address. Reads an address that `cleanUrl` has cleaned. */
export const schemeOf = (url: string): string | undefined => /^([a-z][a-z\d+.-]*):/i.exec(url)?.[1]?.toLowerCase()

/** An address without what browsers drop before they read it: control characters, and spaces at the ends. */
export function cleanUrl(url: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  return url.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]/g, '').trim()
}

/** The address if its scheme is one that starts no program and runs no script, else undefined. */
export function safeUrl(url: string, use: 'link' | 'image'): string | undefined {
  const clean = cleanUrl(url)
  const scheme = schemeOf(clean)
  // A colon before any slash, question mark or hash that is not a plain scheme is a scheme in disguise.
  if (scheme === undefined) return /^[^/?#]*:/.test(clean) ? undefined : clean
  return (use === 'link' ? SCHEMES : IMAGE_SCHEMES).has(scheme) ? clean : undefined
}
