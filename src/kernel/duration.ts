const UNIT_SECONDS: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
}
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g
const WHOLE = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$/

/** Reads Go's spelling of a duration (`8h30m`, `1.5h`, `0`) into seconds, which may be negative; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  if (text.length > 50 || !WHOLE.test(text)) return undefined
  const seconds = [...text.matchAll(PART)].reduce(
    (sum, [, number, unit]) => sum + Number(number) * (UNIT_SECONDS[unit ?? ''] ?? 0),
    0,
  )
  return text.startsWith('-') ? -seconds : seconds
}

/** Whole seconds as Go prints a duration: `8h0m0s`, `10m0s`, `0s`. */
export function formatDuration(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  const rest = `${seconds % 60}s`
  if (hours > 0) return `${hours}h${minutes}m${rest}`
  return minutes > 0 ? `${minutes}m${rest}` : rest
}
