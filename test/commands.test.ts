import { expect, test } from 'bun:test'
import { resolve } from 'node:path'

const root = resolve(import.meta.dir, '..')

/** A script of package.json, as a contributor runs it. */
function script(...words: readonly string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, 'run', ...words], { cwd: root })
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
}

test('`bun run bench --help` shows its help and measures nothing', () => {
  const { exitCode, stdout } = script('bench', '--help')
  expect(stdout).toStartWith('Usage: bun run bench [webhooks|oauth|repository|files] [options]\n')
  expect(exitCode).toBe(0)
})

test('what cannot be measured is refused with the help', () => {
  const { exitCode, stderr } = script('bench', 'nonsense')
  expect(stderr).toStartWith('There is nothing called "nonsense" to measure.\n\nUsage: bun run bench ')
  expect(exitCode).toBe(64)
})

test('`bun run format FILE` looks at this file only', () => {
  const { exitCode, stdout, stderr } = script('format', 'package.json')
  expect(`${stdout}${stderr}`).toContain('Checked 1 file')
  expect(exitCode).toBe(0)
})
