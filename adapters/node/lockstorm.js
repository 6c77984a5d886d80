'use strict';
// What adapters of lockstorm in Node share: the pipes, the clock, and what is known of an error.
//
// An adapter is an object with about and some of: open(request), attempt(request), release(hold), extend(hold), ask(hold), all
// of which may be async. An error is of unknown outcome, unless it is one of busy, notHeld, notSent. The protocol is
// docs/adapters.md.
const fs = require('fs');
const readline = require('readline');

const now = () => process.hrtime.bigint().toString(); // numbers end at 2^53

class Definite extends Error {
  constructor(answer, message) {
    super(message);
    this.answer = answer;
  }
}

const busy = (message) => new Definite('busy', message);
const notHeld = (message) => new Definite('not-held', message);
const notSent = (message) => new Definite('not-sent', message);

// need loads a module that Debian has for Node, or says how to get it. Node as others pack it looks elsewhere.
function need(module, name) {
  process.env.NODE_PATH = [process.env.NODE_PATH, '/usr/share/nodejs'].filter(Boolean).join(':');
  require('module').Module._initPaths();
  try {
    return require(module);
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    console.error(`the Node module ${module} is missing (Debian: apt-get install ${name})`);
    process.exit(69);
  }
}

// versionOf is the version of a module that was loaded by need.
const versionOf = (module) => require(`${module}/package.json`).version;

// pipe is the descriptor of one of lockstorm's pipes.
function pipe(name) {
  if (!/^[0-9]+$/.test(process.env[name] || '')) {
    console.error(`the environment variable ${name} does not contain the number of a file descriptor: do not start this adapter by hand; lockstorm starts it (--backend exec:cmd=FILE)`);
    process.exit(1);
  }
  return Number(process.env[name]);
}

const out = pipe('LOCKSTORM_OUT');
const say = (line) => fs.writeSync(out, JSON.stringify(line) + '\n');

let numbers = 0;
const going = new Map();

// wait tells what needs a go, and resolves to its number when that comes.
function wait(notice) {
  const n = ++numbers;
  const gone = new Promise((resolve) => going.set(n, () => resolve(n)));
  if (notice.notice === 'point') notice.source = (/[^/\\(]+:\d+(?=:\d+\)?$)/m.exec(new Error().stack.split('\n')[2]) || [''])[0]; // the report shows this line
  say({ ...notice, n });
  return gone;
}

const lost = (hold, message) => say({ notice: 'lost', hold, message });

function serve(adapter) {
  const holds = new Map();
  const calls = {
    hello: () => ({ about: adapter.about }),
    ping: () => ({ now: now() }),
    open: (r) => adapter.open(r),
    try: async (r) => {
      const [hold, more] = await adapter.attempt(r);
      holds.set(r.id, hold);
      return { answer: 'granted', ...more };
    },
    release: (r) => adapter.release(holds.get(r.hold)),
    extend: adapter.extend && ((r) => adapter.extend(holds.get(r.hold))),
    ask: adapter.ask && (async (r) => ({ held: Boolean(await adapter.ask(holds.get(r.hold))) })),
  };
  const answer = async (r) => {
    const id = r.id;
    if (!calls[r.op]) return say({ id, answer: 'unsupported' });
    try {
      say({ id, answer: 'ok', ...(await calls[r.op](r)) });
    } catch (error) {
      if (!(error instanceof Definite)) console.error(error);
      say({ id, answer: error.answer || 'error', message: String(error.message || error) });
    }
  };
  const lines = readline.createInterface({ input: fs.createReadStream(null, { fd: pipe('LOCKSTORM_IN') }) });
  lines.on('line', (text) => {
    const r = JSON.parse(text);
    if (r.op === 'go') {
      going.get(r.n)();
      going.delete(r.n);
    } else if (r.op !== 'cancel') {
      answer(r);
    }
  });
  // The end of the pipe is our end. SIGKILL, so that no library tidies up: what is held is not released.
  lines.on('close', () => process.kill(process.pid, 'SIGKILL'));
}

module.exports = { now, busy, notHeld, notSent, need, versionOf, wait, lost, say, serve };
