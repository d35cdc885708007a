// Written by `bun run db:generate`.
import m0000 from './0000_extensions.sql' with { type: 'text' }
import m0001 from './0001_foundation.sql' with { type: 'text' }
import m0002 from './0002_request_windows.sql' with { type: 'text' }
import m0003 from './0003_repositories.sql' with { type: 'text' }
import m0004 from './0004_repository_counters.sql' with { type: 'text' }
import m0005 from './0005_audit_and_avatars.sql' with { type: 'text' }
import m0006 from './0006_organization_rules.sql' with { type: 'text' }
import m0007 from './0007_follow_counters.sql' with { type: 'text' }
import m0008 from './0008_events_outbox.sql' with { type: 'text' }
import m0009 from './0009_hooks_and_activity.sql' with { type: 'text' }
import m0010 from './0010_upkeep.sql' with { type: 'text' }
import m0011 from './0011_issue_search.sql' with { type: 'text' }
import m0012 from './0012_account_messages.sql' with { type: 'text' }
import m0013 from './0013_email_confirmations.sql' with { type: 'text' }
import m0014 from './0014_gpg_keys.sql' with { type: 'text' }
import m0015 from './0015_email_search.sql' with { type: 'text' }
import m0016 from './0016_freed_names.sql' with { type: 'text' }
import m0017 from './0017_sign_in_addresses.sql' with { type: 'text' }
import m0018 from './0018_list_orders.sql' with { type: 'text' }
import m0019 from './0019_withheld_people.sql' with { type: 'text' }
import m0020 from './0020_notifications.sql' with { type: 'text' }
import m0021 from './0021_token_lookup.sql' with { type: 'text' }
import m0022 from './0022_unlogged_login_failures.sql' with { type: 'text' }
import m0023 from './0023_default_theme.sql' with { type: 'text' }
import m0024 from './0024_instance_key.sql' with { type: 'text' }
import m0025 from './0025_repository_counters.sql' with { type: 'text' }
import m0026 from './0026_job_queue.sql' with { type: 'text' }
import m0027 from './0027_public_counts.sql' with { type: 'text' }
import m0028 from './0028_webhook_deliveries.sql' with { type: 'text' }
import m0029 from './0029_webhook_deliveries_unused.sql' with { type: 'text' }
import m0030 from './0030_hidden_people.sql' with { type: 'text' }
import m0031 from './0031_oauth.sql' with { type: 'text' }
import m0032 from './0032_sessions.sql' with { type: 'text' }
import m0033 from './0033_webhooks_due.sql' with { type: 'text' }
import m0034 from './0034_account_links.sql' with { type: 'text' }
import m0035 from './0035_oauth_requests.sql' with { type: 'text' }
import m0036 from './0036_proven_addresses.sql' with { type: 'text' }
import m0037 from './0037_protections.sql' with { type: 'text' }
import m0038 from './0038_passkeys.sql' with { type: 'text' }
import m0039 from './0039_repository_transfers.sql' with { type: 'text' }
import m0040 from './0040_releases.sql' with { type: 'text' }
import m0041 from './0041_releases_counted.sql' with { type: 'text' }
import m0042 from './0042_oauth_device_codes.sql' with { type: 'text' }
import m0043 from './0043_statuses.sql' with { type: 'text' }
import m0044 from './0044_mirrors.sql' with { type: 'text' }
import m0045 from './0045_deploy_keys.sql' with { type: 'text' }
import m0046 from './0046_unused_keys.sql' with { type: 'text' }
import m0047 from './0047_pushes_new_refs.sql' with { type: 'text' }
import m0048 from './0048_target_branches.sql' with { type: 'text' }
import m0049 from './0049_actions_values.sql' with { type: 'text' }
import m0050 from './0050_wikis.sql' with { type: 'text' }
import m0051 from './0051_migration_contents.sql' with { type: 'text' }
import m0052 from './0052_newest_refs.sql' with { type: 'text' }
import m0053 from './0053_attachments.sql' with { type: 'text' }
import m0054 from './0054_attachments_removed.sql' with { type: 'text' }
import m0055 from './0055_actions.sql' with { type: 'text' }
import m0056 from './0056_external_sign_in.sql' with { type: 'text' }
import m0057 from './0057_lfs.sql' with { type: 'text' }
import m0058 from './0058_lfs_counted.sql' with { type: 'text' }
import m0059 from './0059_reactions.sql' with { type: 'text' }
import m0060 from './0060_counters_in_order.sql' with { type: 'text' }
import m0061 from './0061_actions_run_texts.sql' with { type: 'text' }
import m0062 from './0062_actions_run_payloads_gone.sql' with { type: 'text' }
import m0063 from './0063_issue_history.sql' with { type: 'text' }
import m0064 from './0064_issue_files.sql' with { type: 'text' }
import m0065 from './0065_issue_dependencies.sql' with { type: 'text' }
import m0066 from './0066_migration_files.sql' with { type: 'text' }
import m0067 from './0067_attachment_bytes.sql' with { type: 'text' }
import m0068 from './0068_actions_attempts.sql' with { type: 'text' }
import m0069 from './0069_tracked_times.sql' with { type: 'text' }
import m0070 from './0070_issue_texts.sql' with { type: 'text' }
import m0071 from './0071_actions_turns.sql' with { type: 'text' }
import m0072 from './0072_pins.sql' with { type: 'text' }
import m0073 from './0073_actions_standing.sql' with { type: 'text' }
import m0074 from './0074_issue_references.sql' with { type: 'text' }
import m0075 from './0075_actions_artifacts.sql' with { type: 'text' }
import m0076 from './0076_actions_open.sql' with { type: 'text' }
import m0077 from './0077_actions_outcomes.sql' with { type: 'text' }
import m0078 from './0078_issue_changes.sql' with { type: 'text' }
import m0079 from './0079_actions_artifact_files.sql' with { type: 'text' }

