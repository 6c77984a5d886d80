import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.management.GarbageCollectorMXBean;
import com.sun.management.GcInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the virtual machine's collector stop the program for a time that is asked for: it keeps so many objects alive that a full
 * collection takes that long, and has one made. What the virtual machine says of that collection is the proof; with -Xlog:gc its log has
 * the same.
 */
final class Collector {
    private static final int BLOCK = 1 << 18;

    private static final class Node {
        Node next, other;
    }

    private final List<Node[]> alive = new ArrayList<>();

    /** One full collection of at least that length, or the longest for which there is memory. */
    synchronized ObjectNode stop(long nanos) {
        long most = Runtime.getRuntime().maxMemory() * 2 / 3;
        for (;;) {
            long from = Lockstorm.now();
            System.gc();
            long to = Lockstorm.now();
            if (to - from >= nanos || used() >= most) {
                return Lockstorm.JSON.createObjectNode().put("from", from).put("to", to).put("message", last());
            }
            for (int i = 0; i < 8 && used() < most; i++) {
                grow();
            }
        }
    }

    /** What the virtual machine says of the last collection of the collector that took longest. */
    private static String last() {
        String text = "no garbage collector of the Java VM reported a collection";
        long longest = -1;
        for (GarbageCollectorMXBean bean : ManagementFactory.getPlatformMXBeans(GarbageCollectorMXBean.class)) {
            GcInfo info = bean.getLastGcInfo();
            if (info != null && info.getDuration() > longest) {
                longest = info.getDuration();
                text = bean.getName() + " #" + info.getId() + ": " + longest + " ms, " + mb(info.getMemoryUsageBeforeGc().values()) + " MB before, "
                        + mb(info.getMemoryUsageAfterGc().values()) + " MB after";
            }
        }
        return text;
    }

    private static long mb(Iterable<MemoryUsage> pools) {
        long sum = 0;
        for (MemoryUsage pool : pools) {
            sum += pool.getUsed();
        }
        return sum >> 20;
    }

    private static long used() {
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** Keeps more objects alive, which point at each other. */
    private void grow() {
        Node[] block = new Node[BLOCK];
        for (int i = 0; i < BLOCK; i++) {
            block[i] = new Node();
            block[i].next = i > 0 ? block[i - 1] : null;
            block[i].other = block[(int) (i * 2654435761L % (i + 1))];
        }
        alive.add(block);
    }
}
