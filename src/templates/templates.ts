import { join } from 'node:path'
import { GITIGNORES } from './gitignore-files.ts'
import { LABEL_SETS, type LabelTemplate, parseLabelSet } from './label-sets.ts'
import { licenseTexts } from './license-texts.ts'
import { ownFiles } from './own-files.ts'

export interface ReadmeVars {
  name: string
  description: string
  owner: string
  cloneUrl: string
  sshUrl: string
}

/** What a new repository can start with. An operator's file replaces the built-in one of the same name. */
export interface Templates {
  listGitignores(): Promise<string[]>
  gitignore(name: string): Promise<string | undefined>
  /** SPDX identifiers, and the names of the operator's files. */
  listLicenses(): Promise<string[]>
  /** The text with its blanks unfilled; `fillLicense` fills them. */
  license(key: string): Promise<string | undefined>
  listLabelSets(): Promise<string[]>
  labelSet(name: string): Promise<LabelTemplate[] | undefined>
  /** The text for README.md; undefined when there is no template of that name. */
  readme(name: string, vars: ReadmeVars): Promise<string | undefined>
}

/** `dir` holds the operator's folders `gitignore`, `license`, `label` and `readme`; none of them needs to exist. */
export function createTemplates({ dir }: { dir: string }): Templates {
  const own = {
    gitignore: ownFiles(join(dir, 'gitignore'), ['.gitignore']),
    license: ownFiles(join(dir, 'license'), ['.txt']),
    label: ownFiles(join(dir, 'label'), ['.yaml', '.yml']),
    readme: ownFiles(join(dir, 'readme'), ['.md']),
  }
  const labelSet = async (name: string) => {
    const file = await own.label.read(name)
    return (file && parseLabelSet(file.text, file.ending)) ?? builtInLabels(name)
  }
  return {
    listGitignores: async () => merged(GITIGNORES.keys(), await own.gitignore.names()),
    gitignore: async (name) => withUnixLines((await own.gitignore.read(name))?.text ?? GITIGNORES.get(name)),
    listLicenses: async () => merged((await licenseTexts()).keys(), await own.license.names()),
    license: async (key) => (await own.license.read(key))?.text ?? (await licenseTexts()).get(key),
    async listLabelSets() {
      const names = await own.label.names()
      const sets = await Promise.all(names.map(labelSet))
      const usable = names.filter((_, index) => sets[index] !== undefined)
      return merged(Object.keys(LABEL_SETS), usable)
    },
    labelSet,
    async readme(name, vars) {
      const file = await own.readme.read(name)
      if (file) return fillReadme(file.text, vars)
      return name === 'Default' ? defaultReadme(vars) : undefined
    },
  }
}

/** Git takes a carriage return for a part of the pattern, which then matches nothing; the package has them in every line. */
const withUnixLines = (text: string | undefined): string | undefined => text?.replace(/\r\n?/g, '\n')

const merged = (builtIn: Iterable<string>, own: string[]): string[] => [...new Set([...builtIn, ...own])].sort()

function builtInLabels(name: string): LabelTemplate[] | undefined {
  const set = Object.hasOwn(LABEL_SETS, name) ? LABEL_SETS[name] : undefined
  return set?.map((label) => ({ ...label }))
}

/** Wire: clients compare the file byte by byte; nothing comes after the description, not even the end of its line. */
const defaultReadme = ({ name, description }: ReadmeVars): string => `# ${name}\n\n${description}`

/** The placeholders are Gitea's, so that its operators can bring their files along. */
function fillReadme(text: string, vars: ReadmeVars): string {
  const blanks: Record<string, string> = {
    Name: vars.name,
    Description: vars.description,
    OwnerName: vars.owner,
    'CloneURL.HTTPS': vars.cloneUrl,
    'CloneURL.SSH': vars.sshUrl,
  }
  return text.replace(/\{([A-Za-z.]+)\}/g, (blank, word: string) => blanks[word] ?? blank)
}
