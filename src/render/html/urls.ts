// biome-ignore format: one name a line would hide the list
export const LINK_SCHEMES: readonly string[] = ['http', 'https', 'mailto', 'ftp', 'ftps', 'tel', 'sms', 'xmpp', 'irc', 'ircs', 'ssh', 'git', 'magnet', 'geo']
export const IMAGE_SCHEMES: readonly string[] = ['http', 'https']

const SCHEME = /^[a-z][a-z\d+.-]*:/i

/** The scheme in lower case; undefined for a relative address. Reads an address that `cleanUrl` has cleaned. */
export const schemeOf = (url: string): string | undefined => SCHEME.exec(url)?.[0].slice(0, -1).toLowerCase()

/** An address as browsers read it: without control characters and spaces at the ends, its scheme in lower case. */
export function cleanUrl(url: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  const visible = url.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]/g, '').trim()
  return visible.replace(SCHEME, (scheme) => scheme.toLowerCase())
}

/** Whether a link may lead to a cleaned address: its scheme starts no program and runs no script. */
export function isSafeLink(url: string): boolean {
  const scheme = schemeOf(url)
  // A colon before any slash, question mark or hash that is not a plain scheme is a scheme in disguise.
  return scheme === undefined ? !/^[^/?#]*:/.test(url) : LINK_SCHEMES.includes(scheme)
}
