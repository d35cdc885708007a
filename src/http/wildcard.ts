import { notFound } from '../kernel/errors.ts'

/**
 * The rest of a path behind `/*`, decoded: Elysia decodes named parameters but not this one. A branch or a file may have slashes
 * in its name, plain or as `%2F`.
 * @throws Refusal 404 for a broken encoding, which names nothing
 */
export function decodeWildcard(params: { '*': string }): string {
  try {
    return decodeURIComponent(params['*'])
  } catch {
    throw notFound()
  }
}
