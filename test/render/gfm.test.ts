import { expect, test } from 'bun:test'
import { render } from './support.ts'

const link = (href: string, text = href) =>
  `<a href="${href}" data-markdown-generated-content="" rel="nofollow">${text}</a>`
const mail = (address: string) => `<a href="mailto:${address}" rel="nofollow">${address}</a>`
const bare = (html: string) => html.replace(/<p dir="auto">(.*)<\/p>\n/s, '$1')

/** GFM 6.9, autolinks without angle brackets: a text and what it becomes. */
test.each([
  ['www.example.com', link('http://www.example.com', 'www.example.com')],
  ['see www.example.com/help now', `see ${link('http://www.example.com/help', 'www.example.com/help')} now`],
  ['Visit www.example.com.', `Visit ${link('http://www.example.com', 'www.example.com')}.`],
  ['www.example.com/a.b.', `${link('http://www.example.com/a.b', 'www.example.com/a.b')}.`],
  ['www.x.com/s?q=Markup+(b)', link('http://www.x.com/s?q=Markup+(b)', 'www.x.com/s?q=Markup+(b)')],
  ['www.x.com/s?q=Markup+(b)))', `${link('http://www.x.com/s?q=Markup+(b)', 'www.x.com/s?q=Markup+(b)')}))`],
  ['(www.x.com/s?q=Markup+(b))', `(${link('http://www.x.com/s?q=Markup+(b)', 'www.x.com/s?q=Markup+(b)')})`],
  ['www.x.com/s?q=(a))+ok', link('http://www.x.com/s?q=(a))+ok', 'www.x.com/s?q=(a))+ok')],
  ['www.x.com/s?q=a&hl;', `${link('http://www.x.com/s?q=a', 'www.x.com/s?q=a')}&amp;hl;`],
  ['www.x.com/he<lp', `${link('http://www.x.com/he', 'www.x.com/he')}&lt;lp`],
  ['http://example.com', link('http://example.com')],
  ['(Visit https://a.example/x?b=c!)', `(Visit ${link('https://a.example/x?b=c')}!)`],
  ['*https://a.example/*', `<em>${link('https://a.example/')}</em>`],
  ['https://a_b.example.com', link('https://a_b.example.com')],
  ['https://example.a_b', 'https://example.a_b'],
  ['https://localhost:3000/x', link('https://localhost:3000/x')],
  ['https://', 'https://'],
  ['xhttps://a.example', 'xhttps://a.example'],
  ['me@bar.example', mail('me@bar.example')],
  ['mailto:me@bar.example.', `${link('mailto:me@bar.example').replace(' data-markdown-generated-content=""', '')}.`],
  ['amailto:me@bar.example', `amailto:${mail('me@bar.example')}`],
  [
    'xmpp:me@bar.example/x@y.z/w mailto:me@bar.example/x',
    '<a href="xmpp:me@bar.example/x@y.z" rel="nofollow">xmpp:me@bar.example/x@y.z</a>/w ' +
      '<a href="mailto:me@bar.example" rel="nofollow">mailto:me@bar.example</a>/x',
  ],
  [
    'hello@mail+xyz.example is not, hello+xyz@mail.example is',
    `hello@mail+xyz.example is not, ${mail('hello+xyz@mail.example')} is`,
  ],
  ['a.b-c_d@a.b', mail('a.b-c_d@a.b')],
  ['a.b-c_d@a.b.', `${mail('a.b-c_d@a.b')}.`],
  ['a.b-c_d@a.b-', 'a.b-c_d@a.b-'],
  ['a.b-c_d@a.b_', 'a.b-c_d@a.b_'],
  [
    '`https://a.example` [https://b.example](c)',
    `<code>https://a.example</code> <a href="http://localhost:3000/c" rel="nofollow">https://b.example</a>`,
  ],
])('the text %j links itself', async (source, html) => {
  expect(bare(await render(source, { mode: 'comment' }))).toBe(html)
})

const row = (cells: string[], tag = 'td') =>
  `<tr>\n${cells.map((cell) => `<${tag}>${cell}</${tag}>\n`).join('')}</tr>\n`
const table = (head: string[], ...rows: string[][]) =>
  `<table>\n<thead>\n${row(head, 'th')}</thead>\n${rows.length ? `<tbody>\n${rows.map((cells) => row(cells)).join('')}</tbody>\n` : ''}</table>\n`

/** GFM 4.10, 5.3, 6.5 and 6.11. */
test.each([
  ['a table', '| a | b |\n| --- | --- |\n| c | d |', table(['a', 'b'], ['c', 'd'])],
  ['a table without outer bars', 'a | b\n--- | ---\nc | d', table(['a', 'b'], ['c', 'd'])],
  ['an escaped bar in code', '| f\\|o |\n| - |\n| b `\\|` z |', table(['f|o'], ['b <code>|</code> z'])],
  [
    'a table that a quote ends',
    '| a |\n| - |\n| b |\n> c',
    `${table(['a'], ['b'])}<blockquote>\n<p dir="auto">c</p>\n</blockquote>\n`,
  ],
  ['a head with another number of cells', '| a | b |\n| --- |\n| c |', '<p dir="auto">| a | b |\n| --- |\n| c |</p>\n'],
  ['missing and surplus cells', '| a | b |\n| - | - |\n| c |\n| d | e | f |', table(['a', 'b'], ['c', ''], ['d', 'e'])],
  ['a table without body', '| a |\n| - |', table(['a'])],
  ['struck text', '~~Hi~~ there', '<p dir="auto"><del>Hi</del> there</p>\n'],
  ['struck text with one tilde', '~Hi~ there a~b~c', '<p dir="auto"><del>Hi</del> there a<del>b</del>c</p>\n'],
  ['no strike between one and two', '~a~~ b', '<p dir="auto">~a~~ b</p>\n'],
  ['no strike across paragraphs', 'a ~~b\n\nc~~ d', '<p dir="auto">a ~~b</p>\n<p dir="auto">c~~ d</p>\n'],
  ['no strike with three signs', 'a ~~~b~~~ c', '<p dir="auto">a ~~~b~~~ c</p>\n'],
  [
    'a nested task list',
    '- [x] a\n  - [ ] b',
    '<ul dir="auto">\n<li><input type="checkbox" disabled="" data-source-position="2" checked="">a\n<ul>\n' +
      '<li><input type="checkbox" disabled="" data-source-position="12">b</li>\n</ul>\n</li>\n</ul>\n',
  ],
  ['no task without a text', '- [ ]\n- [x]', '<ul dir="auto">\n<li>[ ]</li>\n<li>[x]</li>\n</ul>\n'],
])('%s', async (_name, source, html) => {
  expect(await render(source)).toBe(html)
})
