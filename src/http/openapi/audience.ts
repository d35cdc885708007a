import type { RepositoryQuestion, UnitRule } from '../../access/decide.ts'
import type { Unit } from '../../access/units.ts'
import type { ScopeRule } from '../../auth/scopes.ts'
import type { OrganizationRole } from '../organization-gate.ts'
import type { GateKind } from './extensions.ts'

/** What a gate is told about a route, as far as it decides who may pass. */
export interface GateRule {
  scope?: ScopeRule
  login?: boolean
  personal?: boolean
  level?: RepositoryQuestion['level']
  unit?: UnitRule
  role?: OrganizationRole
  gitHooks?: boolean
}

/** Who may pass, as a sentence for readers of the API description. */
export function audienceOf(kind: GateKind, rule: GateRule): string {
  const signedIn = rule.login ? 'Whoever is signed in and' : 'Whoever'
  switch (kind) {
    case 'open':
      return 'For everybody.'
    case 'login':
      return `For whoever is signed in${rule.personal ? '; not with a token that reaches public things only' : ''}.`
    case 'password':
      return 'For whoever gives a password: no token may do this.'
    case 'admin':
    case 'adminOf':
      return 'For administrators of the site.'
    case 'readUser':
      return `${signedIn} may see the account.`
    case 'readOrg':
    case 'changeOrg':
      return rule.role === undefined ? `${signedIn} may see the organization.` : roles[rule.role]
    case 'team':
      return rule.role === 'owner' ? 'For owners of the organization.' : 'For members of the team and owners.'
    case 'readRepo':
    case 'readIssue':
      return `${signedIn} may read ${subject(rule.unit)}.`
    case 'changeRepo':
    case 'changeIssue':
      return changeAudience(rule)
  }
}

function changeAudience({ level = 'write', unit, gitHooks }: GateRule): string {
  const also = gitHooks ? ' They must be allowed to edit Git hooks, too.' : ''
  switch (level) {
    case 'read':
      return `Whoever is signed in and may read ${subject(unit)}.${also}`
    case 'write':
      return `Whoever may write to ${subject(unit)}.${also}`
    case 'admin':
      return `For administrators of the repository.${also}`
    case 'owner':
      return `For owners of the repository.${also}`
  }
}

const roles: Readonly<Record<OrganizationRole, string>> = {
  member: 'For members of the organization.',
  owner: 'For owners of the organization.',
  creator: 'For whoever may create repositories in the organization.',
}

const unitWords: Readonly<Record<Unit, string>> = {
  'repo.code': 'code',
  'repo.issues': 'issues',
  'repo.ext_issues': 'external tracker',
  'repo.wiki': 'wiki',
  'repo.ext_wiki': 'external wiki',
  'repo.pulls': 'pull requests',
  'repo.releases': 'releases',
  'repo.projects': 'projects',
  'repo.packages': 'packages',
  'repo.actions': 'Actions',
}

const subject = (unit: UnitRule): string =>
  unit === undefined ? 'the repository' : `the ${words([unit].flat())} of the repository`

const words = (units: readonly Unit[]): string => units.map((unit) => unitWords[unit]).join(' or ')

/** The areas of the scopes that a token needs: for reading or for writing, by the method. */
export const areasOf = (rule: ScopeRule = []): string[] =>
  [rule].flat().map((need) => (typeof need === 'string' ? need : need.area))
