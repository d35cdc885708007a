// `bun run bench [webhooks|oauth|repository|files] [options]`: see README.md.
switch (process.argv[2]) {
  case 'webhooks':
    await import('./webhooks.ts')
    break
  case 'oauth':
    await import('./oauth.ts')
    break
  case 'files':
    await import('./files.ts')
    break
  case 'repository':
    await import('./repository.ts')
    break
  default:
    await import('./run.ts')
}

export {}
