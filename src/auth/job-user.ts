import { DEFAULT_THEME, type UserRow } from '../../db/schema/users.ts'

/** Wire: jobs act as this account of the family. It has no row: nobody signs in as it, and nothing can be given to it. */
export const jobUser: UserRow = {
  ...{ id: -2, kind: 'user', name: 'gitea-actions', lowerName: 'gitea-actions', fullName: 'Gitea Actions', email: '' },
  ...{ keepEmailPrivate: true, description: '', location: '', website: '', language: '', visibility: 'public' },
  ...{ avatar: '', theme: DEFAULT_THEME, diffViewStyle: '', hideActivity: true, repoAdminChangeTeamAccess: false },
  ...{ passwordHash: '', mustChangePassword: false, loginName: '', sourceId: null, lastLoginAt: null },
  // Restricted: of what it was not given it reads the public part.
  ...{ isAdmin: false, isActive: true, isRestricted: true, prohibitLogin: false },
  ...{ maxRepoCreation: 0, allowCreateOrganization: false, allowGitHook: false, allowImportLocal: false },
  ...{ followersCount: 0, followingCount: 0, starsCount: 0, repositoriesCount: 0 },
  ...{ createdAt: new Date(0), updatedAt: new Date(0) },
}
