import { isRecord, readYaml } from './read-yaml.ts'
import type { IssueConfig } from './schema.ts'

export type ReadConfig = { config: IssueConfig; fault?: undefined } | { config?: undefined; fault: string }

/** Wire: what holds where there is no file, or one that is not valid. */
export const DEFAULT_CONFIG: IssueConfig = { blank_issues_enabled: true, contact_links: [] }

/** Reads `config.yaml`. Keys that mean nothing are passed over. */
export function readConfig(text: string): ReadConfig {
  const read = readYaml(text)
  if (!read) return { fault: 'the file is no YAML' }
  if (read.value === null || read.value === undefined) return { config: DEFAULT_CONFIG }
  if (!isRecord(read.value)) return { fault: 'the file holds no settings' }
  const { blank_issues_enabled: blank = true, contact_links: links = [] } = read.value
  if (typeof blank !== 'boolean') return { fault: 'blank_issues_enabled is neither true nor false' }
  if (!Array.isArray(links)) return { fault: 'contact_links is no list' }
  const contact_links: IssueConfig['contact_links'] = []
  for (const [index, link] of links.entries()) {
    const { name, url, about } = isRecord(link) ? link : {}
    const fault = faultOfLink({ name, url, about })
    if (fault !== undefined || typeof name !== 'string' || typeof url !== 'string' || typeof about !== 'string')
      return { fault: `contact_links[${index}]: ${fault}` }
    contact_links.push({ name, url, about })
  }
  return { config: { blank_issues_enabled: blank, contact_links } }
}

function faultOfLink({ name, url, about }: Record<'name' | 'url' | 'about', unknown>): string | undefined {
  for (const [key, value] of Object.entries({ name, url, about }))
    if (typeof value !== 'string' || value === '') return `${key} is missing`
  // It is shown as a link: nothing but a web page may be behind it.
  return typeof url === 'string' && /^https?:\/\//i.test(url) && URL.canParse(url) ? undefined : 'url is no web address'
}
