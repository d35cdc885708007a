import { badRequest } from '../../kernel/errors.ts'
import { MAX_BLOCKS } from './blocks.ts'

const BODY =
  /^\s*(?:<\?xml[^>]*\?>)?\s*<BlockList>([\s\S]*)<\/BlockList>\s*$|^\s*(?:<\?xml[^>]*\?>)?\s*<BlockList\s*\/>\s*$/
const ENTRY = /\s*<(Latest|Uncommitted)>([A-Za-z0-9+/=_-]{1,88})<\/\1>\s*/y

/**
 * The ids of a list of blocks (Put Block List of Azure's storage). Not by a parser of XML: these few elements have no attributes and no
 * entities, and anything else is refused.
 * @throws Refusal 400
 */
export function readBlockList(xml: string): string[] {
  const body = BODY.exec(xml)
  if (!body) throw badRequest('not a list of blocks')
  const entries = body[1]?.trim() ?? ''
  const ids: string[] = []
  ENTRY.lastIndex = 0
  while (ENTRY.lastIndex < entries.length) {
    const id = ENTRY.exec(entries)?.[2]
    if (id === undefined) throw badRequest('not a list of blocks')
    ids.push(id)
    if (ids.length > MAX_BLOCKS) throw badRequest(`an artifact has at most ${MAX_BLOCKS} blocks`)
  }
  return ids
}
