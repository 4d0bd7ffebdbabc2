// Asks the server whether the draft would run. Debounced; an answer to an older question is dropped.

const PAUSE_MS = 250;

export class Checker {
  /** `ask(body)` -> Promise of the check's JSON; `onAnswer({check}|{error})`; `onPending()` when one is due. */
  constructor(ask, { onAnswer, onPending }) {
    this.ask = ask;
    this.onAnswer = onAnswer;
    this.onPending = onPending;
    this.newest = 0;
    this.timer = null;
  }

  due(body, pause = PAUSE_MS) {
    clearTimeout(this.timer);
    const turn = ++this.newest;
    this.onPending();
    this.timer = setTimeout(async () => {
      let answer;
      try {
        answer = { check: await this.ask(body) };
      } catch (error) {
        answer = { error };
      }
      if (turn === this.newest) this.onAnswer(answer);
    }, pause);
  }
}
