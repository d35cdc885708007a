import type { JsonObject } from '../json.ts'

/** A picture of one point. */
const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const patch = [
  'diff --git a/greeting.txt b/greeting.txt',
  'new file mode 100644',
  '--- /dev/null',
  '+++ b/greeting.txt',
  '@@ -0,0 +1 @@',
  '+hello',
  '',
].join('\n')

/** A body for each model that is sent, which works where the things exist that it names. A test sends them all. */
export const exampleBodies: Readonly<Record<string, JsonObject>> = {
  // People.
  CreateAccessTokenOption: { name: 'laptop', scopes: ['read:repository', 'write:issue'] },
  CreateOAuth2ApplicationOptions: {
    name: 'Dashboard',
    redirect_uris: ['https://app.example.org/callback'],
    confidential_client: true,
  },
  UserSettingsOptions: { full_name: 'Ann Example', location: 'Utrecht', hide_email: true },
  ChangePasswordOption: { new_password: 'wrong donkey charger' },
  CreateEmailOption: { emails: ['ann@example.org'] },
  SetPrimaryEmailOption: { email: 'ann@example.org' },
  DeleteEmailOption: { emails: ['ann@example.org'] },
  CreateKeyOption: {
    title: 'workshop',
    key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBbgdWEuRR2LJQJoaLRU4mUeL7o6DOKnNVRdTWN7hLhX ann@workshop',
  },
  UpdateUserAvatarOption: { image },

  // Organizations.
  CreateOrgOption: { username: 'guild', full_name: 'The guild', visibility: 'limited' },
  EditOrgOption: { full_name: 'The old guild', location: 'Utrecht' },
  RenameOrgOption: { new_name: 'company' },
  CreateTeamOption: { name: 'writers', permission: 'write', units: ['repo.code', 'repo.issues'] },
  EditTeamOption: { name: 'authors', description: 'They write' },

  // Repositories.
  CreateRepoOption: { name: 'tools', description: 'Small things', private: true, auto_init: true },
  EditRepoOption: { description: 'Small and useful things', website: 'https://example.org' },
  GenerateRepoOption: { owner: 'club', name: 'from-template', git_content: true },
  CreateForkOption: { name: 'tools-of-mine' },
  MergeUpstreamRequest: { branch: 'main' },
  TransferRepoOption: { new_owner: 'ann' },
  MigrateRepoOptions: { clone_addr: 'https://git.example.org/ann/tools.git', repo_name: 'tools', mirror: true },
  RetryMigrationOption: { auth_token: '79ea2b8d...' },
  CreatePushMirrorOption: {
    remote_address: 'https://git.example.org/ann/copy.git',
    interval: '8h0m0s',
    sync_on_commit: true,
  },
  UpdateRepoAvatarOption: { image },
  RepoTopicOptions: { topics: ['git', 'tools'] },
  AddCollaboratorOption: { permission: 'write' },

  // Branches, tags and releases.
  CreateBranchRepoOption: { new_branch_name: 'feature/door', old_ref_name: 'main' },
  RenameBranchRepoOption: { name: 'trunk' },
  UpdateBranchRepoOption: { new_commit_id: '1f0c8b1c1a6ea8f3a5b5f0c9c1d2e3f4a5b6c7d8' },
  CreateBranchProtectionOption: { rule_name: 'release/*', enable_push: true, required_approvals: 1 },
  EditBranchProtectionOption: { required_approvals: 2 },
  UpdateBranchProtectionPriories: { ids: [2, 1] },
  CreateTagOption: { tag_name: 'v1.0', message: 'The first', target: 'main' },
  CreateTagProtectionOption: { name_pattern: 'stable-*', whitelist_usernames: ['ann'] },
  EditTagProtectionOption: { name_pattern: 'stable-[0-9]*' },
  CreateReleaseOption: { tag_name: 'v1.0', name: 'One', body: 'It opens doors.', target_commitish: 'main' },
  EditReleaseOption: { name: 'One, at last' },
  CreateStatusOption: {
    ...{ state: 'success', context: 'ci/build', description: 'Built in 7 s' },
    target_url: 'https://ci.example.org/builds/1',
  },

  // Files. `aGVsbG8=` is `hello`.
  CreateFileOptions: { content: 'aGVsbG8=', message: 'Say hello' },
  UpdateFileOptions: {
    ...{ content: 'aGVsbG8gYWdhaW4=', message: 'Say it again' },
    sha: 'b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0',
  },
  DeleteFileOptions: { message: 'Be quiet', sha: '5fc3a27876f4d94b666562d74b62627d33879aa1' },
  ChangeFilesOptions: {
    message: 'Two files at once',
    files: [
      { operation: 'create', path: 'docs/one.txt', content: 'b25l' },
      { operation: 'create', path: 'docs/two.txt', content: 'dHdv' },
    ],
  },
  GetFilesOptions: { files: ['README.md'] },
  ApplyDiffPatchFileOptions: { message: 'A greeting', content: patch },
  CreateWikiPageOptions: { title: 'How to install', content_base64: 'aGVsbG8=', message: 'The first page' },
  MarkdownOption: { Text: '# Hello' },
  MarkupOption: { Text: '# Hello', Mode: 'file', FilePath: 'README.md' },

  // Issues.
  CreateIssueOption: { title: 'The door squeaks', body: 'Since Monday.' },
  EditIssueOption: { title: 'The back door squeaks' },
  CreateIssueCommentOption: { body: 'Some oil will do.' },
  EditIssueCommentOption: { body: 'A little oil will do.' },
  CreateLabelOption: { name: 'help wanted', color: '#00aabb', description: 'Whoever has time' },
  EditLabelOption: { color: '#ee0701' },
  IssueLabelsOption: { labels: ['bug'] },
  CreateMilestoneOption: { title: '1.0', due_on: '2030-01-01T00:00:00Z' },
  EditMilestoneOption: { state: 'closed' },
  LockIssueOption: { lock_reason: 'Resolved' },
  EditDeadlineOption: { due_date: '2030-01-01T00:00:00Z' },
  IssueMeta: { owner: 'ann', repo: 'tools', index: 2 },
  AddTimeOption: { time: 3600 },
  EditReactionOption: { content: '+1' },
  EditAttachmentOptions: { name: 'door.txt' },

  // Webhooks and Actions.
  CreateHookOption: {
    type: 'gitea',
    config: { url: 'https://ci.example.org/hook', content_type: 'json' },
    events: ['push'],
    active: true,
  },
  EditHookOption: { events: ['push', 'issues'], active: false },
  EditGitHookOption: { content: '#!/bin/sh\nexit 0\n' },
  CreateActionWorkflowDispatch: { ref: 'main' },
  CreateOrUpdateSecretOption: { data: 'open sesame', description: 'Of the registry' },
  CreateVariableOption: { value: 'https://registry.example.org' },
  UpdateVariableOption: { value: 'https://packages.example.org' },
  EditActionRunnerOption: { disabled: true },

  // Administrators.
  CreateUserOption: {
    ...{ username: 'bob', email: 'bob@example.org', password: 'correct horse battery' },
    must_change_password: true,
  },
  EditUserOption: { source_id: 0, login_name: 'bob', full_name: 'Bob Example' },
  RenameUserOption: { new_username: 'robert' },
  CreateBadgeOption: { slug: 'helper', description: 'Helps others' },
  EditBadgeOption: { description: 'Helps everybody' },
  UserBadgeOption: { badge_slugs: ['helper'] },
}
