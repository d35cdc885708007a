// The floor that answers are compared with: the same statements through Bun.serve and postgres.js alone.
import { connect } from '../../db/connect.ts'

const sql = connect(process.argv[2] ?? '', { max: 8 })

const server = Bun.serve({
  port: 0,
  routes: {
    '/version': () => Response.json({ version: '1.26.0' }),
    '/user/:hash': async ({ params }) =>
      Response.json(
        await sql`select t.*, u.* from access_tokens t join users u on u.id = t.user_id where t.token_hash = ${params.hash}`,
      ),
    '/repos/:owner/:name': async ({ params }) =>
      Response.json(
        await sql`select r.*, u.* from repositories r join users u on u.id = r.owner_id
          where u.lower_name = ${params.owner} and r.lower_name = ${params.name}`,
      ),
    '/repos/:owner/:name/issues': {
      POST: async (request) => {
        const { title, body }: { title: string; body: string } = await request.json()
        const [repository] = await sql<{ id: string; ownerId: string }[]>`
          select r.*, u.*, r.id as id, u.id as "ownerId" from repositories r join users u on u.id = r.owner_id
          where u.lower_name = ${request.params.owner} and r.lower_name = ${request.params.name}`
        if (repository === undefined) return new Response(null, { status: 404 })
        const { id, ownerId } = repository
        // The event counts as told: what others do about it is no part of the floor.
        const made = await sql`
          with taken as (
            update repository_counters set last_issue_number = last_issue_number + 1
            where repository_id = ${id} returning last_issue_number as number),
          made as (
            insert into issues (repository_id, number, poster_id, title, body)
            select ${id}::bigint, number, ${ownerId}::bigint, ${title}::text, ${body}::text from taken returning *),
          told as (
            insert into events (kind, actor_id, repository_id, owner_id, payload, fanned_out_at)
            select 'issue.created', ${ownerId}::bigint, ${id}::bigint, ${ownerId}::bigint,
              jsonb_build_object('issueId', id, 'number', number, 'isPull', false), now() from made)
          select * from made`
        return Response.json(made, { status: 201 })
      },
    },
    '/search': async () =>
      Response.json(
        await sql`select r.*, u.* from repositories r join users u on u.id = r.owner_id
          where not r.is_private and u.visibility = 'public' order by r.lower_name, r.id limit 50`,
      ),
  },
})
process.stdout.write(`http://localhost:${server.port}\n`)
