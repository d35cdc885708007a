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
    '/search': async () =>
      Response.json(
        await sql`select r.*, u.* from repositories r join users u on u.id = r.owner_id
          where not r.is_private and u.visibility = 'public' order by r.lower_name, r.id limit 50`,
      ),
  },
})
process.stdout.write(`http://localhost:${server.port}\n`)
