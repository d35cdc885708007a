/** Reads a database id from a path: digits only and within the safe integers; undefined for anything else. */
export function parseId(text: string): number | undefined {
  if (!/^\d{1,19}$/.test(text)) return undefined
  const id = Number(text)
  return Number.isSafeInteger(id) && id > 0 ? id : undefined
}
