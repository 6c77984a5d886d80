#!/usr/bin/env node
'use strict';
// proper-lockfile as an adapter of lockstorm: a lock that is a folder, renewed by its time of modification.
//
// Run it with: lockstorm run --backend exec:cmd=adapters/node/proper_lockfile.js --ttl 2s --nemesis client-pause
// The time to live is the library's stale, which is 10 s unless it is told, and 2 s at least.
const fs = require('fs');
const path = require('path');
const lockstorm = require('./lockstorm.js');

const lockfile = lockstorm.need('proper-lockfile', 'node-proper-lockfile');
const graceful = require('graceful-fs'); // which the library uses

const about = {
  protocol: 1, name: 'proper_lockfile.js', version: '1', doc: 'lock() of proper-lockfile for Node: the lock is a directory beside the file',
  topologies: ['local'], ends: 'lease', clock: 'monotonic', renews: true,
  library: `proper-lockfile ${lockstorm.versionOf('proper-lockfile')}`,
  signals: [{ kind: 'channel', name: 'onCompromised' }],
  points: [{ name: 'stale', doc: 'the client has found that the lock of another client is stale (too old), but has not removed this lock yet' }],
  versions: { node: process.version },
};

let folder;
let stale;

// watched is the file system of the library, with the two calls of it that lockstorm waits for: a renewal is on record before it
// leaves, and a fault may hold the client before it removes the lock of somebody else.
function watched(attempt, hold) {
  return {
    ...graceful,
    utimes: async (file, at, mt, done) => {
      if (!hold.held) return graceful.utimes(file, at, mt, done); // the library finds out how exact times are
      const n = await lockstorm.wait({ notice: 'renewing', hold: attempt });
      const sent = lockstorm.now();
      graceful.utimes(file, at, mt, (error) => {
        lockstorm.say(error ? { notice: 'renewed', n, failed: error.code === 'ENOENT' ? 'not-held' : 'error', message: error.message }
          : { notice: 'renewed', n, sent, ttl_ns: String(stale * 1e6) });
        done(error);
      });
    },
    rmdir: async (file, done) => {
      if (!hold.held && !hold.released) await lockstorm.wait({ notice: 'point', hold: attempt, name: 'stale' });
      graceful.rmdir(file, done);
    },
  };
}

lockstorm.serve({
  about,
  open(r) {
    folder = r.dir;
    stale = Math.max(r.lease_ns / 1e6, 2000);
  },
  async attempt(r) {
    const file = path.join(folder, r.lock);
    fs.closeSync(fs.openSync(file, 'a')); // the library locks files that exist
    const hold = { held: false, released: false };
    const sent = lockstorm.now();
    try {
      hold.release = await lockfile.lock(file, {
        stale,
        fs: watched(r.id, hold),
        onCompromised: (error) => {
          hold.held = false;
          lockstorm.lost(r.id, error.message);
        },
      });
    } catch (error) {
      if (error.code === 'ELOCKED') throw lockstorm.busy(error.message);
      throw error;
    }
    hold.held = true;
    return [hold, { sent, ttl_ns: String(stale * 1e6) }];
  },
  async release(hold) {
    hold.held = false;
    hold.released = true;
    try {
      await hold.release();
    } catch (error) {
      if (error.code === 'ERELEASED' || error.code === 'ENOTACQUIRED') throw lockstorm.notHeld(error.message);
      throw error;
    }
  },
});
