interface KnownRoute {
  method: string
  path: string
}

interface KnownPath {
  segments: string[]
  methods: Set<string>
}

/**
 * Tells which methods a path has, for the 405 that the router itself does not know. Asked only when no route matched, so a walk
 * over the paths of the same length is good enough.
 */
export function allowedMethods(routes: Iterable<KnownRoute>): (request: Request) => string[] {
  const byLength = new Map<number, KnownPath[]>()
  const wild: KnownPath[] = []
  for (const { method, path } of routes) {
    const segments = segmentsOf(path)
    const paths = segments.at(-1) === '*' ? wild : (byLength.get(segments.length) ?? [])
    if (paths !== wild) byLength.set(segments.length, paths)
    const known = paths.find((item) => item.segments.join('/') === segments.join('/'))
    if (known) known.methods.add(method)
    else paths.push({ segments, methods: new Set([method]) })
  }
  return ({ url }) => {
    const segments = segmentsOf(new URL(url).pathname)
    const fitting = (byLength.get(segments.length) ?? []).filter((path) => fits(path.segments, segments))
    const wildly = wild.filter(
      (path) => segments.length >= path.segments.length && fits(path.segments.slice(0, -1), segments),
    )
    return [...new Set([...fitting, ...wildly].flatMap((path) => [...path.methods]))].sort()
  }
}

const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '')

const fits = (pattern: string[], segments: string[]): boolean =>
  pattern.every((part, index) => part.startsWith(':') || part === segments[index])