export interface Migration {
  name: string
  sql: string
}

/** In the order in which they run. A released file never changes: databases remember its hash. */
export const migrations: readonly Migration[] = [
  { name: '0000_extensions', sql: m0000 },
  { name: '0001_foundation', sql: m0001 },
  { name: '0002_request_windows', sql: m0002 },
  { name: '0003_repositories', sql: m0003 },
  { name: '0004_repository_counters', sql: m0004 },
  { name: '0005_audit_and_avatars', sql: m0005 },
  { name: '0006_organization_rules', sql: m0006 },
  { name: '0007_follow_counters', sql: m0007 },
  { name: '0008_events_outbox', sql: m0008 },
  { name: '0009_hooks_and_activity', sql: m0009 },
  { name: '0010_upkeep', sql: m0010 },
  { name: '0011_issue_search', sql: m0011 },
  { name: '0012_account_messages', sql: m0012 },
  { name: '0013_email_confirmations', sql: m0013 },
  { name: '0014_gpg_keys', sql: m0014 },
  { name: '0015_email_search', sql: m0015 },
  { name: '0016_freed_names', sql: m0016 },
  { name: '0017_sign_in_addresses', sql: m0017 },
  { name: '0018_list_orders', sql: m0018 },
  { name: '0019_withheld_people', sql: m0019 },
  { name: '0020_notifications', sql: m0020 },
  { name: '0021_token_lookup', sql: m0021 },
  { name: '0022_unlogged_login_failures', sql: m0022 },
  { name: '0023_default_theme', sql: m0023 },
  { name: '0024_instance_key', sql: m0024 },
  { name: '0025_repository_counters', sql: m0025 },
  { name: '0026_job_queue', sql: m0026 },
  { name: '0027_public_counts', sql: m0027 },
  { name: '0028_webhook_deliveries', sql: m0028 },
  { name: '0029_webhook_deliveries_unused', sql: m0029 },
  { name: '0030_hidden_people', sql: m0030 },
  { name: '0031_oauth', sql: m0031 },
  { name: '0032_sessions', sql: m0032 },
  { name: '0033_webhooks_due', sql: m0033 },
  { name: '0034_account_links', sql: m0034 },
  { name: '0035_oauth_requests', sql: m0035 },
  { name: '0036_proven_addresses', sql: m0036 },
  { name: '0037_protections', sql: m0037 },
  { name: '0038_passkeys', sql: m0038 },
  { name: '0039_repository_transfers', sql: m0039 },
  { name: '0040_releases', sql: m0040 },
  { name: '0041_releases_counted', sql: m0041 },
  { name: '0042_oauth_device_codes', sql: m0042 },
  { name: '0043_statuses', sql: m0043 },
  { name: '0044_mirrors', sql: m0044 },
  { name: '0045_deploy_keys', sql: m0045 },
  { name: '0046_unused_keys', sql: m0046 },
  { name: '0047_pushes_new_refs', sql: m0047 },
  { name: '0048_target_branches', sql: m0048 },
  { name: '0049_actions_values', sql: m0049 },
  { name: '0050_wikis', sql: m0050 },
  { name: '0051_migration_contents', sql: m0051 },
  { name: '0052_newest_refs', sql: m0052 },
  { name: '0053_attachments', sql: m0053 },
  { name: '0054_attachments_removed', sql: m0054 },
  { name: '0055_actions', sql: m0055 },
  { name: '0056_external_sign_in', sql: m0056 },
  { name: '0057_lfs', sql: m0057 },
  { name: '0058_lfs_counted', sql: m0058 },
  { name: '0059_reactions', sql: m0059 },
  { name: '0060_counters_in_order', sql: m0060 },
  { name: '0061_actions_run_texts', sql: m0061 },
  { name: '0062_actions_run_payloads_gone', sql: m0062 },
  { name: '0063_issue_history', sql: m0063 },
  { name: '0064_issue_files', sql: m0064 },
  { name: '0065_issue_dependencies', sql: m0065 },
  { name: '0066_migration_files', sql: m0066 },
  { name: '0067_attachment_bytes', sql: m0067 },
  { name: '0068_actions_attempts', sql: m0068 },
  { name: '0069_tracked_times', sql: m0069 },
  { name: '0070_issue_texts', sql: m0070 },
  { name: '0071_actions_turns', sql: m0071 },
  { name: '0072_pins', sql: m0072 },
  { name: '0073_actions_standing', sql: m0073 },
  { name: '0074_issue_references', sql: m0074 },
  { name: '0075_actions_artifacts', sql: m0075 },
  { name: '0076_actions_open', sql: m0076 },
  { name: '0077_actions_outcomes', sql: m0077 },
  { name: '0078_issue_changes', sql: m0078 },
  { name: '0079_actions_artifact_files', sql: m0079 },
]
