import type { Message } from './message.ts'
import { commitLines, textOf } from './text.ts'

const LINK = 'dingtalk://dingtalkclient/page/link?pc_slide=false&url='

const noCard = { text: '', title: '', hideAvatar: '', btnOrientation: '', singleTitle: '', singleURL: '', btns: null }

/** Body for a DingTalk robot: a card with one button, or a text where a click would lead nowhere. */
export function dingtalkBody(message: Message) {
  const isText = message.url === ''
  return {
    msgtype: isText ? 'text' : 'actionCard',
    text: { content: isText ? textOf(message) : '' },
    link: { text: '', title: '', picUrl: '', messageUrl: '' },
    markdown: { text: '', title: '' },
    actionCard: isText ? noCard : card(message),
    feedCard: { links: null },
    at: { atMobiles: null, isAtAll: false },
  }
}

function card(message: Message) {
  const { push, title, body, button, url, event } = message
  const text = textOf(message)
  const showsBody = body !== '' && event.type !== 'release' && event.type !== 'wiki'
  return {
    text: push ? commitLines(push, '\r\n') : showsBody ? `${text}\r\n\r\n${body}` : text,
    title: push ? `[${push.repository.text}:${push.branch}] ${push.count}` : (title ?? text),
    hideAvatar: '0',
    btnOrientation: '',
    singleTitle: button,
    singleURL: `${LINK}${encodeURIComponent(url)}`,
    btns: null,
  }
}
