import { escapeHtml } from '../kernel/html.ts'

/** No script, nothing from elsewhere, in no frame; forms go to this service only. */
const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

export interface Page {
  title: string
  /** HTML, with everything in it escaped that is a text. */
  main: string
  status?: number
  /** `no-store` without it. */
  cacheControl?: string
}

/** A whole page of plain HTML. */
export function htmlPage({ title, main, status = 200, cacheControl = 'no-store' }: Page): Response {
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`
  return new Response(page, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': contentSecurityPolicy,
      'cache-control': cacheControl,
    },
  })
}
