import { parseDocument } from 'htmlparser2'
import sanitizeHtml from 'sanitize-html'
import { PLAIN, WITH_CLASSES } from './allowed.ts'
import { type FinishOptions, finishNodes } from './finish.ts'
import { writeHtml } from './write.ts'

export interface SanitizeOptions extends FinishOptions {
  /**
   * Wire: Gitea's plain mode leaves classes out. In its other modes they stay, a `script` element is shown as the text that it is,
   * and empty elements end in a slash.
   */
  isPlain?: boolean
}

/** GFM 6.11 for `script` alone: it becomes text, with what it holds. */
const SCRIPT_TAG = /<(?=\/?script\b)/gi

/**
 * The only way out of the renderer: any HTML in, HTML of listed elements and attributes out. sanitize-html drops what `allowed.ts` does
 * not list and balances the rest; links and references are then made in the tree of what is left.
 */
export function sanitize(html: string, options: SanitizeOptions = {}): string {
  const { isPlain = false } = options
  const safe = isPlain ? sanitizeHtml(html, PLAIN) : sanitizeHtml(html.replace(SCRIPT_TAG, '&lt;'), WITH_CLASSES)
  return writeHtml(finishNodes(parseDocument(safe).children, options), { isPlain })
}
