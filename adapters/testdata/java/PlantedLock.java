import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * SET NX PX in Java with a bug in it, which its argument names: each must be found, by its own finding.
 *
 * foreign: releases whatever there is: a late release frees the lock of the next holder.
 * split: compares and deletes in two steps, with a point between them.
 * late: renews itself, and tells of a loss two seconds after it has learnt of it.
 * count: may be entered again by its owner, and is free after the first release.
 */
final class PlantedLock implements Lockstorm.Lock {
    private static final String COMPARE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
    private static final String RENEW = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";
    private static final String ENTER = "local owner = redis.call('GET', KEYS[1])\n"
            + "if owner and owner ~= ARGV[1] then return 0 end\n"
            + "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1";

    private record Hold(String key, String owner, CountDownLatch released) {}

    private final String way;
    private final Map<Long, Hold> held = new ConcurrentHashMap<>();
    private Lockstorm to;
    private String run, host;
    private int port, limit;
    private Resp redis;

    private PlantedLock(String way) {
        this.way = way;
    }

    public static void main(String[] args) throws Exception {
        PlantedLock lock = new PlantedLock(args[0]);
        lock.to = new Lockstorm(lock);
        lock.to.serve();
    }

    @Override
    public ObjectNode about() {
        ObjectNode about = Lockstorm.JSON.createObjectNode().put("protocol", 1).put("name", "planted in Java").put("version", "1")
                .put("ends", "lease").put("clock", "monotonic");
        about.putArray("topologies").add("redis-single");
        about.putArray("keys").add("lockstorm:{run}:{lock}");
        switch (way) {
            case "split":
                about.putArray("points").addObject().put("name", "compared").put("doc", "the owner was compared, but nothing is deleted yet");
                break;
            case "late":
                about.put("renews", true).putArray("signals").addObject().put("kind", "channel").put("name", "a call-back");
                break;
            case "count":
                about.putObject("model").put("kind", "reentrant");
                break;
            default:
                break;
        }
        return about;
    }

    @Override
    public void open(JsonNode request) {
        JsonNode node = request.path("nodes").get(0);
        run = request.path("run").asText();
        host = node.path("host").asText();
        port = node.path("port").asInt();
        limit = (int) (request.path("timeout_ns").asLong() / 1_000_000);
        redis = new Resp(host, port, limit);
    }

    @Override
    public ObjectNode attempt(JsonNode request, boolean wait) throws Exception {
        long id = request.path("id").asLong(), ttl = request.path("ttl_ns").asLong() / 1_000_000;
        Hold hold = new Hold("lockstorm:" + run + ":" + request.path("lock").asText(), request.path("owner").asText(), new CountDownLatch(1));
        long sent = Lockstorm.now();
        Object got = way.equals("count") ? redis.call("EVAL", ENTER, 1, hold.key, hold.owner, ttl) : redis.call("SET", hold.key, hold.owner, "NX", "PX", ttl);
        if (got == null || got.equals(0L)) {
            throw new Lockstorm.Known("busy", "");
        }
        held.put(id, hold);
        if (way.equals("late")) {
            Thread renewing = new Thread(() -> renew(id, hold, ttl), "renewing");
            renewing.setDaemon(true);
            renewing.start();
        }
        return Lockstorm.JSON.createObjectNode().put("sent", sent).put("ttl_ns", ttl * 1_000_000);
    }

    private void renew(long id, Hold hold, long ttl) {
        Resp own = new Resp(host, port, limit);
        try {
            while (!hold.released.await(ttl / 3, TimeUnit.MILLISECONDS)) {
                long n = to.await(Lockstorm.notice("renewing").put("hold", id));
                long sent = Lockstorm.now();
                ObjectNode said = Lockstorm.notice("renewed").put("n", n);
                Object kept;
                try {
                    kept = own.call("EVAL", RENEW, 1, hold.key, hold.owner, ttl);
                } catch (Exception e) { // of unknown outcome
                    to.say(said.put("failed", "error"));
                    continue;
                }
                if (kept.equals(1L)) {
                    to.say(said.put("sent", sent).put("ttl_ns", ttl * 1_000_000));
                    continue;
                }
                to.say(said.put("failed", "not-held"));
                if (!hold.released.await(2, TimeUnit.SECONDS)) { // the bug
                    to.say(Lockstorm.notice("lost").put("hold", id).put("message", "the key is gone, or somebody else's"));
                }
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void release(long id) throws Exception {
        Hold hold = held.remove(id);
        if (hold == null) {
            throw new Lockstorm.Known("not-held", "it was released");
        }
        hold.released.countDown();
        Object gone;
        switch (way) {
            case "foreign":
                gone = redis.call("DEL", hold.key);
                break;
            case "split":
                gone = 0L;
                if (hold.owner.equals(redis.call("GET", hold.key))) {
                    to.await(Lockstorm.notice("point").put("hold", id).put("name", "compared"));
                    gone = redis.call("DEL", hold.key);
                }
                break;
            default:
                gone = redis.call("EVAL", COMPARE, 1, hold.key, hold.owner);
        }
        if (gone.equals(0L)) {
            throw new Lockstorm.Known("not-held", "the key is gone, or somebody else's");
        }
    }
}
