import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Map;
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
        volatile boolean noNode; // the last deletion found nothing
        volatile boolean unsure; // a deletion was not answered

        Session(Lockstorm to, boolean ensemble) {
            this.to = to;
            this.ensemble = ensemble;
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
        Map<Integer, Integer> deletions = new ConcurrentHashMap<>();
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
                        if (deletions.remove(id) != null) {
                            session.noNode = frame.getInt(12) == NO_NODE;
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
                if (!first && frame.remaining() >= 8 && frame.getInt(4) == DELETE) {
                    deletions.put(id, id);
                }
                session.leaves(id, first);
            });
        } catch (IOException e) {
            // the connection is over, or there is none
        } finally {
            session.renewed("error");
            session.unsure |= !deletions.isEmpty();
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
