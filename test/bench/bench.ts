// `bun run bench [webhooks] [options]`: see README.md.
await import(process.argv[2] === 'webhooks' ? './webhooks.ts' : './run.ts')

export {}
