import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.lang.management.ThreadMXBean;

/**
 * Says what its platform MXBeans say: "beans" is answered by "OK KIND|NAME|NUMBER|...;..." with pool (used, committed,
 * maximum), heap (the same), gc (count, ms), threads (live, daemon, peak, started), classes (loaded, unloaded).
 */
public final class Beans {
    static volatile Object sink;

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
            if (pool.getType() == MemoryType.HEAP) {
                append(out, "pool", pool.getName(), usage.getUsed(), usage.getCommitted(), usage.getMax());
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
