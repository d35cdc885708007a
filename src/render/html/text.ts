import { type ChildNode, Element, Text } from 'domhandler'
import type { RenderContext } from '../context.ts'
import { commitKey, issueKey, type KnownReferences } from '../references.ts'
import { emojiOf } from './emoji.ts'
import { type Found, findAll } from './found.ts'
import { linksOf } from './links.ts'
import { cleanUrl, isSafeLink } from './urls.ts'

/** Wire: the mark on links that the writer did not write. */
const GENERATED = { 'data-markdown-generated-content': '' }

type Attributes = Readonly<Record<string, string>>

/** Makes the function that finds addresses, mentions, references and emoji in plain text. */
export function linkText(context: RenderContext, known: KnownReferences): (text: string) => ChildNode[] {
  return (text) => {
    const nodes: ChildNode[] = []
    let from = 0
    for (const found of findAll(text)) {
      const written = text.slice(found.start, found.end)
      const node = present({ found, written, context, known })
      if (node === undefined) continue
      if (found.start > from) nodes.push(plain(text.slice(from, found.start)))
      nodes.push(node)
      from = found.end
    }
    if (from < text.length) nodes.push(plain(text.slice(from)))
    return nodes
  }
}

interface Piece {
  found: Found
  written: string
  context: RenderContext
  known: KnownReferences
}

function present({ found, written, context, known }: Piece): ChildNode | undefined {
  switch (found.kind) {
    case 'url':
      return presentUrl(found.url, { found, written, context, known })
    case 'mail':
      return anchor(found.url, {}, plain(written))
    case 'emoji': {
      const emoji = emojiOf(found.name)
      return emoji === undefined
        ? undefined
        : element('span', { class: 'emoji', 'aria-label': found.name }, plain(emoji))
    }
    case 'user': {
      const name = known.users.get(found.name.toLowerCase())
      return name === undefined ? undefined : anchor(`${context.baseUrl}/${name}`, GENERATED, plain(written))
    }
    case 'issue':
      return presentIssue({ found, written, context, known })
    case 'page':
      if (context.mode !== 'wiki') return undefined
      return anchor(linksOf(context).link(cleanUrl(found.page.replaceAll(' ', '-'))), {}, plain(found.title))
    case 'commit':
      return presentCommit({ found, written, context, known })
  }
}

const plain = (text: string): Text => new Text(text)

const element = (name: string, attributes: Attributes, child: ChildNode): Element =>
  new Element(name, { ...attributes }, [child])

/** What is made here does not pass the sanitizer, so the address is judged once more. */
function anchor(href: string, marks: Attributes, child: ChildNode): ChildNode {
  return isSafeLink(href) ? element('a', { href, ...marks, rel: 'nofollow' }, child) : child
}

function presentIssue({ found, written, context, known }: Piece): ChildNode | undefined {
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
  return anchor(href, { ...GENERATED, class: 'ref-issue' }, plain(written))
}

function presentCommit({ found, context, known }: Piece): ChildNode | undefined {
  if (found.kind !== 'commit') return undefined
  const owner = found.owner ?? context.repo?.owner
  const repo = found.repo ?? context.repo?.name
  if (owner === undefined || repo === undefined) return undefined
  const full = known.commits.get(commitKey(owner, repo, found.sha))
  if (full === undefined) return undefined
  const at = found.owner === undefined ? '' : `${owner}/${repo}@`
  const inner = element('code', {}, plain(at + found.sha.slice(0, 10)))
  return anchor(`${context.baseUrl}/${owner}/${repo}/commit/${full}`, { ...GENERATED, class: 'commit' }, inner)
}

/** An address of this server is shortened to what it names; others stand as they are. */
function presentUrl(url: string, { written, context, known }: Piece): ChildNode {
  if (!url.startsWith(`${context.baseUrl}/`)) return anchor(url, GENERATED, plain(written))
  const own = url.slice(context.baseUrl.length)
  const [, owner = '', repo = '', kind, id = '', part = ''] =
    /^\/([\w.-]+)\/([\w.-]+)\/(issues|pulls|commit)\/([0-9a-f]{1,64})(#issuecomment-\d+)?$/.exec(own) ?? []
  const isHere = owner === context.repo?.owner && repo === context.repo.name
  const prefix = isHere ? '' : `${owner}/${repo}`
  if (kind === 'commit' && id.length >= 7 && known.commits.has(commitKey(owner, repo, id))) {
    const at = isHere ? '' : `${owner}/${repo}@`
    return anchor(url, { ...GENERATED, class: 'commit' }, element('code', {}, plain(at + id.slice(0, 10))))
  }
  if (kind === 'issues' || kind === 'pulls') {
    if (known.issues.has(issueKey(owner, repo, Number(id)))) {
      const comment = part === '' ? '' : ' (comment)'
      return anchor(url, { ...GENERATED, class: 'ref-issue' }, plain(`${prefix}#${id}${comment}`))
    }
  }
  return anchor(url, GENERATED, plain(written))
}
