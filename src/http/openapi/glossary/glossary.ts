import type { Words } from '../words.ts'
import { exampleBodies } from './examples.ts'
import { groupWords } from './groups.ts'
import { pathWords, queryWords } from './parameters.ts'
import { propertyWords } from './properties.ts'

/** The words of this API. */
export const apiWords: Words = {
  properties: propertyWords,
  path: pathWords,
  query: queryWords,
  examples: exampleBodies,
  groups: groupWords,
}
