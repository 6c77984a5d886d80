#!/usr/bin/env node
'use strict';
// The lock that is written by hand with node-redis, as an adapter of lockstorm: SET NX PX, and a script that compares before it
// deletes, or before it extends.
//
// Run it with: lockstorm run --backend exec:cmd=adapters/node/redis_setnx.js --nemesis partition-client
// The client has its defaults: it connects again by itself, and keeps what it was asked meanwhile, to send it then.
const crypto = require('crypto');
const lockstorm = require('./lockstorm.js');

const redis = lockstorm.need('redis', 'node-redis');

const about = {
  protocol: 1, name: 'redis_setnx.js', version: '1', doc: 'SET NX PX, with node-redis; a script compares the value of the key before it deletes the key',
  topologies: ['redis-single', 'redis-single-aof'], ends: 'lease', clock: 'monotonic', buffers: true, calls: ['extend'], keys: ['{run}:{lock}'],
  versions: { node: process.version, 'node-redis': lockstorm.versionOf('redis') },
};

const DELETE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
const EXTEND = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";

let client;
let run;

async function script(hold, text, ...more) {
  const changed = await client.eval(text, { keys: [hold.key], arguments: [hold.token, ...more] });
  if (changed === 0) throw lockstorm.notHeld('the key of the lock no longer exists, or has another value');
}

lockstorm.serve({
  about,
  async open(r) {
    run = r.run;
    client = redis.createClient({ url: `redis://${r.nodes[0].host}:${r.nodes[0].port}` });
    client.on('error', (error) => console.error(error.message)); // without a listener the program would end
    await client.connect();
  },
  async attempt(r) {
    const hold = { key: `${run}:${r.lock}`, token: crypto.randomUUID(), ttl: Math.round(r.ttl_ns / 1e6) };
    const sent = lockstorm.now();
    if ((await client.set(hold.key, hold.token, { NX: true, PX: hold.ttl })) === null) throw lockstorm.busy('the key of the lock already exists');
    return [hold, { sent, owner: hold.token, ttl_ns: `${hold.ttl}000000` }];
  },
  release: (hold) => script(hold, DELETE),
  async extend(hold) {
    const sent = lockstorm.now();
    await script(hold, EXTEND, String(hold.ttl));
    return { sent, ttl_ns: `${hold.ttl}000000` };
  },
});
