/** In the order in which they are looked for: later ones are named by earlier ones too. */
const browsers: readonly [mark: RegExp, name: string][] = [
  [/\bEdgA?\/(\d+)/, 'Edge'],
  [/\bOPR\/(\d+)/, 'Opera'],
  [/\bFirefox\/(\d+)/, 'Firefox'],
  [/\b(?:Headless)?Chrom(?:e|ium)\/(\d+)/, 'Chrome'],
  [/\bVersion\/(\d+)\S* .*Safari/, 'Safari'],
]
const systems: readonly [mark: RegExp, name: string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** What its owner calls a browser, from what it says of itself: `Firefox 140 on Linux`. Anything else is shown as it is, cut short. */
export function browserName(userAgent: string): string {
  if (userAgent === '') return 'Unknown browser'
  const system = systems.find(([mark]) => mark.test(userAgent))?.[1]
  for (const [mark, name] of browsers) {
    const version = mark.exec(userAgent)?.[1]
    if (version !== undefined) return `${name} ${version}${system === undefined ? '' : ` on ${system}`}`
  }
  return userAgent.slice(0, 60)
}
