import { expect, test } from 'bun:test'
import { parseContext, parseMode } from '../../src/render/context.ts'
import { linksOf } from '../../src/render/html/links.ts'
import { sanitize } from '../../src/render/html/sanitize.ts'
import { markupOf } from '../../src/render/markup/by-extension.ts'
import { BASE, render } from './support.ts'

const RAW = { mode: 'comment', context: 'alice/r' } as const

test.each([
  [
    'a mention of somebody',
    '@alice',
    `<a href="${BASE}/alice" data-markdown-generated-content="" rel="nofollow">@alice</a>`,
  ],
  [
    'a mention in another case',
    '@ALICE',
    `<a href="${BASE}/alice" data-markdown-generated-content="" rel="nofollow">@ALICE</a>`,
  ],
  [
    'a mention with a dropped tag in it',
    'by @al<font>ice</font>',
    `by <a href="${BASE}/alice" data-markdown-generated-content="" rel="nofollow">@alice</a>`,
  ],
  [
    'an address with a dropped tag in it',
    'ww<font>w.a.example</font>',
    '<a href="http://www.a.example" data-markdown-generated-content="" rel="nofollow">www.a.example</a>',
  ],
  ['a mention of nobody', '@nobody', '@nobody'],
  ['a mention in code', '`@alice`', '<code>@alice</code>'],
  ['a mention in a link', '[@alice](x)', `<a href="${BASE}/alice/r/x" rel="nofollow">@alice</a>`],
  ['a mention within a word', 'a@alice', 'a@alice'],
  ['an unknown issue', '#99', '#99'],
  [
    'a pull request',
    '!2',
    `<a href="${BASE}/alice/r/pulls/2" data-markdown-generated-content="" class="ref-issue" rel="nofollow">!2</a>`,
  ],
  ['an issue elsewhere', 'bob/x#1', 'bob/x#1'],
  ['a word that looks like a commit', 'deadbeef', 'deadbeef'],
  ['an emoji', ':tada: :nothing:', '<span class="emoji" aria-label="tada">🎉</span> :nothing:'],
  ['a time of day', '10:30:45', '10:30:45'],
  ['a formula', '$x_1$', '<code class="language-math">x_1</code>'],
  ['money', 'from $5 to $6', 'from $5 to $6'],
  ['a color', '`#0af`', '<code>#0af<span style="background-color: #0af"></span></code>'],
  ['a link within the text', '[x](#there)', '<a href="#user-content-there" rel="nofollow">x</a>'],
])('%s', async (_name, source, html) => {
  expect(await render(source, RAW)).toBe(`<p dir="auto">${html}</p>\n`)
})

test('a commit that exists is shortened to a link', async () => {
  const sha = '65f1bf27bc3bf70f64657658635e66094edbcb4d'
  const href = `${BASE}/alice/r/commit/${sha}`
  expect(await render(sha, RAW)).toContain(`<a href="${href}" data-markdown-generated-content="" class="commit"`)
  expect(await render(sha, RAW)).toContain('<code>65f1bf27bc</code>')
  expect(await render(`It came with ${sha}.`, RAW)).toContain('<code>65f1bf27bc</code></a>.')
  const elsewhere = await render(`(alice/r@${sha}) bob/x@${sha}`, { mode: 'comment', context: 'alice/other' })
  expect(elsewhere).toContain(`(<a href="${href}" data-markdown-generated-content="" class="commit"`)
  expect(elsewhere).toContain(`<code>alice/r@65f1bf27bc</code></a>) bob/x@${sha}`)
})

test('headings of documents have unique ids, those of comments none', async () => {
  const source = "# What's new? Ünï_code\n\n# What's new? Ünï_code"
  const html = await render(source, { mode: 'file' })
  expect(html).toContain('<h1 id="user-content-whats-new-ünï_code">')
  expect(html).toContain('<h1 id="user-content-whats-new-ünï_code-1">')
  expect(await render(source, RAW)).not.toContain('id=')
})

test.each([
  ['---\na: 1\n---\nbody', true],
  ['---\nnot yaml: [\n---\nbody', false],
  ['---\njust text\n---\nbody', false],
  ['text\n---\na: 1\n---', false],
])('of %j only a head of YAML values becomes a table', async (source, isTable) => {
  expect((await render(source)).startsWith('<details>')).toBe(isTable)
})

test('the place of a task is told in bytes of the source as it came', async () => {
  const source = '---\r\na: é\r\n---\r\n\r\n> - [ ] é one\r\n> - [x] two\r\n'
  const places = [...(await render(source)).matchAll(/data-source-position="(\d+)"/g)].map(([, at]) => Number(at))
  const bytes = Buffer.from(source)
  expect(places.map((at) => bytes.subarray(at, at + 3).toString())).toEqual(['[ ]', '[x]'])
})

