import type { Workflow } from './model.ts'
import { ancestorsOf } from './outcome.ts'
import type { WorkflowFamily } from './plan-model.ts'

/**
 * What has to run again with some jobs, by keys of a plan: those that need them, also through others, or whose caller does. The jobs
 * themselves are among them.
 */
export function followersOf(family: WorkflowFamily, keys: readonly string[], again: readonly string[]): Set<string> {
  const followers = new Set(again)
  const idsAgain = new Map<string, Set<string>>()
  for (const key of again)
    for (const { scope, id } of stepsOf(key)) idsAgain.set(scope, (idsAgain.get(scope) ?? new Set()).add(id))
  const needsOf = rememberNeeds()
  for (const key of keys) {
    let file: Workflow | undefined = family.workflow
    for (const { scope, id } of stepsOf(key)) {
      const ids = idsAgain.get(scope)
      if (file && ids && needsOf(file, id).some((needed) => ids.has(needed))) followers.add(key)
      const call: string | undefined = file?.jobs.find((job) => job.id === id)?.call?.path
      file = call === undefined ? undefined : family.called[call]
    }
  }
  return followers
}

interface Step {
  /** What stands before it in the key: jobs of one scope are of one file. */
  scope: string
  id: string
}

/** `call[0]/build` is `call` at the top, and `build` in what `call[0]` calls. */
function stepsOf(key: string): Step[] {
  const parts = key.split('/')
  return parts.map((part, index) => ({
    scope: parts.slice(0, index).join('/'),
    id: part.replace(/\[\d+\]$/, ''),
  }))
}

/** All that a job of a file needs, worked out once. */
function rememberNeeds(): (file: Workflow, id: string) => string[] {
  const known = new Map<string, string[]>()
  return (file, id) => {
    const name = `${file.path}\n${id}`
    const found = known.get(name)
    if (found) return found
    const jobs = new Map(file.jobs.map((job) => [job.id, job]))
    const job = jobs.get(id)
    const needs = job ? ancestorsOf(job, jobs) : []
    known.set(name, needs)
    return needs
  }
}
