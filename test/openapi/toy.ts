import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'
import type { Unit } from '../../src/access/units.ts'
import type { GateRule } from '../../src/http/openapi/audience.ts'
import { gateDetail } from '../../src/http/openapi/gates.ts'
import { queryInteger, queryList } from '../../src/http/query.ts'

const User = t.Object({ id: t.Integer(), login: t.String(), email: t.Nullable(t.String()) }, { $id: 'User' })

const Label = t.Object(
  { name: t.String(), kind: t.Nullable(t.Union([t.Literal('open'), t.Literal('closed')])) },
  { $id: 'Label', additionalProperties: false },
)

const Thing = t.Object(
  {
    id: Type.Integer({ exclusiveMinimum: 0 }),
    owner: User,
    reviewer: t.Nullable(User),
    labels: t.Array(Label),
    units: t.Record(t.String(), t.String()),
    pair: t.Tuple([t.String(), t.Number()]),
    size: t.Optional(t.Integer({ minimum: 1 })),
    made_at: t.Optional(t.Date()),
    nothing: t.Optional(t.Null()),
    color: t.Literal('red', { description: 'Always red.', error: 'wrong color' }),
  },
  { $id: 'Thing', description: 'A thing.' },
)

const Node = t.Recursive((Self) => t.Object({ name: t.String(), children: t.Array(Self) }), { $id: 'Node' })

const CreateThing = t.Object({ name: t.String({ examples: ['one'] }), owner: t.Optional(User) }, { $id: 'CreateThing' })

const gate = new Elysia({ name: 'toy-gate' }).macro({
  open: { detail: gateDetail('open') },
  login: { detail: gateDetail('login') },
  readRepo: (rule: { unit?: Unit; login?: boolean }) => ({ detail: gateDetail('readRepo', rule) }),
  changeRepo: (rule: GateRule) => ({ detail: gateDetail('changeRepo', rule) }),
})

const never = (): never => {
  throw new Error('the toy answers nothing')
}

const things = new Elysia({ prefix: '/api/v1/repos/:owner/:repo', detail: { tags: ['thing'] } })
  .use(gate)
  .get('/things', never, {
    readRepo: { unit: 'repo.code' },
    query: t.Object({
      page: t.Optional(t.Integer()),
      q: t.Optional(t.String({ description: 'Part of the name.' })),
      state: t.Optional(t.UnionEnum(['open', 'closed'], { default: undefined })),
      all: t.Optional(t.BooleanString()),
      limit: queryInteger({ description: 'Items on a page.' }),
      sort: queryList({ enum: ['name', 'size'] }),
    }),
    response: { 200: t.Array(Thing) },
    detail: { operationId: 'listThings', summary: 'List things', 'x-list': 'links' },
  })
  .post('/things', never, {
    changeRepo: { unit: 'repo.issues', level: 'write', scope: 'issue' },
    body: CreateThing,
    response: { 201: Thing },
    detail: { operationId: 'createThing', summary: 'Make a thing', 'x-refuses': [409] },
  })
  .get('/things/:id', never, {
    readRepo: {},
    params: t.Object({ owner: t.String(), repo: t.String(), id: t.Numeric() }),
    response: Thing,
    detail: { operationId: 'getThing', summary: 'Get a thing', 'x-parameters': { id: 'thing_id' } },
  })
  .patch('/things/:id', never, {
    changeRepo: {},
    body: t.Optional(CreateThing),
    response: { 200: Thing },
    detail: {
      ...{ operationId: 'editThing', summary: 'Edit a thing', 'x-parameters': { id: 'thing_id' } },
      'x-refuses-as-text': [400],
    },
  })
  .delete('/things/:id', never, {
    changeRepo: {},
    response: { 204: t.Void() },
    detail: { operationId: 'removeThing', summary: 'Remove a thing', 'x-parameters': { id: 'thing_id' } },
  })
  .get('/raw/*', never, {
    readRepo: { unit: 'repo.code' },
    response: { 200: t.String({ format: 'binary' }) },
    detail: {
      ...{ operationId: 'rawFile', summary: 'Get a file', 'x-parameters': { '*': 'filepath' } },
      'x-produces': 'application/octet-stream',
    },
  })
  .get('/commits/:sha', never, {
    readRepo: { unit: 'repo.code', login: true },
    query: t.Object({ stat: queryInteger() }),
    response: { 200: Node },
    detail: {
      ...{ operationId: 'getCommit', summary: 'Get a commit' },
      'x-variants': [
        {
          ...{ suffix: '.{diffType}', values: ['diff', 'patch'], produces: 'text/plain' },
          ...{ operationId: 'getCommitDiff', summary: 'Get the change of a commit' },
        },
      ],
    },
  })

const misc = new Elysia({ prefix: '/api/v1', detail: { tags: ['miscellaneous'] } })
  .use(gate)
  .get('/version', () => ({ version: '1' }), {
    open: true,
    response: { 200: t.Object({ version: t.String() }, { $id: 'ServerVersion' }) },
    detail: { operationId: 'getVersion', summary: 'Get the version' },
  })
  .get('/user', never, {
    login: true,
    response: { 200: User },
    detail: { operationId: 'getUser', summary: 'Get the caller' },
  })
  .get('/rendered', never, {
    open: true,
    response: { 200: t.String({ format: 'binary' }) },
    detail: { operationId: 'getPageText', summary: 'Get a page', 'x-produces': 'text/html' },
  })
  .get('/secret', never, { detail: { hide: true } })

/** A small application with one route for each thing the pass over the document has to do. */
export const toy = () =>
  new Elysia()
    .get('/page', () => 'not the API')
    .use(things)
    .use(misc)
