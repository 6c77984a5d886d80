import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What adapters of lockstorm in Java share: the pipes, the clock, and a thread that makes the calls, as that of a user would: locks of
 * Java belong to the thread that has taken them. The protocol is docs/adapters.md.
 */
final class Lockstorm {
    static final ObjectMapper JSON = new ObjectMapper();

    /** A lock under test. What its calls throw says what is known; anything but a Known is of unknown outcome. */
    interface Lock {
        ObjectNode about();

        void open(JsonNode request) throws Exception;

        /** An attempt that waits, or does not; what it returns goes into the answer. */
        ObjectNode attempt(JsonNode request, boolean wait) throws Exception;

        void release(long hold) throws Exception;

        /** Has the collector stop the program for so long, and says from when to when it did, and what it logged. */
        default ObjectNode collect(long nanos) throws Exception {
            throw new Known("unsupported", "");
        }
    }

    /** An answer that says for certain what did not happen. */
    static final class Known extends Exception {
        final String answer;

        Known(String answer, String message) {
            super(message, null, false, false);
            this.answer = answer;
        }
    }

    /** On Linux it is CLOCK_MONOTONIC, which the pings prove. */
    static long now() {
        return System.nanoTime();
    }

    private final Lock lock;
    private final OutputStream out;
    private final LinkedBlockingQueue<JsonNode> calls = new LinkedBlockingQueue<>();
    private final Map<Long, CountDownLatch> going = new ConcurrentHashMap<>();
    private final AtomicLong numbers = new AtomicLong();
    private final Thread worker = new Thread(this::work, "calls");
    private volatile long waiting; // the attempt that waits; 0: none

    Lockstorm(Lock lock) throws IOException {
        this.lock = lock;
        out = new FileOutputStream(pipe("LOCKSTORM_OUT"));
    }

    private static String pipe(String name) {
        String fd = System.getenv(name);
        if (fd == null || !fd.matches("[0-9]+")) {
            System.err.println("the environment variable " + name + " does not contain the number of a file descriptor:"
                + " do not start this adapter by hand; lockstorm starts it (--backend exec:cmd=FILE)");
            System.exit(1);
        }
        return "/proc/self/fd/" + fd;
    }

    void say(ObjectNode line) {
        try {
            byte[] text = (JSON.writeValueAsString(line) + "\n").getBytes(StandardCharsets.UTF_8);
            synchronized (out) {
                out.write(text);
                out.flush();
            }
        } catch (IOException e) {
            Runtime.getRuntime().halt(1); // nobody listens any more
        }
    }

    static ObjectNode notice(String what) {
        return JSON.createObjectNode().put("notice", what);
    }

    /** Tells what needs a go, waits for it, and returns its number. */
    long await(ObjectNode line) {
        long n = numbers.incrementAndGet();
        CountDownLatch gone = new CountDownLatch(1);
        going.put(n, gone);
        say(line.put("n", n));
        for (;;) {
            try {
                gone.await();
                return n;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return n;
            }
        }
    }

    void serve() throws IOException {
        worker.setDaemon(true);
        worker.start();
        try (BufferedReader in = new BufferedReader(new InputStreamReader(
                new FileInputStream(pipe("LOCKSTORM_IN")), StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                JsonNode request = JSON.readTree(line);
                switch (request.path("op").asText()) {
                    case "hello":
                        say(answer(request, "ok").set("about", lock.about()));
                        break;
                    case "ping":
                        say(answer(request, "ok").put("now", now()));
                        break;
                    case "go":
                        going.remove(request.path("n").asLong()).countDown();
                        break;
                    case "cancel":
                        if (waiting == request.path("hold").asLong()) {
                            worker.interrupt();
                        }
                        break;
                    case "collect": // beside the thread that makes the calls, which it stops as well
                        Thread collects = new Thread(() -> answerTo(request), "collect");
                        collects.setDaemon(true);
                        collects.start();
                        break;
                    default:
                        calls.add(request);
                }
            }
        }
        Runtime.getRuntime().halt(0); // what is held is not released
    }

    static ObjectNode answer(JsonNode request, String answer) {
        return JSON.createObjectNode().put("id", request.path("id").asLong()).put("answer", answer);
    }

    private void work() {
        for (;;) {
            JsonNode request;
            try {
                request = calls.take();
            } catch (InterruptedException e) {
                continue; // a cancel that came late
            }
            try {
                answerTo(request);
            } finally {
                waiting = 0;
                Thread.interrupted();
            }
        }
    }

    private void answerTo(JsonNode request) {
        ObjectNode said;
        try {
            said = call(request);
        } catch (Known e) {
            said = answer(request, e.answer).put("message", e.getMessage());
        } catch (Exception e) {
            e.printStackTrace();
            said = answer(request, "error").put("message", e.toString());
        }
        say(said);
    }

    private ObjectNode call(JsonNode request) throws Exception {
        switch (request.path("op").asText()) {
            case "open":
                lock.open(request);
                return answer(request, "ok");
            case "acquire":
                waiting = request.path("id").asLong();
                return answer(request, "granted").setAll(lock.attempt(request, true));
            case "try":
                return answer(request, "granted").setAll(lock.attempt(request, false));
            case "release":
                lock.release(request.path("hold").asLong());
                return answer(request, "ok");
            case "collect":
                return answer(request, "ok").setAll(lock.collect(request.path("length_ns").asLong()));
            default:
                return answer(request, "unsupported");
        }
    }
}
