import type { Message, PushPart } from './message.ts'
import { textOf } from './text.ts'

/** Body for a WeCom (WeChat Work) robot: Markdown of its own kind, with quotes and three colours. */
export function wechatworkBody(message: Message) {
  return {
    msgtype: 'markdown',
    text: { content: '', mentioned_list: null, mentioned_mobile_list: null },
    markdown: { content: content(message) },
  }
}

function content(message: Message): string {
  const { event, push, title, url, body } = message
  if (push) return pushed(push)
  const text = textOf(message)
  if ('comment' in event.payload && 'issue' in event.payload) {
    return ` >${font('info', text)}\n >${body} \n >${font('warning', title ?? '')} \n [${url}](${url})`
  }
  if ('issue' in event.payload) {
    return ` >${font('info', text)}\n >${body} \n >${font('warning', ` ${title}`)} \n [${url}](${url})`
  }
  if ('pull_request' in event.payload) {
    if (title === undefined) return `# ${text}\r\n\r\n >${body}`
    const quoted = [font('info', ` ${text} `), font('comment', `${title} `), font('comment', `${body} `)]
    return `> ${quoted.join(' \r\n > ')} \r\n`
  }
  return text
}

const font = (shade: 'info' | 'warning' | 'comment', text: string): string => `<font color="${shade}">${text}</font>`

function pushed({ repository, branch, commits }: PushPart): string {
  const lines = commits.map(({ id, url, message, author }) => {
    const text = message.replace(/\n\n/g, '\r\n')
    const whole = text.endsWith('\n') ? text : `${text}\n`
    return ` > [${id.slice(0, 7)}](${url}) \r\n >${font('info', whole)} \n >${font('warning', `Author: ${author.name}`)}`
  })
  return `# ${repository.text}:${branch} ${font('warning', '    ')}\r\n\r\n${lines.join('\n')}`
}
