import type { RenderContext } from '../context.ts'
import { schemeOf } from './urls.ts'

export interface Links {
  link(url: string): string
  image(src: string): { src: string; page: string }
}

/**
 * Makes relative addresses of a text absolute. Wire: comments are relative to the repository, files to their folder below
 * `src/` with images from `media/`, wiki pages to `wiki/` with images from `wiki/raw/`.
 */
export function linksOf(context: RenderContext): Links {
  const { baseUrl, repo, mode, tree } = context
  const root = repo === undefined ? baseUrl : `${baseUrl}/${repo.owner}/${repo.name}`
  const folder = {
    comment: ['', ''],
    markdown: ['', ''],
    gfm: ['src', 'media'],
    file: ['src', 'media'],
    wiki: ['wiki', 'wiki/raw'],
  }
  const [pages = '', images = ''] = repo === undefined ? [] : folder[mode]
  const below = mode === 'gfm' || mode === 'file' ? tree : ''
  const placeOf = (kind: string) => {
    const folders = [kind, below].filter((folder) => folder !== '')
    return { folders, prefix: [root, ...folders, ''].join('/') }
  }
  const pagePlace = placeOf(pages)
  const imagePlace = placeOf(images)
  const resolve = ({ folders, prefix }: typeof pagePlace, url: string) => {
    // Most paths have nothing to follow, and then joining is all there is to do.
    const isSimple = /^[\w-]/.test(url) && !/\/\.|\/\/|^[^?#]*\/$/.test(url)
    return isSimple ? prefix + url : join(root, folders, url)
  }
  return {
    link(url) {
      if (schemeOf(url) !== undefined || url.startsWith('//')) return url
      if (url.startsWith('#')) return anchor(url)
      return url === '' ? url : resolve(pagePlace, url)
    },
    image(src) {
      if (schemeOf(src) !== undefined || src.startsWith('//')) return { src, page: src }
      return { src: resolve(imagePlace, src), page: resolve(pagePlace, src) }
    },
  }
}

/** Headings and ids of a text carry a prefix, so links to them must. */
function anchor(url: string): string {
  return url === '#' || /^#(?:user-content-|fn(?:ref\d*)?:user-content-)/.test(url)
    ? url
    : `#user-content-${url.slice(1)}`
}

/** Joins folders and a relative path, following `..` up to the root of the site but not past it. */
function join(root: string, folders: string[], url: string): string {
  const [, path = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(url) ?? []
  const site = /^[a-z]+:\/\/[^/]*/i.exec(root)?.[0] ?? ''
  const parts: string[] = []
  const all = [root.slice(site.length), ...folders, path].join('/').split('/')
  for (const part of all) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  const end = path.endsWith('/') && parts.length > 0 ? '/' : ''
  return `${site}/${parts.join('/')}${end}${rest}`
}
