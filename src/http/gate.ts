import { Elysia } from 'elysia'
import type { UnitRule } from '../access/decide.ts'
import type { VersionedIssue } from '../access/issues.ts'
import type { RepositoryAccess } from '../access/repository-access.ts'
import type { Actor } from '../auth/actor.ts'
import type { ScopeRule } from '../auth/scopes.ts'
import { isRecentSignIn } from '../auth/sessions.ts'
import type { Context } from '../context.ts'
import { forbidden, unauthorized } from '../kernel/errors.ts'
import { type Account, visibleAccount } from './account-gate.ts'
import { admit, requireScopes } from './admission.ts'
import { refuseUnreadableBody } from './body.ts'
import { type Admitted, exchangeOf } from './exchange.ts'
import { type IssueRule, issueForChange, issueForReading } from './issue-gate.ts'
import { gateDetail } from './openapi/gates.ts'
import { type OrganizationAccess, type OrganizationRule, organizationFor } from './organization-gate.ts'
import { type ChangeRule, repositoryForChange, repositoryForReading } from './repository-gate.ts'
import { type TeamAccess, type TeamRule, teamFor } from './team-gate.ts'

/** The parameters of the path, before the route's schema has judged them. */
type Params = Readonly<Record<string, string | undefined>> | undefined

interface Stage {
  request: Request
  body?: unknown
  params?: Params
}

function found(request: Request): Admitted {
  const { admitted } = exchangeOf(request)
  if (!admitted) throw new Error('the gate has not judged this request')
  return admitted
}

const signedIn = (request: Request): Actor => {
  const { actor } = found(request)
  if (!actor) throw unauthorized()
  return actor
}

/**
 * The guards that routes choose from, exactly one each. All of them run in the `transform` stage, before anything that was sent
 * is checked, in one order: credential (401), account (403), token scope (403), role or subject (403, 404), readable body (422).
 */
