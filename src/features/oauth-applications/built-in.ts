import type { Context } from '../../context.ts'
import { replaceBuiltIn } from './store.ts'

/** Wire: programs carry these client ids, so that they work with every server of the Gitea API without being registered. */
const BUILT_IN = {
  'git-credential-oauth': 'a4792ccc-144e-407e-86c9-5e7d8d9c3269',
  'git-credential-manager': 'e90ee53c-94e2-48ac-9358-a874fb9e0662',
  tea: 'd57cb8c4-630c-4168-8324-ec79935e18d4',
} as const

const NAMES: Readonly<Record<string, string>> = { 'git-credential-manager': 'Git Credential Manager' }

/** Brings the rows of the built-in applications to what this version, and OAUTH2_DEFAULT_APPLICATIONS, say. */
export async function provideBuiltInApplications({ db, config }: Context): Promise<void> {
  const wanted = Object.entries(BUILT_IN).filter(([word]) => config.oauth2DefaultApplications.includes(word))
  const applications = wanted.map(([word, clientId]) => ({
    clientId,
    name: NAMES[word] ?? word,
    isConfidential: false,
    redirectUris: ['http://127.0.0.1', 'https://127.0.0.1'],
  }))
  await db.transaction((tx) => replaceBuiltIn(tx, applications))
}
