// The package for programs that use the API. `bun run build:client` puts the types of the operations beside it.
export { type Answer, type CallOptions, type Refusal, RefusedError } from './answer.ts'
export { type ClientOptions, createClient } from './client.ts'
export { everyItem, everyPage } from './pages.ts'
