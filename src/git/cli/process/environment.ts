import { dirname } from 'node:path'

/**
 * Given to every git process. The repository's own config counts least, so nothing that an adopted folder or an administrator's
 * home says can run a program or loosen a check.
 */
const SETTINGS: readonly (readonly [string, string])[] = [
  ['safe.directory', '*'],
  ['core.hooksPath', '/dev/null'],
  ['core.attributesFile', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.logAllRefUpdates', 'false'],
  ['core.quotePath', 'false'],
  // What was answered survives power loss: pack, index and ref are flushed (reliability.md, R1). 7 ms a push.
  ['core.fsync', 'all'],
  ['core.fsyncMethod', 'fsync'],
  // Two writers of one repository wait for each other this long (ms) before one fails with a conflict.
  ['core.filesRefLockTimeout', '3000'],
  ['core.packedRefsTimeout', '5000'],
  // Larger blobs are streamed, never held in memory or compared line by line.
  ['core.bigFileThreshold', '64m'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['diff.renameLimit', '1000'],
  ['protocol.allow', 'never'],
  ['transfer.fsckObjects', 'true'],
  ['transfer.hideRefs', 'refs/hidden'],
]

/** The whole environment of git processes: nothing of ours is inherited. */
export function gitEnvironment(binary: string): Record<string, string> {
  return {
    PATH: `${dirname(binary)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: '/nonexistent',
    XDG_CONFIG_HOME: '/nonexistent',
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_COMMITTER_NAME: 'hearth',
    GIT_COMMITTER_EMAIL: 'hearth@localhost',
    ...withSettings([]),
  }
}

/** The variables that carry settings; the given ones come last and win. They reach git's own children too, which `-c` also does. */
export function withSettings(extra: readonly (readonly [string, string])[]): Record<string, string> {
  const all = [...SETTINGS, ...extra]
  const variables: Record<string, string> = { GIT_CONFIG_COUNT: String(all.length) }
  for (const [index, [key, value]] of all.entries()) {
    variables[`GIT_CONFIG_KEY_${index}`] = key
    variables[`GIT_CONFIG_VALUE_${index}`] = value
  }
  return variables
}
