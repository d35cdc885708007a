// Threads for markdown alone: the libraries for other forms, 40 MB of them, are not loaded.

import { serveTasks } from '../threads/worker.ts'
import { renderMarkdown } from './markdown/markdown.ts'
import { type RenderTask, renderWith } from './render.ts'

serveTasks<RenderTask, string>((task) => renderWith((source, _, options) => renderMarkdown(source, options), task))
