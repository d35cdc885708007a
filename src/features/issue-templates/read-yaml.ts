import { parse } from 'yaml'

/** What a text in YAML says; `undefined` for what is no YAML. Aliases are limited, so that a small text stays small. */
export function readYaml(text: string): { value: unknown } | undefined {
  try {
    return { value: parse(text, { maxAliasCount: 20, logLevel: 'error' }) }
  } catch {
    // The author of the file sees it in the validation. Nobody else can do anything about it.
    return undefined
  }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
