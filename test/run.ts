// `bun run test`: everything that CI asks. `bun run test FILE... [options of bun test]`: these tests only.
import { runTests } from './bun-tests.ts'
import { checkEverything } from './check.ts'
import { resultLine } from './report.ts'

const words = process.argv.slice(2)
const result = words.length > 0 ? await runTests(words) : await checkEverything()

// Their own places are thousands of lines above, and of a long log often only the end is kept.
process.stdout.write(result.faults.map((fault) => `\n${fault}\n`).join(''))
process.stdout.write(`\n${resultLine(result)}\n`)
process.exit(result.failed === 0 ? 0 : 1)
