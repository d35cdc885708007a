import type { UserRow } from '../../../db/schema/users.ts'
import type { Context } from '../../context.ts'
import type { InitialCommit, NewFile } from '../../git/model.ts'
import { invalid } from '../../kernel/errors.ts'
import { areAddressesOf } from '../../signatures/addresses.ts'
import type { LabelTemplate } from '../../templates/label-sets.ts'
import { fillLicense } from '../../templates/license-notice.ts'
import { noreplyAddress } from '../../wire/user.ts'
import type { CreateRepoOption } from './schema.ts'

/** What a new repository begins with beside its row. */
export interface Beginning {
  commit: InitialCommit | undefined
  licenses: string[]
  labels: LabelTemplate[]
}

interface People {
  creator: UserRow
  owner: UserRow
}

/**
 * Makes the first files and labels from the templates. Wire: names of file templates count with `auto_init` only.
 * @throws Refusal 422 naming a template that does not exist
 */
export async function prepareBeginning(context: Context, people: People, option: CreateRepoOption): Promise<Beginning> {
  const labels = await labelsOf(context, option.issue_labels)
  if (!option.auto_init) return { commit: undefined, licenses: [], labels }
  const files = await Promise.all([
    readmeOf(context, people, option),
    gitignoreOf(context, option.gitignores),
    licenseOf(context, people, option),
  ])
  const present = files.filter((file) => file !== undefined)
  const { creator } = people
  const signature = signatureOf(context, creator)
  const isOwn = await areAddressesOf(context, creator, [signature.email])
  return {
    commit: {
      files: present,
      author: signature,
      committer: signature,
      message: 'Initial commit\n',
      sign: isOwn ? context.signing.key?.sign : undefined,
    },
    licenses: option.license ? [option.license] : [],
    labels,
  }
}

function signatureOf({ clock, config }: Context, user: UserRow) {
  const email = user.keepEmailPrivate ? noreplyAddress(user, config) : user.email
  return { name: user.fullName.trim() || user.name, email, date: clock.now() }
}

async function labelsOf({ templates }: Context, name: string | undefined): Promise<LabelTemplate[]> {
  if (!name) return []
  const set = await templates.labelSet(name)
  if (!set) throw invalid(`failed to load label template file "${name}": label template "${name}" not found`)
  return set
}

async function readmeOf(context: Context, { owner }: People, option: CreateRepoOption): Promise<NewFile> {
  const template = option.readme || 'Default'
  const path = `${owner.name}/${option.name}.git`
  const content = await context.templates.readme(template, {
    name: option.name,
    description: option.description ?? '',
    owner: owner.name,
    cloneUrl: `${context.baseUrl}/${path}`,
    sshUrl: `${context.sshRoot}${path}`,
  })
  if (content === undefined) throw invalid(`there is no readme template "${template}"`, 'readme')
  return { path: 'README.md', content }
}

async function gitignoreOf({ templates }: Context, wanted = ''): Promise<NewFile | undefined> {
  const names = wanted
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (names.length === 0) return undefined
  const parts = await Promise.all(
    [...new Set(names)].map(async (name) => {
      const text = await templates.gitignore(name)
      if (text === undefined) throw invalid(`there is no gitignore template "${name}"`, 'gitignores')
      // Wire: an empty line ends each part, the last one too; clients compare the file.
      return `# ---> ${name}\n${text.trimEnd()}\n\n`
    }),
  )
  return { path: '.gitignore', content: parts.join('') }
}

async function licenseOf(
  { templates, clock }: Context,
  { owner }: People,
  { license, name }: CreateRepoOption,
): Promise<NewFile | undefined> {
  if (!license) return undefined
  const text = await templates.license(license)
  if (text === undefined) throw invalid(`there is no license template "${license}"`, 'license')
  const notice = { year: clock.now().getUTCFullYear(), holder: owner.fullName.trim() || owner.name, project: name }
  return { path: 'LICENSE', content: fillLicense(license, text, notice) }
}
