export const MAX_WEBSITE_LENGTH = 255

/**
 * Whether a text can be shown as a link to a website: nothing, or an absolute http(s) address without a password in it. Browsers
 * read `http:\\host` as `http://host`, and so does the family.
 */
export function isWebsite(text: string, maxLength = MAX_WEBSITE_LENGTH): boolean {
  if (text === '') return true
  if (text.length > maxLength || !/^https?:[/\\]{2}[^\s\\]+$/i.test(text) || !URL.canParse(text)) return false
  const { username, password, hostname } = new URL(text)
  return hostname !== '' && username === '' && password === ''
}
