import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;

/**
 * Allocations whose bytes are known: the JVM counts what a thread allocates. Each line is a command, "KIND COUNT"; the answer says how
 * many objects of that kind were made and the bytes that they took: "things", "bytes", "ints", "strings" (arrays of String), "names"
 * (String[][]), "pages" (byte[65536]), "large" (long[40000]), "mixed" (a large one among small ones), "threads" (that many threads, each
 * makes ten things), "exit".
 */
public final class Allocations {
    static volatile Object sink;

    static final class Thing {
        long a;
        long b;
        Object next;
    }

    static void make(String kind, int count) {
        switch (kind) {
            case "things": for (int i = 0; i < count; i++) sink = new Thing(); break;
            case "bytes": for (int i = 0; i < count; i++) sink = new byte[1000]; break;
            case "ints": for (int i = 0; i < count; i++) sink = new int[250]; break;
            case "strings": for (int i = 0; i < count; i++) sink = new String[100]; break;
            case "names": for (int i = 0; i < count; i++) sink = new String[100][]; break;
            case "pages": for (int i = 0; i < count; i++) sink = new byte[65536]; break;
            case "large": for (int i = 0; i < count; i++) sink = new long[40000]; break;
            default: throw new IllegalArgumentException(kind);
        }
    }

    static void mixed(int count) {
        for (int i = 0; i < count; i++) {
            sink = new long[40000];
            for (int j = 0; j < 2000; j++) sink = new Thing();
        }
    }

    static String threads(int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            Thread each = new Thread(() -> make("things", 10), "short-" + i);
            each.start();
            each.join();
        }
        return "";
    }

    static String run(String line) throws Exception {
        String[] words = line.split(" ");
        int count = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        if (words[0].equals("threads")) return threads(count);
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long me = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(me);
        if (words[0].equals("mixed")) mixed(count);
        else make(words[0], count);
        return "objects=" + count + " bytes=" + (threads.getThreadAllocatedBytes(me) - before);
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        run("things 1000");
        System.out.println("READY");
        for (String line = in.readLine(); line != null && !line.equals("exit"); line = in.readLine()) {
            System.out.println("OK " + run(line));
        }
    }
}
