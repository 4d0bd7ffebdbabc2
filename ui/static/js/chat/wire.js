// The chat's routes as the page uses them: the stream of an ask line by line, and stored turns in the shape of live ones.
import * as api from '../api.js';

const JUDGES = ['accuracy', 'math', 'exact', 'choice', 'code', 'sql']; // rewards whose full score means a right answer

export const sides = (run) => api.get(api.address('/api/chat/sides', { run }));
export const state = () => api.get('/api/chat/state');
export const free = () => api.post('/api/chat/free');
export const problem = (run, index) => api.get(api.address('/api/chat/problem', { run, index }));
export const chats = () => api.get('/api/chat/chats');
export const chat = (id) => api.get(`/api/chat/chats/${encodeURIComponent(id)}`);
export const forget = (id) => api.del(`/api/chat/chats/${encodeURIComponent(id)}`);
export const exportAddress = (id) => `/api/chat/chats/${encodeURIComponent(id)}/export`;

function lost(error) {
  if (error.name === 'AbortError') throw error;
  throw new api.ApiError(0, { en: 'The server does not answer.', ko: '서버가 응답하지 않습니다.' }, null);
}

/** What an ask sends, from a request of the page. */
function asked(request) {
  const { settings, left, right, chat: id, run, index, prompt, system } = request;
  const body = { left, right: right ?? null, chat: id ?? null, system: system || null, raw: Boolean(settings.raw),
    temperature: settings.temperature, top_p: settings.top_p, max_new_tokens: settings.max_tokens, seed: settings.seed, n: settings.n };
  if (run) body.run = run;
  if (index === null || index === undefined) return { ...body, prompt, ground_truth: request.ground_truth || null };
  return { ...body, index };
}

/** Ask both sides; `onEvent(event)` for every line. Ends with the stream; `signal` ends it earlier (AbortError). */
export async function ask(request, onEvent, signal) {
  const options = { method: 'POST', signal, headers: { 'Content-Type': 'application/json', ...api.HEADERS }, body: JSON.stringify(asked(request)) };
  const response = await fetch('/api/chat/ask', options).catch(lost);
  if (!response.ok) {
    const body = await response.json().catch(() => null);
    throw new api.ApiError(response.status, body?.error ?? { en: `The server answered ${response.status}.`, ko: `서버가 ${response.status}로 응답했습니다.` }, body);
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read().catch(lost);
    if (done) break;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line.trim()) onEvent(normal(JSON.parse(line)));
  }
  if (rest.trim()) onEvent(normal(JSON.parse(rest)));
}

/** Ask the process to end an answer; what has come of it comes back through the stream. */
export const stop = (id) => api.post('/api/chat/stop', { ask: id });

/** Log-probability of each token of an answer under both sides. */
export function logprobs(turn, { side, sample, answer }) {
  if (turn.id !== null) return api.post('/api/chat/logprobs', { chat: turn.chat, turn: turn.id, side, sample });
  return api.post('/api/chat/logprobs', { ...asked(turn.request), completion: answer.text });
}

function normal(event) {
  if (event.type !== 'answer') return event;
  return { ...event, ...answer(event) };
}

/** An answer as the page shows it. */
function answer(event) {
  const rewards = Object.entries(event.scores ?? {}).map(([name, one]) => ({ name, score: one.score ?? null, extracted: one.extracted ?? null, reason: one.reason ?? null }));
  const judge = rewards.find(({ name, score }) => JUDGES.includes(name) && score !== null);
  return {
    sample: event.sample ?? 0,
    text: event.completion ?? event.text ?? '',
    tokens: event.tokens ?? null,
    eos: event.eos ?? null,
    seconds: event.seconds ?? null,
    stopped: Boolean(event.stopped),
    opened: event.answer === null && Boolean(event.reasoning) && !/<think|<reasoning|<thought/i.test(event.completion ?? ''),
    rewards,
    total: event.total ?? null,
    correct: event.correct === undefined ? (judge ? judge.score >= 1 : null) : event.correct,
  };
}

/** {system, prompt}: messages without the system prompt that they begin with. */
export function parts(prompt) {
  if (!Array.isArray(prompt) || prompt[0]?.role !== 'system') return { system: null, prompt };
  return { system: prompt[0].content, prompt: prompt.slice(1) };
}

/** A stored turn: {id, at, request, left: {weights, ..., samples}, right, warnings}. */
export function turn({ id, at, turn: kept }) {
  const settings = kept.settings ?? {};
  const read = { id, at, warnings: kept.warnings ?? [] };
  const { system, prompt } = parts(kept.prompt);
  read.request = {
    prompt, system, run: kept.run ?? null, index: kept.index ?? null, ground_truth: kept.ground_truth ?? null,
    settings: { temperature: settings.temperature ?? 0, top_p: settings.top_p ?? 1, max_tokens: settings.max_new_tokens ?? null, seed: settings.seed ?? 0, n: settings.n ?? 1, raw: Boolean(kept.raw) },
  };
  for (const side of ['left', 'right']) {
    const who = kept.sides?.[side];
    if (!who) continue;
    read.request[side] = who.side;
    const samples = (kept.answers ?? []).filter((one) => one.side === side).map(answer).sort((a, b) => a.sample - b.sample);
    read[side] = { ...who, samples };
  }
  return read;
}
