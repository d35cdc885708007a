import { setDefaultTimeout } from 'bun:test'

// Real git, real PostgreSQL, two busy cores: five seconds, Bun's default, would fail tests that only had to wait.
setDefaultTimeout(60_000)
