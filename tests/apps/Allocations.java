import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;

/**
 * Allocations with a known number of bytes: the JVM counts the bytes that a thread allocates. Each line is a command,
 * "KIND COUNT"; the answer has the number of objects made and the bytes allocated. Kinds: "things", "bytes", "ints",
 * "strings" (arrays of String), "names" (String[][]). "exit" ends the program.
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
            case "bytes": for (int i = 0; i < count; i++) sink = new byte[200]; break;
            case "ints": for (int i = 0; i < count; i++) sink = new int[50]; break;
            case "strings": for (int i = 0; i < count; i++) sink = new String[25]; break;
            case "names": for (int i = 0; i < count; i++) sink = new String[25][]; break;
            default: throw new IllegalArgumentException(kind);
        }
    }

    static String run(String line) {
        String[] words = line.split(" ");
        int count = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long me = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(me);
        make(words[0], count);
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
