#!/usr/bin/env node
'use strict';
// The bind of a socket on the library lockstorm.js: the control of the adapters in Node, which has no flock(2).
//
// Run it with: lockstorm run --backend exec:cmd=adapters/node/socket_lock.js --nemesis client-pause
// The lock is a UDP socket on an address and a port of the loopback network (127.0.0.0/8): a hash of the run and of the lock's name.
// The kernel lets one socket at a time have them, and takes them back when the socket's process dies. Nobody sends anything to this
// socket. (An abstract Unix socket would be simpler, but needs libuv 1.46, and Debian 12 has an older one.) The lock is correct: if
// one of its runs fails, the defect is in lockstorm.js or in lockstorm, and a failure of a library may have the same cause.
const crypto = require('crypto');
const dgram = require('dgram');
const { once } = require('events');
const lockstorm = require('./lockstorm.js');

let run;

// place is where the socket of a lock is. Ports from 32768 on are those that the kernel gives to other sockets.
function place(lock) {
  const hash = crypto.createHash('sha256').update(`${run} ${lock}`).digest();
  return { address: `127.${hash[0]}.${hash[1]}.${1 + (hash[2] % 254)}`, port: 1024 + (hash.readUInt16BE(3) % 31744), exclusive: true };
}

lockstorm.serve({
  about: {
    protocol: 1, name: 'socket_lock.js', version: '1', doc: 'the exclusive bind of a UDP socket on the loopback network, from Node',
    topologies: ['local'], ends: 'process', clock: 'monotonic', versions: { node: process.version },
  },
  open(r) {
    run = `${r.run} ${r.dir}`;
  },
  async attempt(r) {
    const socket = dgram.createSocket('udp4');
    const sent = lockstorm.now();
    try {
      await once(socket.bind(place(r.lock)), 'listening');
    } catch (error) {
      socket.close();
      if (error.code === 'EADDRINUSE') throw lockstorm.busy(error.message);
      throw error;
    }
    return [{ socket }, { sent }];
  },
  async release(hold) {
    if (!hold.socket) throw lockstorm.notHeld('the lock had already been released');
    const { socket } = hold;
    hold.socket = null;
    await once(socket.close(), 'close');
  },
});
