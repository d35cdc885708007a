const EACH_MS = 2000

/** A line on standard error every two seconds: what is found goes to standard output, which may be a file. */
export function progressLine(): (text: string) => void {
  let last = performance.now()
  return (text) => {
    if (performance.now() - last < EACH_MS) return
    last = performance.now()
    process.stderr.write(`${text} ...\n`)
  }
}
