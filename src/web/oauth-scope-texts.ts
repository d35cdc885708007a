import { type ScopeArea, scopeAreas } from '../auth/scopes.ts'

const CLAIMS: Readonly<Record<string, string>> = {
  openid: 'Know which account is yours.',
  profile: 'Know your name, your picture, your website and your language.',
  email: 'Know your e-mail address.',
  groups: 'Know the organizations and teams that you belong to, private ones too.',
}

const AREAS: Readonly<Record<ScopeArea, { read: string; write: string }>> = {
  activitypub: { read: 'Read federation data.', write: 'Read and send federation data.' },
  admin: {
    read: 'See everything that administrators see, if you are one.',
    write: 'Administer the whole site and act as anybody, if you are an administrator.',
  },
  misc: { read: 'Render texts and use templates.', write: 'Render texts and use templates.' },
  notification: { read: 'See your notifications.', write: 'See your notifications, and mark them as read.' },
  organization: {
    read: 'See your organizations and teams.',
    write: 'See and change your organizations and teams, and who belongs to them.',
  },
  package: { read: 'Download packages.', write: 'Download, publish and delete packages.' },
  issue: { read: 'See issues and pull requests.', write: 'Write issues, pull requests and comments.' },
  repository: {
    read: 'See and clone all your repositories, private ones too.',
    write: 'Change all your repositories, private ones too: push, create, set up and delete them.',
  },
  user: {
    read: 'See your profile, addresses, keys and settings.',
    write: 'Change your profile, addresses, keys and settings.',
  },
}

const CLASSIC: Readonly<Record<string, string>> = {
  repo: 'Change all your repositories, private ones too, and their issues: push, create, set up and delete them.',
  'repo:status': 'Report the state of commits.',
  public_repo: 'Change your public repositories and their issues.',
  'admin:repo_hook': 'Change who is notified of what happens in your repositories (webhooks).',
  'write:repo_hook': 'Change who is notified of what happens in your repositories (webhooks).',
  'read:repo_hook': 'See who is notified of what happens in your repositories (webhooks).',
  'admin:org': AREAS.organization.write,
  'write:org': AREAS.organization.write,
  'read:org': AREAS.organization.read,
  'admin:org_hook': 'Change who is notified of what happens in your organizations (webhooks).',
  'admin:public_key': 'Change your SSH keys.',
  'write:public_key': 'Change your SSH keys.',
  'read:public_key': 'See your SSH keys.',
  notification: AREAS.notification.write,
  user: AREAS.user.write,
  'user:email': 'See and change your e-mail addresses.',
  'user:follow': 'See and change whom you follow.',
  delete_repo: 'Delete your repositories.',
  package: AREAS.package.write,
  'delete:package': AREAS.package.write,
  'admin:gpg_key': 'Change your GPG keys.',
  'write:gpg_key': 'Change your GPG keys.',
  'read:gpg_key': 'See your GPG keys.',
  'admin:application': 'Change the applications that you have registered.',
  'write:application': 'Change the applications that you have registered.',
  'read:application': 'See the applications that you have registered.',
  sudo: AREAS.admin.write,
}

const BARE = 'Read what everybody can read: public profiles and public repositories.'

const EVERYTHING = 'Do everything that you can do here, in your name.'

/** What scopes allow, in sentences that somebody who has never heard of scopes understands. */
export function describeScopes(scopes: readonly string[]): string[] {
  const api = scopes.filter((word) => CLAIMS[word] === undefined)
  const limits = api.includes('public-only') ? ['All of it only for what is public.'] : []
  return [
    ...scopes.flatMap((word) => CLAIMS[word] ?? []),
    ...(api.length === 0 ? [BARE] : api.flatMap((word) => textOf(word) ?? [])),
    ...limits,
  ]
}

/** Whether what the scopes allow can do harm in every part of the site. */
export const isEverything = (scopes: readonly string[]): boolean =>
  scopes.some((word) => word === 'all' || word === 'sudo' || word === 'write:admin')

function textOf(word: string): string | undefined {
  if (word === 'all') return EVERYTHING
  const [level, name] = word.split(':')
  const area = scopeAreas.find((known) => known === name)
  if (area !== undefined && (level === 'read' || level === 'write')) return AREAS[area][level]
  return CLASSIC[word]
}
