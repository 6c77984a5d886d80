import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Stands between a ZooKeeper client and one server, passes every frame on as it is, and tells what becomes of the session: opened,
 * renewed by which request, over. What it tells of is on record before it leaves.
 */
final class Tap {
    private static final int CONNECT = 0, PING = -2, DELETE = 2, NO_NODE = -101;
    private static final long OUT_OF_TOUCH = 6 * 100_000_000L; // (syncLimit + 1) ticks of the servers that lockstorm starts

    /** The session of a client, which its connections to all servers share. */
    static final class Session {
        final Lockstorm to;
        final boolean ensemble;
        private String lease = "";
        private long timeout, last;
        private long renewing, sent; // the number of the renewal that is on record and not answered; 0: none
        private int xid;
        volatile long asked; // when the last request left that was no ping
        private final Map<String, Integer> deletions = new HashMap<>(); // by node: how often it was asked for since a release began
        private final Set<String> deleted = new HashSet<>();
        private String missing = ""; // the node that the last deletion did not find

        Session(Lockstorm to, boolean ensemble) {
            this.to = to;
            this.ensemble = ensemble;
        }

        synchronized void releasing() {
            deletions.clear();
            deleted.clear();
            missing = "";
        }

        synchronized void deletes(String node) {
            deletions.merge(node, 1, Integer::sum);
        }

        synchronized void deletion(String node, int code) {
            if (code == 0) {
                deleted.add(node);
            } else if (code == NO_NODE) {
                missing = node;
            }
            notifyAll();
        }

        /** Waits for the answer to a deletion that a call which has returned made in the background. */
        synchronized void settles(long millis) throws InterruptedException {
            for (long end = System.nanoTime() + millis * 1_000_000; deleted.isEmpty() && missing.isEmpty(); ) {
                long left = (end - System.nanoTime()) / 1_000_000;
                if (left <= 0) {
                    throw new IllegalStateException("unknown outcome: the release call returned, but the request to delete the lock's znode got no answer");
                }
                wait(left);
            }
        }

        /**
         * What became of a release whose call has returned. A deletion that is made again finds nothing where the first one was carried out,
         * whether its answer has reached the library or not.
         */
        synchronized void released() throws Exception {
            if (missing.isEmpty() || deleted.contains(missing)) {
                return;
            }
            if (deletions.getOrDefault(missing, 0) > 1) {
                throw new IllegalStateException("unknown outcome: the lock's znode no longer exists, but an earlier request to delete the znode got no answer");
            }
            throw new Lockstorm.Known("not-held", "the znode of this grant no longer exists");
        }

        synchronized String lease() {
            return lease;
        }

        synchronized void leaves(int id, boolean connect) {
            long now = Lockstorm.now();
            if (!connect && id != PING) {
                asked = now;
            }
            if (!lease.isEmpty() && renewing == 0 && (connect || now - last >= timeout / 10)) {
                renewing = to.await(Lockstorm.notice("renewing").put("lease", lease));
                sent = last = Lockstorm.now();
                xid = id;
            }
            if (connect) {
                sent = Lockstorm.now();
            }
        }

        synchronized void comes(int id) {
            if (renewing != 0 && id == xid) {
                renewed(null);
            }
        }

        synchronized void renewed(String failed) {
            if (renewing == 0) {
                return;
            }
            var line = Lockstorm.notice("renewed").put("n", renewing);
            renewing = 0;
            if (failed != null) {
                to.say(line.put("failed", failed));
            } else {
                to.say(line.put("sent", sent).put("ttl_ns", timeout - (ensemble ? OUT_OF_TOUCH : 0)));
            }
        }

        synchronized void connected(long id, long lives) {
            String name = "0x" + Long.toHexString(id);
            if (lives <= 0 || id == 0) {
                renewed("not-held");
                if (!lease.isEmpty()) {
                    to.say(Lockstorm.notice("lost").put("lease", lease).put("message", "the session has expired"));
                }
                lease = "";
                return;
            }
            if (name.equals(lease)) {
                renewed(null);
                return;
            }
            renewed("error");
            lease = name;
            timeout = lives;
            last = sent;
            to.say(Lockstorm.notice("opened").put("lease", lease).put("sent", sent).put("ttl_ns", timeout));
        }
    }

    private final ServerSocket listener;
    private final String host;
    private final int port;
    private final Session session;

    Tap(String host, int port, Session session) throws IOException {
        this.host = host;
        this.port = port;
        this.session = session;
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    String address() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    private static void start(Runnable run) {
        Thread t = new Thread(run, "tap");
        t.setDaemon(true);
        t.start();
    }

    private void accept() {
        for (;;) {
            try {
                Socket client = listener.accept();
                start(() -> serve(client));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket client) {
        Map<Integer, String> deletions = new ConcurrentHashMap<>();
        try (client; Socket server = new Socket(host, port)) {
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            start(() -> {
                try {
                    pass(server, client, (first, frame) -> {
                        if (first) {
                            session.connected(frame.getLong(8), frame.getInt(4) * 1_000_000L);
                            return;
                        }
                        int id = frame.getInt(0);
                        String node = deletions.remove(id);
                        if (node != null) {
                            session.deletion(node, frame.getInt(12));
                        }
                        session.comes(id);
                    });
                } catch (IOException e) {
                    // the connection is over
                } finally {
                    close(client, server);
                }
            });
            pass(client, server, (first, frame) -> {
                int id = first ? CONNECT : frame.getInt(0);
                if (!first && frame.remaining() >= 12 && frame.getInt(4) == DELETE) {
                    String node = new String(frame.array(), 12, frame.getInt(8), StandardCharsets.UTF_8);
                    deletions.put(id, node);
                    session.deletes(node);
                }
                session.leaves(id, first);
            });
        } catch (IOException e) {
            // the connection is over, or there is none
        } finally {
            session.renewed("error");
        }
    }

    private interface Sees {
        void frame(boolean first, ByteBuffer frame);
    }

    private static void pass(Socket from, Socket to, Sees sees) throws IOException {
        DataInputStream in = new DataInputStream(from.getInputStream());
        DataOutputStream out = new DataOutputStream(to.getOutputStream());
        for (boolean first = true;; first = false) {
            byte[] frame = new byte[in.readInt()];
            in.readFully(frame);
            sees.frame(first, ByteBuffer.wrap(frame));
            ByteBuffer whole = ByteBuffer.allocate(4 + frame.length).putInt(frame.length).put(frame);
            out.write(whole.array());
            out.flush();
        }
    }

    private static void close(Socket... all) {
        for (Socket s : all) {
            try {
                s.close();
            } catch (IOException e) {
                // it is closed
            }
        }
    }
}