test.each([
  ['js', 'class A', '<span class="hljs-keyword">class</span> <span class="hljs-title class_">A</span>'],
  [
    'ruby',
    '\'a\' "#{1}<"',
    '<span class="hljs-string">&#34;<span class="hljs-subst">#{<span class="hljs-number">1</span>}</span>&lt;&#34;</span>',
  ],
  [
    'html',
    '<script>if</script>',
    '&gt;</span><span class="language-javascript"><span class="hljs-keyword">if</span></span>',
  ],
  ['ruby', '"#{', '<span class="hljs-string">&#34;<span class="hljs-subst">#{\n</span></span></code>'],
])('code in %s such as %j is colored', async (language, code, colored) => {
  expect(await render(`\`\`\`${language}\n${code}\n\`\`\``, { mode: 'file' })).toContain(colored)
})

test('code is colored by its language and diagrams are left to the page', async () => {
  const html = await render('```go\nfunc x() {}\n```\n\n```mermaid\ngraph TD\n```\n\n```nosuch\n<x>\n```', {
    mode: 'file',
  })
  expect(html).toContain('<span class="hljs-keyword">func</span>')
  expect(html).toContain('<code class="language-mermaid">graph TD\n</code>')
  expect(html).toContain('<code class="language-nosuch">&lt;x&gt;\n</code>')
})

test.each([
  ['comment', '', 'a.md', `${BASE}/alice/r/a.md`],
  ['file', '/src/branch/main/docs', 'a.md', `${BASE}/alice/r/src/branch/main/docs/a.md`],
  ['file', '/src/branch/main/docs', '../a.md?x=1#y', `${BASE}/alice/r/src/branch/main/a.md?x=1#y`],
  ['file', '/src/branch/main/docs', './b/', `${BASE}/alice/r/src/branch/main/docs/b/`],
  ['file', '', '../../../../../../etc', `${BASE}/alice/r/etc`],
  ['wiki', '', 'Home', `${BASE}/alice/r/wiki/Home`],
  ['comment', '', '../up.md', `${BASE}/alice/r/up.md`],
  ['comment', '', '/bob/x', `${BASE}/alice/r/bob/x`],
  ['gfm', '/src/branch/main', '/../../../../bob/x', `${BASE}/alice/r/bob/x`],
  ['gfm', '/src/branch/main', '..%2f..%2F..%2fup.md', `${BASE}/alice/r/up.md`],
  ['gfm', '/src/branch/main', '%2e%2E/.%2e/%2e./up.md', `${BASE}/alice/r/up.md`],
  ['gfm', '/src/branch/main', '..\\..\\..\\up.md', `${BASE}/alice/r/up.md`],
  ['gfm', '/src/branch/main', '..%5c..\\../up.md', `${BASE}/alice/r/up.md`],
  ['gfm', '/src/branch/main', 'a%2fb.md', `${BASE}/alice/r/src/branch/main/a%2fb.md`],
  ['gfm', '/src/../../../bob', 'x', `${BASE}/alice/r/bob/x`],
  ['wiki', '', '../../../up', `${BASE}/alice/r/up`],
  ['gfm', '', 'mailto:a@b.c', 'mailto:a@b.c'],
  ['gfm', '', '//other.example/x', '//other.example/x'],
] as const)('in mode %s below %j the link %j leads to %j', (mode, folder, link, expected) => {
  const context = parseContext({ baseUrl: BASE, mode, context: `alice/r${folder}`, isWiki: false })
  expect(linksOf(context).link(link)).toBe(expected)
})

test.each(['../..', 'a', 'a/..', '//x', 'http://a/b', 'a b/c'])('%j is no repository', (context) => {
  expect(parseContext({ baseUrl: BASE, mode: 'gfm', context, isWiki: false }).repo).toBeUndefined()
})

test('a base address with a path keeps it', () => {
  const context = parseContext({ baseUrl: 'https://h/git', mode: 'comment', context: 'a/b', isWiki: false })
  expect(linksOf(context).link('x')).toBe('https://h/git/a/b/x')
})

test('modes and forms are known by name', () => {
  expect(['', 'markdown', 'gfm', 'comment', 'wiki', 'file', 'x'].map(parseMode)).toEqual([
    'markdown',
    'markdown',
    'gfm',
    'comment',
    'wiki',
    'file',
    undefined,
  ])
  expect(['a.MD', 'a.org', 'a.csv', 'a', 'a.constructor', ''].map(markupOf)).toEqual([
    'markdown',
    'org',
    'csv',
    undefined,
    undefined,
    undefined,
  ])
})

