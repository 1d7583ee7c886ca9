// Asks paths of the API again and again, each in its own time.
//
// A feed is {path: () => text, every: milliseconds}. What is as before is a 304,
// and nobody is told. A feed that fails is asked more and more seldom. One that
// this token may not see is not asked again. Nothing is asked while the page is
// hidden, nor while a token is missing.

const LATEST_WAIT = 15000;
// A link that loses packets ends a request after minutes only.
const PATIENCE = 10000;
const FIRST_COUNT_WAIT = 2000;

let token = sessionStorage.getItem("token") ?? "";

export const hasToken = () => token !== "";

export function setToken(text) {
  token = text;
  if (text) sessionStorage.setItem("token", text);
  else sessionStorage.removeItem("token");
}

// {tag, view}, or {tag, same}. An error with a status is the coordinator's own
// sentence; one without is none of its.
export async function ask(path, tag) {
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  if (tag) headers["If-None-Match"] = tag;
  const response = await fetch(path,
      {headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE)});
  if (response.status === 304) return {tag, same: true};
  const view = await response.json();
  if (!response.ok) {
    throw Object.assign(new Error(view.error), {status: response.status});
  }
  return {tag: response.headers.get("ETag"), view};
}

export class Feeds {
  // listener: changed(name, view), locked(why), and linked(errors), of all
  // feeds that failed when they were asked last.
  constructor(feeds, listener) {
    this.feeds = feeds;
    this.listener = listener;
    this.isLocked = false;
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && !this.isLocked) this.refreshAll();
    });
  }

  refreshAll() {
    this.isLocked = false;
    return Promise.all(Object.keys(this.feeds).map((it) => this.refresh(it)));
  }

  async refresh(name) {
    const feed = this.feeds[name];
    clearTimeout(feed.timer);
    feed.turn = (feed.turn ?? 0) + 1;
    const turn = feed.turn;
    const path = feed.path();
    let wait = feed.every;
    let answer = {same: true};
    try {
      answer = await ask(path, path === feed.asked ? feed.tag : null);
      if (turn !== feed.turn) return;  // asked again meanwhile
      Object.assign(feed,
          {asked: path, tag: answer.tag, failures: 0, error: null});
      if (answer.view?.counted === null) wait = FIRST_COUNT_WAIT;
    } catch (error) {
      if (turn !== feed.turn) return;
      if (error.status === 401) return this.lock(error.message);
      feed.failures = (feed.failures ?? 0) + 1;
      Object.assign(feed, {tag: null, error});
      wait = Math.min(LATEST_WAIT, feed.every * 2 ** feed.failures);
    }
    if (!answer.same) this.listener.changed(name, answer.view);
    this.listener.linked(
        Object.values(this.feeds).map((it) => it.error).filter(Boolean));
    if (document.hidden || feed.error?.status === 403) return;
    feed.timer = setTimeout(() => this.refresh(name), wait);
  }

  lock(why) {
    this.isLocked = true;
    for (const feed of Object.values(this.feeds)) {
      clearTimeout(feed.timer);
      feed.turn = (feed.turn ?? 0) + 1;
    }
    this.listener.locked(why);
  }
}
