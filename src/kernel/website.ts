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

/** Whether a text is an address without its scheme, as people write it: `www.example.com/docs`. */
export const isHostAddress = (text: string): boolean =>
  /^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?([/?#][^\s\\]*)?$/i.test(text) && URL.canParse(`https://${text}`)
