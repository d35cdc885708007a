/** Wire: a path that no route has is a plain 404. */
export const missingRoute = (): Response =>
  new Response('404 page not found\n', { status: 404, headers: { 'content-type': 'text/plain;charset=utf-8' } })
