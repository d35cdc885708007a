import type { RenderContext } from '../context.ts'
import { commitKey, issueKey, type KnownReferences } from '../references.ts'
import { emojiOf } from './emoji.ts'
import { escapeHtml } from './escape.ts'
import { type Found, findAll } from './found.ts'
import { linksOf } from './links.ts'
import { safeUrl } from './urls.ts'

/** Wire: the mark on links that the writer did not write. */
const GENERATED = 'data-markdown-generated-content=""'

/** Makes the function that turns plain text into HTML with its addresses, mentions, references and emoji. */
export function linkText(context: RenderContext, known: KnownReferences): (text: string) => string {
  return (text) => {
    const all = findAll(text)
    if (all.length === 0) return escapeHtml(text)
    let html = ''
    let from = 0
    for (const found of all) {
      const written = text.slice(found.start, found.end)
      const link = present({ found, written, context, known })
      if (link === undefined) continue
      html += escapeHtml(text.slice(from, found.start)) + link
      from = found.end
    }
    return html + escapeHtml(text.slice(from))
  }
}

interface Piece {
  found: Found
  written: string
  context: RenderContext
  known: KnownReferences
}

function present({ found, written, context, known }: Piece): string | undefined {
  switch (found.kind) {
    case 'url':
      return presentUrl(found.url, { found, written, context, known })
    case 'mail':
      return anchor(found.url, '', escapeHtml(written))
    case 'emoji': {
      const emoji = emojiOf(found.name)
      return emoji && `<span class="emoji" aria-label="${escapeHtml(found.name)}">${emoji}</span>`
    }
    case 'user': {
      const name = known.users.get(found.name.toLowerCase())
      return name && anchor(`${context.baseUrl}/${name}`, GENERATED, escapeHtml(written))
    }
    case 'issue':
      return presentIssue({ found, written, context, known })
    case 'page':
      if (context.mode !== 'wiki') return undefined
      return anchor(linksOf(context).link(found.page.replaceAll(' ', '-')), '', escapeHtml(found.title))
    case 'commit':
      return presentCommit({ found, written, context, known })
  }
}

/** What is written here does not pass the sanitizer again, so the address is judged once more. */
function anchor(href: string, marks: string, inner: string): string {
  if (safeUrl(href, 'link') !== href) return inner
  return `<a href="${escapeHtml(href)}"${marks === '' ? '' : ` ${marks}`} rel="nofollow">${inner}</a>`
}

function presentIssue({ found, written, context, known }: Piece): string | undefined {
  if (found.kind !== 'issue') return undefined
  // Wire: in documents a bare number is often something else, so only comments and wiki pages link it.
  const isNamed = found.owner !== undefined
  if (!isNamed && context.mode !== 'comment' && context.mode !== 'wiki') return undefined
  const owner = found.owner ?? context.repo?.owner
  const repo = found.repo ?? context.repo?.name
  if (owner === undefined || repo === undefined) return undefined
  const issue = known.issues.get(issueKey(owner, repo, found.index))
  if (issue === undefined) return undefined
  const href = `${context.baseUrl}/${owner}/${repo}/${issue.isPull ? 'pulls' : 'issues'}/${found.index}`
  return anchor(href, `${GENERATED} class="ref-issue"`, escapeHtml(written))
}

function presentCommit({ found, context, known }: Piece): string | undefined {
  if (found.kind !== 'commit') return undefined
  const owner = found.owner ?? context.repo?.owner
  const repo = found.repo ?? context.repo?.name
  if (owner === undefined || repo === undefined) return undefined
  const full = known.commits.get(commitKey(owner, repo, found.sha))
  if (full === undefined) return undefined
  const at = found.owner === undefined ? '' : `${owner}/${repo}@`
  const inner = `<code>${escapeHtml(at + found.sha.slice(0, 10))}</code>`
  return anchor(`${context.baseUrl}/${owner}/${repo}/commit/${full}`, `${GENERATED} class="commit"`, inner)
}

/** An address of this server is shortened to what it names; others stand as they are. */
function presentUrl(url: string, { written, context, known }: Piece): string {
  if (!url.startsWith(`${context.baseUrl}/`)) return anchor(url, GENERATED, escapeHtml(written))
  const own = url.slice(context.baseUrl.length)
  const [, owner = '', repo = '', kind, id = '', part = ''] =
    /^\/([\w.-]+)\/([\w.-]+)\/(issues|pulls|commit)\/([0-9a-f]{1,64})(#issuecomment-\d+)?$/.exec(own) ?? []
  const isHere = owner === context.repo?.owner && repo === context.repo.name
  const prefix = isHere ? '' : `${owner}/${repo}`
  if (kind === 'commit' && id.length >= 7 && known.commits.has(commitKey(owner, repo, id))) {
    const at = isHere ? '' : `${owner}/${repo}@`
    return anchor(url, `${GENERATED} class="commit"`, `<code>${escapeHtml(at + id.slice(0, 10))}</code>`)
  }
  if (kind === 'issues' || kind === 'pulls') {
    if (known.issues.has(issueKey(owner, repo, Number(id)))) {
      const comment = part === '' ? '' : ' (comment)'
      return anchor(url, `${GENERATED} class="ref-issue"`, escapeHtml(`${prefix}#${id}${comment}`))
    }
  }
  return anchor(url, GENERATED, escapeHtml(written))
}
