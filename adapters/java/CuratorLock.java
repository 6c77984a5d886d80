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
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * The locks of Curator as an adapter of lockstorm: mutex (InterProcessMutex), semaphore (InterProcessSemaphoreMutex) or rwlock
 * (InterProcessReadWriteLock). The client is told of a loss when the state of the connection is SUSPENDED, as Curator's documentation asks
 * of its users; with lost-on=lost, when it is LOST. The retry policy is that of its getting-started page.
 */
final class CuratorLock implements Lockstorm.Lock {
    private final String kind;
    private final ConnectionState lostOn;
    private Lockstorm to;
    private String run;
    private CuratorFramework client;
    private Tap.Session session;
    private final Map<Long, InterProcessLock> held = new ConcurrentHashMap<>();

    private CuratorLock(List<String> args) {
        kind = args.contains("rwlock") ? "rwlock" : args.contains("semaphore") ? "semaphore" : "mutex";
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
                .put("doc", Map.of("mutex", "InterProcessMutex", "semaphore", "InterProcessSemaphoreMutex", "rwlock", "InterProcessReadWriteLock").get(kind) + " of Curator")
                .put("ends", "session").put("renews", true).put("waits", true).put("clock", "monotonic").put("recovery_ns", 8_000_000_000L);
        about.putArray("topologies").add("zk-single").add("zk-three");
        ObjectNode model = about.putObject("model").put("session", true);
        if (kind.equals("rwlock")) {
            model.put("kind", "read-write");
        }
        about.putArray("signals").addObject().put("kind", "channel").put("name", "the ConnectionStateListener, at " + lostOn);
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
            throw new IllegalStateException("there is no connection");
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

    @Override
    public ObjectNode attempt(JsonNode request, boolean wait) throws Exception {
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
    public void release(long hold) throws Exception {
        InterProcessLock lock = held.remove(hold);
        if (lock == null) {
            throw new Lockstorm.Known("not-held", "it was released");
        }
        session.noNode = session.unsure = false;
        lock.release();
        if (session.noNode && session.unsure) {
            throw new IllegalStateException("there is no node any more, and an earlier deletion was not answered");
        }
        if (session.noNode) {
            throw new Lockstorm.Known("not-held", "there is no node of that grant");
        }
    }
}
