/** The groups of operations, in the order that readers need them. */
export const groupWords: Readonly<Record<string, string>> = {
  repository: 'Repositories, their files and branches, releases, webhooks and Actions',
  issue: 'Issues, comments, labels and milestones',
  user: 'Accounts, and what people do with their own',
  organization: 'Organizations and their teams',
  notification: 'What one wants to hear of',
  settings: 'What this site allows',
  miscellaneous: 'The service itself, its texts and its rendering',
  admin: 'For administrators of the site',
}
