import type { RenderContext } from '../context.ts'
import { schemeOf } from './urls.ts'

export interface Links {
  link(url: string): string
  image(src: string): { src: string; page: string }
}

/** Folders below a repository that relative links and images start from. */
const FOLDERS = {
  comment: { pages: '', images: '' },
  markdown: { pages: '', images: '' },
  gfm: { pages: 'src', images: 'media' },
  file: { pages: 'src', images: 'media' },
  wiki: { pages: 'wiki', images: 'wiki/raw' },
} as const

/**
 * Makes relative addresses of a text absolute; none of them leaves the repository. Wire: comments are relative to the repository, files
 * to their folder below `src/` with images from `media/`, wiki pages to `wiki/` with images from `wiki/raw/`.
 */
export function linksOf({ baseUrl, repo, mode, tree }: RenderContext): Links {
  const root = repo === undefined ? baseUrl : `${baseUrl}/${repo.owner}/${repo.name}`
  const { pages, images } = FOLDERS[repo === undefined ? 'comment' : mode]
  const below = mode === 'gfm' || mode === 'file' ? tree : ''
  const isElsewhere = (url: string) => schemeOf(url) !== undefined || url.startsWith('//')
  const resolve = (folder: string, url: string) => join(root, `${folder}/${below}`, url)
  return {
    link(url) {
      if (url === '' || isElsewhere(url)) return url
      return url.startsWith('#') ? anchor(url) : resolve(pages, url)
    },
    image(src) {
      return isElsewhere(src) ? { src, page: src } : { src: resolve(images, src), page: resolve(pages, src) }
    },
  }
}

/** Headings and ids of a text carry a prefix, so links to them must. */
function anchor(url: string): string {
  return url === '#' || /^#(?:user-content-|fn(?:ref\d*)?:user-content-)/.test(url)
    ? url
    : `#user-content-${url.slice(1)}`
}

/** Joins a folder and a relative path below a root. A `..` that would leave the root stays there. */
function join(root: string, folder: string, url: string): string {
  const [, path = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(url) ?? []
  const steps: string[] = []
  for (const step of stepsOf(`${folder}/${path}`)) {
    if (step === '..') steps.pop()
    else if (step !== '' && step !== '.') steps.push(step)
  }
  const end = path.endsWith('/') && steps.length > 0 ? '/' : ''
  return [root, ...steps].join('/') + end + rest
}

/**
 * The steps of a path as browsers and proxies read it: to browsers a backslash is a slash and `%2e` a dot, and some proxies decode
 * `%2f` before they follow `..`.
 */
function stepsOf(path: string): string[] {
  return path.split(/[/\\]/).flatMap((step) => {
    const inner = step.replace(/%2e/gi, '.').split(/%2f|%5c/i)
    return inner.some((part) => part === '..' || part === '.') ? inner : [step]
  })
}
