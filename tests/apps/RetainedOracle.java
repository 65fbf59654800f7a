import java.io.File;
import java.io.PrintWriter;
import java.util.Iterator;
import org.graalvm.visualvm.lib.jfluid.heap.*;

/**
 * The retained sizes of all objects of a heap dump by VisualVM's library: RetainedOracle DUMP [FILE]. Prints the times
 * of its phases as key=value lines; the file has a line for each object: id, size, retained size.
 */
public final class RetainedOracle {
    private static long cpu() {
        return java.lang.management.ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class).getProcessCpuTime();
    }

    public static void main(String[] args) throws Exception {
        long start = System.nanoTime();
        Heap heap = HeapFactory.createHeap(new File(args[0]));
        Iterator<?> all = heap.getAllInstancesIterator();
        long objects = 0;
        long sum = 0;
        try (PrintWriter out = args.length > 1 ? new PrintWriter(args[1]) : null) {
            while (all.hasNext()) {
                Instance each = (Instance) all.next();
                long retained = each.getRetainedSize();
                objects++;
                sum += retained;
                if (out != null) {
                    out.println(each.getInstanceId() + " " + each.getSize() + " " + retained);
                }
            }
        }
        System.out.println("objects=" + objects);
        System.out.println("sum=" + sum);
        System.out.println("millis=" + (System.nanoTime() - start) / 1_000_000);
        System.out.println("cpuMillis=" + cpu() / 1_000_000);
    }
}
