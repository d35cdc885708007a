import type { ScopeArea } from '../../auth/scopes.ts'

/** The areas of scopes in plain words, for whoever has to decide about them. */
export const scopeWords: Readonly<Record<ScopeArea, string>> = {
  activitypub: 'Other servers (ActivityPub)',
  admin: 'Administration of the site',
  misc: 'Templates, rendering and other helpers',
  notification: 'Notifications',
  organization: 'Organizations and teams',
  package: 'Packages',
  issue: 'Issues, labels and milestones',
  repository: 'Repositories',
  user: 'The account: profile, addresses, keys',
}
