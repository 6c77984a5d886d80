import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * The locks of Curator as an adapter of lockstorm: mutex (InterProcessMutex), semaphore (InterProcessSemaphoreMutex), rwlock
 * (InterProcessReadWriteLock) or latch (LeaderLatch: to lead is to hold). The client is told of a loss when the state of the connection is SUSPENDED, as Curator's documentation asks
 * of its users; with lost-on=lost, when it is LOST. The retry policy is that of its getting-started page.
 */
final class CuratorLock implements Lockstorm.Lock {
    private final String kind;
    private final Collector collector; // null: it is not asked for, and the virtual machine has little memory
    private final ConnectionState lostOn;
    private Lockstorm to;
    private String run;
    private CuratorFramework client;
    private Tap.Session session;
    private final Map<Long, InterProcessLock> held = new ConcurrentHashMap<>();
    private final Map<Long, LeaderLatch> leading = new ConcurrentHashMap<>();

    private CuratorLock(List<String> args) {
        kind = List.of("rwlock", "semaphore", "latch").stream().filter(args::contains).findFirst().orElse("mutex");
        collector = args.contains("collector") ? new Collector() : null;
        lostOn = args.contains("lost-on=lost") ? ConnectionState.LOST : ConnectionState.SUSPENDED;
    }

    public static void main(String[] args) throws Exception {
        CuratorLock lock = new CuratorLock(Arrays.asList(args));
        lock.to = new Lockstorm(lock);
        lock.to.serve();
    }

    @Override
    public ObjectNode about() {
        String version = System.getProperty("lockstorm.curator", "?");
        ObjectNode about = Lockstorm.JSON.createObjectNode().put("protocol", 1).put("name", "curator").put("version", "1")
                .put("library", "Apache Curator " + version)
                .put("doc", Map.of("mutex", "InterProcessMutex", "semaphore", "InterProcessSemaphoreMutex", "rwlock", "InterProcessReadWriteLock", "latch", "LeaderLatch").get(kind) + " of Curator")
                .put("ends", "session").put("renews", true).put("waits", true).put("clock", "monotonic").put("recovery_ns", 8_000_000_000L);
        about.putArray("topologies").add("zk-single").add("zk-three");
        ObjectNode model = about.putObject("model").put("session", true);
        if (kind.equals("rwlock")) {
            model.put("kind", "read-write");
        }
        if (kind.equals("latch")) {
            about.put("no_try", true);
        }
        about.putArray("signals").addObject().put("kind", "channel")
                .put("name", kind.equals("latch") ? "notLeader of the LeaderLatchListener" : "the ConnectionStateListener, at " + lostOn);
        if (collector != null) {
            about.putArray("calls").add("collect");
        }
        about.putObject("versions").put("java", System.getProperty("java.version")).put("curator", version);
        return about;
    }

    @Override
    public void open(JsonNode request) throws Exception {
        run = request.path("run").asText();
        List<String> servers = new ArrayList<>();
        session = new Tap.Session(to, request.path("nodes").size() > 1);
        for (JsonNode node : request.path("nodes")) {
            servers.add(new Tap(node.path("host").asText(), node.path("port").asInt(), session).address());
        }
        client = CuratorFrameworkFactory.builder().connectString(String.join(",", servers))
                .sessionTimeoutMs((int) (request.path("lease_ns").asLong() / 1_000_000)).retryPolicy(new ExponentialBackoffRetry(1000, 3)).build();
        client.getConnectionStateListenable().addListener((c, state) -> {
            if (state == lostOn || state == ConnectionState.LOST) {
                for (long attempt : held.keySet()) {
                    to.say(Lockstorm.notice("lost").put("hold", attempt).put("message", "the state of the connection is " + state));
                }
            }
        });
        client.start();
        if (!client.blockUntilConnected(20, TimeUnit.SECONDS)) {
            throw new IllegalStateException("Curator got no connection to ZooKeeper within 20 s");
        }
    }

    private InterProcessLock of(JsonNode request) {
        String path = "/" + run + "/" + request.path("lock").asText();
        switch (kind) {
            case "rwlock":
                InterProcessReadWriteLock both = new InterProcessReadWriteLock(client, path);
                return request.path("mode").asText().equals("shared") ? both.readLock() : both.writeLock();
            case "semaphore":
                return new InterProcessSemaphoreMutex(client, path);
            default:
                return new InterProcessMutex(client, path);
        }
    }

    /** Waits for the leadership. The library makes its node in the background, and tells its listener when it leads no more. */
    private ObjectNode lead(JsonNode request) throws Exception {
        long attempt = request.path("id").asLong();
        LeaderLatch latch = new LeaderLatch(client, "/" + run + "/" + request.path("lock").asText());
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                // await returns
            }

            @Override
            public void notLeader() {
                if (leading.containsKey(attempt)) { // and was not closed by its user
                    to.say(Lockstorm.notice("lost").put("hold", attempt).put("message", "the latch is no longer the leader"));
                }
            }
        });
        latch.start();
        try {
            latch.await();
        } catch (InterruptedException e) {
            latch.close();
            throw new Lockstorm.Known("busy", "the wait was cancelled");
        }
        leading.put(attempt, latch);
        if (!latch.hasLeadership()) { // lost before its listener could say of what
            to.say(Lockstorm.notice("lost").put("hold", attempt).put("message", "the latch is no longer the leader"));
        }
        return Lockstorm.JSON.createObjectNode().put("sent", session.asked).put("lease", session.lease());
    }

    @Override
    public ObjectNode attempt(JsonNode request, boolean wait) throws Exception {
        if (kind.equals("latch")) {
            return lead(request);
        }
        InterProcessLock lock = of(request);
        try {
            if (wait) {
                lock.acquire();
            } else if (!lock.acquire(0, TimeUnit.MILLISECONDS)) {
                throw new Lockstorm.Known("busy", "");
            }
        } catch (InterruptedException e) {
            throw new Lockstorm.Known("busy", "the wait was cancelled");
        }
        held.put(request.path("id").asLong(), lock);
        return Lockstorm.JSON.createObjectNode().put("sent", session.asked).put("lease", session.lease());
    }

    @Override
    public ObjectNode collect(long nanos) throws Exception {
        return collector == null ? Lockstorm.Lock.super.collect(nanos) : collector.stop(nanos);
    }

    @Override
    public void release(long hold) throws Exception {
        LeaderLatch latch = leading.remove(hold);
        if (latch != null) {
            boolean led = latch.hasLeadership();
            session.releasing();
            latch.close(); // which deletes its node in the background, and says nothing of it
            if (!led) {
                throw new IllegalStateException("unknown outcome: the latch was no longer the leader, and close() does not report whether its znode still existed");
            }
            session.settles(1000);
            session.released();
            return;
        }
        InterProcessLock lock = held.remove(hold);
        if (lock == null) {
            throw new Lockstorm.Known("not-held", "the lock had already been released");
        }
        session.releasing();
        lock.release();
        session.released();
    }
}
