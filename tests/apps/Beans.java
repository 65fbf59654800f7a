import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;

/**
 * Says what its platform MXBeans say: "beans" is answered by "OK KIND|NAME|NUMBER|...;..." with pool (used, committed,
 * maximum), code (the same of a pool of code), heap (the same), gc (count, ms), threads (live, daemon, peak, started),
 * state (threads in it), buffers (count, used, capacity), classes (loaded, unloaded).
 */
public final class Beans {
    static volatile Object sink;
    static final ByteBuffer DIRECT = ByteBuffer.allocateDirect(12345);

    static void append(StringBuilder out, String kind, String name, long... numbers) {
        out.append(kind).append('|').append(name);
        for (long each : numbers) {
            out.append('|').append(each);
        }
        out.append(';');
    }

    static String beans() {
        StringBuilder out = new StringBuilder();
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            MemoryUsage usage = pool.getUsage();
            boolean code = pool.getName().startsWith("Code");
            if (code || pool.getType() == MemoryType.HEAP) {
                append(out, code ? "code" : "pool", pool.getName(), usage.getUsed(), usage.getCommitted(), usage.getMax());
            }
        }
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        append(out, "heap", "heap", heap.getUsed(), heap.getCommitted(), heap.getMax());
        for (GarbageCollectorMXBean gc : ManagementFactory.getGarbageCollectorMXBeans()) {
            append(out, "gc", gc.getName(), gc.getCollectionCount(), gc.getCollectionTime());
        }
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        append(out, "threads", "", threads.getThreadCount(), threads.getDaemonThreadCount(), threads.getPeakThreadCount(),
            threads.getTotalStartedThreadCount());
        long[] states = new long[Thread.State.values().length];
        for (ThreadInfo info : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (info != null) {
                states[info.getThreadState().ordinal()]++;
            }
        }
        for (Thread.State state : Thread.State.values()) {
            append(out, "state", state.name(), states[state.ordinal()]);
        }
        for (BufferPoolMXBean buffers : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            append(out, "buffers", buffers.getName(), buffers.getCount(), buffers.getMemoryUsed(),
                buffers.getTotalCapacity());
        }
        ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();
        append(out, "classes", "", classes.getTotalLoadedClassCount(), classes.getUnloadedClassCount());
        return out.toString();
    }

    public static void main(String[] args) throws Exception {
        byte[][] kept = new byte[200][];
        sink = kept;
        for (int i = 0; i < 40_000; i++) {
            kept[i % 200] = new byte[2000];
        }
        System.gc();
        beans();
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line; (line = in.readLine()) != null && !line.equals("quit");) {
            System.out.println(line.equals("beans") ? "OK " + beans() : "ERR " + line);
        }
    }
}
