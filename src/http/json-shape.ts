/** No body of the API is nested deeper than a handful of levels. */
const MAX_DEPTH = 64
/** Names and values together: the parser needs 1.7 us for each new name, while nobody else is served. */
const MAX_VALUES = 50_000

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * What makes a JSON text too costly to parse and to check, found without parsing it: texts are stepped over as a whole, so that a
 * large file in base64 costs next to nothing. Undefined also for what is no JSON; that is for the parser to say.
 */
export function jsonFault(text: string): 'depth' | 'values' | undefined {
  let [depth, values] = [0, 0]
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfText(text, at)
        break
      case 0x5b: // [
      case 0x7b: // {
        depth += 1
        if (depth > MAX_DEPTH) return 'depth'
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1
        break
      case 0x2c: // ,
      case 0x3a: // :
        values += 1
        if (values > MAX_VALUES) return 'values'
    }
  }
  return undefined
}

/** Where the quote stands that ends the text which begins at `start`; the end of everything where none does. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === BACKSLASH) before -= 1
    if ((end - before) % 2 === 1) return end
  }
  return text.length
}