export const gate = (context: Context) =>
  new Elysia({ name: 'gate' }).macro({
    /** Anybody; a presented credential is checked all the same. */
    open: (rule: { scope?: ScopeRule; beforeSignIn?: boolean }) => ({
      detail: gateDetail('open', rule),
      async transform({ request, body }: Stage) {
        const actor = await admit(context, request, rule)
        pass(request, body, { actor })
      },
      resolve: ({ request }: { request: Request }) => ({ actor: found(request).actor }),
    }),

    /**
     * Anybody who signed in. `personal`: about what nobody else may see, so that a token for public things is refused.
     * `byPassword`: what no token may do, and nobody in the name of another.
     */
    login: (rule: { scope: ScopeRule; personal?: boolean; byPassword?: boolean; mayChangePassword?: boolean }) => ({
      detail: gateDetail(rule.byPassword ? 'password' : 'login', rule),
      async transform({ request, body }: Stage) {
        const actor = await admit(context, request, rule)
        if (!actor) throw unauthorized()
        if (rule.personal && actor.publicOnly) throw forbidden('the token reaches public things only')
        if (rule.byPassword) {
          if (actor.sudoer) throw forbidden('this cannot be done in the name of another user')
          requirePassword(context, actor)
        }
        pass(request, body, { actor })
      },
      resolve: ({ request }: { request: Request }) => ({ actor: signedIn(request) }),
    }),

    /** The account of the path itself, or an administrator, with a password: what a token must never do. */
    password: (_rule: true) => ({
      detail: gateDetail('password'),
      async transform({ request, body, params }: Stage) {
        const actor = await admit(context, request, {})
        const account = await visibleAccount(context, actor, textParam(params, 'username'), request)
        // Wire: who may not ask for this account gets 403, signed in or not.
        if (!actor || (actor.user.id !== account.row.id && !actor.user.isAdmin))
          throw forbidden('doer should be the site admin or be same as the contextUser')
        requirePassword(context, actor)
        pass(request, body, { actor, account })
      },
      resolve: ({ request }: { request: Request }) => ({ actor: signedIn(request), account: foundAccount(request) }),
    }),

    /** Site administrators. */
    admin: (_rule: true) => ({
      detail: gateDetail('admin', { scope: 'admin' }),
      async transform({ request, body }: Stage) {
        const actor = await admit(context, request, { scope: 'admin' })
        if (!actor) throw unauthorized()
        requireAdministrator(actor)
        pass(request, body, { actor })
      },
      resolve: ({ request }: { request: Request }) => ({ actor: signedIn(request) }),
    }),

    /** Site administrators, for something of the account of `:username`. */
    adminOf: (_rule: true) => ({
      detail: gateDetail('adminOf', { scope: 'admin' }),
      async transform({ request, body, params }: Stage) {
        const actor = await admit(context, request, { scope: 'admin' })
        if (!actor) throw unauthorized()
        requireAdministrator(actor)
        const account = await visibleAccount(context, actor, textParam(params, 'username'), request)
        pass(request, body, { actor, account })
      },
      resolve: ({ request }: { request: Request }) => ({ actor: signedIn(request), account: foundAccount(request) }),
    }),

    /** The person or organization of `:username`, if the caller may know of it. */
    readUser: (rule: { scope: ScopeRule; login?: boolean }) => ({
      detail: gateDetail('readUser', rule),
      async transform({ request, body, params }: Stage) {
        const actor = await admit(context, request, { scope: rule.scope })
        if (rule.login && !actor) throw unauthorized()
        const account = await visibleAccount(context, actor, textParam(params, 'username'), request)
        pass(request, body, { actor, account })
      },
      resolve: ({ request }: { request: Request }) => ({ actor: found(request).actor, account: foundAccount(request) }),
    }),

    /** The organization of `:org`, if the caller may know of it and has the role. */
    readOrg: (rule: OrganizationRule & { scope: ScopeRule; login?: boolean }) => ({
      detail: gateDetail('readOrg', rule),
      async transform({ request, body, params }: Stage) {
        const actor = await admit(context, request, { scope: rule.scope })
        if (!actor && (rule.login || rule.role)) throw unauthorized()
        const path = { request, name: textParam(params, 'org') }
        pass(request, body, { actor, org: await organizationFor(context, actor, path, rule) })
      },
      resolve: ({ request }: { request: Request }) => ({ actor: found(request).actor, org: foundOrg(request) }),
    }),

    /** The organization of `:org` for a signed-in caller with the role. */
    changeOrg: (rule: OrganizationRule & { scope: ScopeRule }) => ({
      detail: gateDetail('changeOrg', rule),
      async transform({ request, body, params }: Stage) {
        const actor = await admit(context, request, { scope: rule.scope })
        if (!actor) throw unauthorized()
        const path = { request, name: textParam(params, 'org') }
        pass(request, body, { actor, org: await organizationFor(context, actor, path, rule) })
      },
      resolve: ({ request }: { request: Request }) => ({ actor: signedIn(request), org: foundOrg(request) }),
    }),

    /** The team of `:id` for a signed-in caller who belongs to it or owns its organization. */
    team: (rule: TeamRule & { scope: ScopeRule }) => ({
      detail: gateDetail('team', rule),
      async transform({ request, body, params }: Stage) {
        const actor = await admit(context, request, { scope: rule.scope })
        if (!actor) throw unauthorized()
        pass(request, body, { actor, team: await teamFor(context, actor, textParam(params, 'id'), rule) })
      },
      resolve: ({ request }: { request: Request }) => ({ actor: signedIn(request), team: foundTeam(request) }),
    }),

    /** The repository of `:owner/:repo` with at least read on the unit; without a unit, on any. */
    readRepo: (rule: { unit?: UnitRule; scope: ScopeRule; login?: boolean }) => ({
      detail: gateDetail('readRepo', rule),
      async transform({ request, body, params }: Stage) {
        const actor = await admit(context, request, { scope: rule.scope, isOfRepository: true })
        if (rule.login && !actor) throw unauthorized()
        const repo = await repositoryForReading(context, actor, { request, ...repositoryParams(params) }, rule.unit)
        pass(request, body, { actor, repo })
      },
      resolve: ({ request }: { request: Request }) => ({ actor: found(request).actor, repo: foundRepo(request) }),
    }),

    /** The repository of `:owner/:repo` for a signed-in caller with the level; refused with 423 while archived. */
    changeRepo: (rule: ChangeRule & { scope: ScopeRule }) => ({
      detail: gateDetail('changeRepo', rule),
      async transform({ request, body, params }: Stage) {
        const actor = await admit(context, request, { scope: rule.scope, isOfRepository: true })
        if (!actor) throw unauthorized()
        const repo = await repositoryForChange(context, actor, { request, ...repositoryParams(params) }, rule)
        pass(request, body, { actor, repo })
      },
      resolve: ({ request }: { request: Request }) => ({ actor: signedIn(request), repo: foundRepo(request) }),
    }),

    /** The issue or pull request of `:index`, with at least read on the unit that it belongs to. */
    readIssue: (rule: { scope: ScopeRule; login?: boolean; isPull?: true }) => ({
      detail: gateDetail('readIssue', rule),
      async transform({ request, body, params }: Stage) {
        const actor = await admit(context, request, { scope: rule.scope, isOfRepository: true })
        if (rule.login && !actor) throw unauthorized()
        const { repo, ...issue } = await issueForReading(context, actor, { request, ...issueParams(params) }, rule)
        pass(request, body, { actor, repo, issue })
      },
      resolve: ({ request }: { request: Request }) => ({
        actor: found(request).actor,
        repo: foundRepo(request),
        issue: foundIssue(request),
      }),
    }),

    /** The issue or pull request of `:index` for a signed-in caller with the level on its unit; 423 while archived. */
    changeIssue: (rule: IssueRule & { scope: ScopeRule }) => ({
      detail: gateDetail('changeIssue', rule),
      async transform({ request, body, params }: Stage) {
        const { scope, ...question } = rule
        const actor = await admit(context, request, { scope, isOfRepository: true })
        if (!actor) throw unauthorized()
        const { repo, ...issue } = await issueForChange(context, actor, { request, ...issueParams(params) }, question)
        pass(request, body, { actor, repo, issue })
      },
      resolve: ({ request }: { request: Request }) => ({
        actor: signedIn(request),
        repo: foundRepo(request),
        issue: foundIssue(request),
      }),
    }),
  })

