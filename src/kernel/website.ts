export const MAX_WEBSITE_LENGTH = 255

/**
 * Whether a text can be shown as a link to a website: nothing, or an absolute http(s) address without a password in it. Browsers
 * read `http:\\host` as `http://host`, and so does Gitea.
 */
export function isWebsite(text: string, maxLength = MAX_WEBSITE_LENGTH): boolean {
  if (text === '') return true
  if (text.length > maxLength || !/^https?:[/\\]{2}[^\s\\]+$/i.test(text) || !URL.canParse(text)) return false
  const { username, password, hostname } = new URL(text)
  return hostname !== '' && username === '' && password === ''
}

/** Whether a text begins with a scheme other than http and https. Browsers pass over controls and spaces, and so does this. */
export const hasForeignScheme = (text: string): boolean => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant.
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text.replace(/[\x00-\x20]/g, ''))?.[1]
  return scheme !== undefined && !/^https?$/i.test(scheme) && !HOST_ADDRESS.test(text)
}

/** An address without its scheme, as people write it: the port is none. */
const HOST_ADDRESS = /^[a-z0-9-]+(\.[a-z0-9-]+)+:\d+([/?#][^\s\\]*)?$/i
