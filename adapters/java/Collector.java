import java.util.ArrayList;
import java.util.List;

/**
 * Makes the virtual machine pause as its collector does: it keeps so many objects alive that a full collection takes longer than a lease,
 * and asks for one again and again. The virtual machine's own log (-Xlog:gc) proves each of them.
 */
final class Collector {
    private static final int BLOCK = 1 << 18;
    private static final long EVERY_MILLIS = 2500;

    private static final class Node {
        Node next, other;
    }

    private final List<Node[]> alive = new ArrayList<>();

    static void start(long leaseNanos) {
        Thread t = new Thread(() -> new Collector().run(leaseNanos), "collector");
        t.setDaemon(true);
        t.start();
    }

    private void run(long lease) {
        long most = Runtime.getRuntime().maxMemory() * 2 / 3;
        try {
            for (;;) {
                long began = System.nanoTime();
                System.gc();
                long took = System.nanoTime() - began;
                while (took < lease * 3 / 2 && used() < most && grow()) {
                    if (alive.size() % 8 == 0) {
                        break; // and see how long it takes now
                    }
                }
                if (took >= lease * 3 / 2 || used() >= most) {
                    Thread.sleep(EVERY_MILLIS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static long used() {
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** Keeps more objects alive, which point at each other. */
    private boolean grow() {
        Node[] block = new Node[BLOCK];
        for (int i = 0; i < BLOCK; i++) {
            block[i] = new Node();
            block[i].next = i > 0 ? block[i - 1] : null;
            block[i].other = block[(int) (i * 2654435761L % (i + 1))];
        }
        return alive.add(block);
    }
}
