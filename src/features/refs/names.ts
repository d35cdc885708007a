export type RefKind = 'branch' | 'tag'

/** A branch or tag by kind and short name. Other refs (notes, pull requests) have no rows. */
export interface RefName {
  kind: RefKind
  /** Without `refs/heads/` or `refs/tags/`. */
  name: string
}

export const BRANCHES = 'refs/heads/'
export const TAGS = 'refs/tags/'

/** Undefined for refs that are neither. */
export function parseRef(ref: string): RefName | undefined {
  if (ref.startsWith(BRANCHES)) return { kind: 'branch', name: ref.slice(BRANCHES.length) }
  if (ref.startsWith(TAGS)) return { kind: 'tag', name: ref.slice(TAGS.length) }
  return undefined
}

export const fullName = ({ kind, name }: RefName): string => (kind === 'branch' ? BRANCHES : TAGS) + name