function requireAdministrator(actor: Actor): void {
  if (!actor.user.isAdmin) throw forbidden('user should be the site admin')
  if (actor.publicOnly) throw forbidden('the token reaches public things only')
}

/** A password, or a session that began with one in the last hour: no token, and no browser that was left open. */
function requirePassword(context: Context, { method, session }: Actor): void {
  if (session ? !isRecentSignIn(context, session) : method !== 'password') throw unauthorized('auth required')
}

/** For rules that need another area than the gate's own, such as creating a repository for an organization. */
export { requireScopes }

function pass(request: Request, body: unknown, admitted: Admitted): void {
  refuseUnreadableBody(body)
  exchangeOf(request).admitted = admitted
}

function foundRepo(request: Request): RepositoryAccess {
  const { repo } = found(request)
  if (!repo) throw new Error('the gate of this route has no repository')
  return repo
}

function foundIssue(request: Request): VersionedIssue {
  const { issue } = found(request)
  if (!issue) throw new Error('the gate of this route has no issue')
  return issue
}

function foundOrg(request: Request): OrganizationAccess {
  const { org } = found(request)
  if (!org) throw new Error('the gate of this route has no organization')
  return org
}

function foundTeam(request: Request): TeamAccess {
  const { team } = found(request)
  if (!team) throw new Error('the gate of this route has no team')
  return team
}

function foundAccount(request: Request): Account {
  const { account } = found(request)
  if (!account) throw new Error('the gate of this route has no account')
  return account
}

function textParam(params: Params, name: string): string {
  const value = params?.[name]
  if (value === undefined) throw new Error(`the route has no parameter ${name}`)
  return value
}

const issueParams = (params: Params) => ({ ...repositoryParams(params), index: textParam(params, 'index') })

const repositoryParams = (params: Params) => ({ owner: textParam(params, 'owner'), name: textParam(params, 'repo') })
