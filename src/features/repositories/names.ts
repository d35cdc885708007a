import { isValidBranchName } from '../../git/names.ts'
import { invalid } from '../../kernel/errors.ts'
import { type NameProblem, repositoryNameProblem } from '../../kernel/names.ts'

/** Wire: Gitea's words for what is wrong with a name. */
const words: Record<NameProblem, (name: string) => { message: string; field?: string }> = {
  empty: () => ({ message: 'Required', field: 'name' }),
  'too long': () => ({ message: 'MaxSize', field: 'name' }),
  characters: () => ({ message: 'AlphaDashDot', field: 'name' }),
  reserved: (name) => ({ message: `name is reserved [name: ${name}]` }),
  pattern: (name) => ({ message: `name pattern is not allowed [pattern: *${name.slice(name.lastIndexOf('.'))}]` }),
}

/** @throws Refusal 422 */
export function requireRepositoryName(name: string): void {
  const problem = repositoryNameProblem(name)
  if (problem === undefined) return
  const { message, field } = words[problem](name.toLowerCase())
  throw invalid(message, field)
}

/** @throws Refusal 422 */
export function requireBranchName(name: string): void {
  if (!isValidBranchName(name)) throw invalid('GitRefName', 'default_branch')
}

/** Wire: 409 where a repository is made, with 422 where one is renamed. */
export const NAME_TAKEN = 'The repository with the same name already exists.'
