import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * FileChannel.tryLock of Java's standard library, on Lockstorm.java: the control of the adapters in Java. With the argument waits,
 * the adapter waits for the lock by itself. The lock is correct: if one of its runs fails, the defect is in Lockstorm.java or in
 * lockstorm, and a failure of a library may have the same cause.
 *
 * <p>On Linux such a lock is one of fcntl(2): it belongs to the process, and the process loses it when it closes any descriptor of the
 * file. So each file is opened once, and stays open.
 */
final class Flock implements Lockstorm.Lock {
    private final boolean waits;
    private final Map<String, FileChannel> files = new HashMap<>();
    private final Map<Long, FileLock> held = new HashMap<>();
    private String folder;

    private Flock(boolean waits) {
        this.waits = waits;
    }

    public static void main(String[] args) throws IOException {
        new Lockstorm(new Flock(Arrays.asList(args).contains("waits"))).serve();
    }

    @Override
    public ObjectNode about() {
        ObjectNode about = Lockstorm.JSON.createObjectNode().put("protocol", 1).put("name", "flock").put("version", "1")
                .put("doc", "FileChannel.tryLock on a file, from Java").put("ends", "process").put("clock", "monotonic").put("waits", waits);
        about.putArray("topologies").add("local");
        about.putObject("versions").put("java", System.getProperty("java.version"));
        return about;
    }

    @Override
    public void open(JsonNode request) {
        folder = request.path("dir").asText();
    }

    @Override
    public ObjectNode attempt(JsonNode request, boolean wait) throws Exception {
        String name = request.path("lock").asText() + ".lock";
        if (!files.containsKey(name)) {
            files.put(name, FileChannel.open(Path.of(folder, name), StandardOpenOption.CREATE, StandardOpenOption.WRITE));
        }
        for (;;) {
            long sent = Lockstorm.now();
            FileLock lock = tryLock(files.get(name));
            if (lock != null) {
                held.put(request.path("id").asLong(), lock);
                return Lockstorm.JSON.createObjectNode().put("sent", sent);
            }
            if (!wait) {
                throw new Lockstorm.Known("busy", "");
            }
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                throw new Lockstorm.Known("busy", "the wait was cancelled");
            }
        }
    }

    private static FileLock tryLock(FileChannel file) throws IOException {
        try {
            return file.tryLock(); // null: another process has it
        } catch (OverlappingFileLockException e) { // this process has it
            return null;
        }
    }

    @Override
    public void release(long hold) throws Exception {
        FileLock lock = held.remove(hold);
        if (lock == null) {
            throw new Lockstorm.Known("not-held", "the lock had already been released");
        }
        lock.release();
    }
}