test.each([
  ['<li>x</li>', 'x'],
  ['<ul><li>a<li>b</ul>', '<ul><li>a</li><li>b</li></ul>'],
  ['<table><td>x</table>', '<table><td>x</td></table>'],
  ['<b>x', '<b>x</b>'],
  ['</b>x</div>', 'x'],
  ['<a href=x>a<a href=y>b</a></a>', '<a href="x" rel="nofollow">a</a><a href="y" rel="nofollow">b</a>'],
  ['<input type=text><input><input type=checkbox>', '<input type="checkbox" disabled="">'],
  ['<font color=red>x</font>', 'x'],
  ['<p style="color:red;position:fixed">x</p>', '<p style="color: red">x</p>'],
  ['a < b && c > d "e"', 'a &lt; b &amp;&amp; c &gt; d &#34;e&#34;'],
  ['<img src="data:image/png;base64,x" alt=y>', ''],
  ['<a href="ftp://a/b">x</a>', '<a href="ftp://a/b" rel="nofollow">x</a>'],
  ['<svg><b>x</b></svg>y', 'y'],
  ['<ul><li><object><div><li>x', '<ul><li></li></ul>'],
  ['<ul><li><article><div><li>x', '<ul><li><div>x</div></li></ul>'],
  ['<pre>\n\nx</pre>', '<pre>\n\nx</pre>'],
  ['<a href="HTTPS://a/\tb">x</a>', '<a href="https://a/b" rel="nofollow">x</a>'],
  ['<table><tbody title=x><tr><td>x</table>', '<table><tbody title="x"><tr><td>x</td></tr></tbody></table>'],
  ['<b>x</b><<b>y</b><<b>', '<b>x</b>&lt;<b>y</b>&lt;<b></b>'],
  ['<b title="1">x</b><b title="1>2">y</b><b title="1>', '<b title="1">x</b><b title="1&gt;2">y</b>'],
  ['<i>x</i><xmp><i title="</xmp>"><i>y</i>', '<i>x</i>&#34;&gt;<i>y</i>'],
  ['<B>x</B ><b>y</b\n></ b><b>z</b a="">', '<b>x</b><b>y</b><b>z</b>'],
  ['a &quot;b&quot; &amp;lt; &lt c', 'a &#34;b&#34; &amp;lt; &lt; c'],
  ['x</b y', 'xy'],
  ['x<b y/', 'x/'],
])('%j is cleaned to %j', (html, clean) => {
  expect(sanitize(html, { isPlain: true })).toBe(clean)
})

test('Org mode becomes headings, lists, tables, code and links', async () => {
  const source =
    '* One\ntext *b* /i/ =v=\n- a\n- b\n** Two\n#+begin_src js\nlet a\n#+end_src\n| x | y |\n|---+---|\n| 1 | 2 |\n[[https://a.example][link]]\n'
  const html = await render(source, { mode: 'file', markup: 'org' })
  for (const piece of [
    '<a href="#user-content-headline-2" rel="nofollow">Two</a>',
    '<h2 id="user-content-headline-1">\nOne\n</h2>',
    '<h3 id="user-content-headline-2">',
    '<b>b</b> <em>i</em> <code>v</code>',
    '<li>a</li>',
    '<span class="hljs-keyword">let</span>',
    '<th>x</th>',
    '<td>2</td>',
    '<a href="https://a.example" rel="nofollow">link</a>',
  ])
    expect(html).toContain(piece)
})

test('reStructuredText becomes headings, code, alerts, tables, footnotes and links', async () => {
  const source = [
    'Title\n=====\n\n*i* **b** ``v`` `link <https://a.example>`_ ref_ :func:`f` :doc:`Other <x>` [1]_',
    '.. _ref: https://ref.example',
    '.. code-block:: js\n\n    let a',
    'Shell::\n\n    $ <ls>',
    '.. warning:: Hot\n\n.. unheard-of:: x\n\n   Shown.',
    '.. include:: /etc/passwd\n\n.. raw:: html\n\n   <b>raw</b>',
    '==  ==\na   b\n==  ==\n1   2\n==  ==',
    '.. image:: pic.png\n   :alt: A picture',
    '.. [1] Foot.',
  ].join('\n\n')
  const html = await render(source, { mode: 'file', markup: 'rst', context: 'alice/r/src/branch/main' })
  for (const piece of [
    '<h1 id="user-content-title">',
    '<em>i</em> <strong>b</strong> <code>v</code>',
    '<a href="https://a.example" rel="nofollow">link</a>',
    '<a href="https://ref.example" rel="nofollow">ref</a>',
    '<code>f</code> Other',
    '<span class="hljs-keyword">let</span>',
    '<pre>$ &lt;ls&gt;</pre>',
    '<blockquote class="alert alert-warning">',
    'Shown.',
    '<th>',
    `src="${BASE}/alice/r/media/branch/main/pic.png"`,
    'id="user-content-footnotedef-1"',
  ])
    expect(html).toContain(piece)
  expect(html).not.toMatch(/root:|<b>raw/)
  const broken = await render('x\n=\n\n|nobody| `gone`_', { mode: 'file', markup: 'rst' })
  expect(broken).toContain('gone')
})

test('AsciiDoc reads no file and keeps its form', async () => {
  const html = await render('= T\n\ninclude::/etc/passwd[]\n\n== S\n\nx *b*', { mode: 'file', markup: 'asciidoc' })
  expect(html).toContain('<h1>T</h1>')
  expect(html).toContain('<strong>b</strong>')
  expect(html).not.toContain('root:')
})
