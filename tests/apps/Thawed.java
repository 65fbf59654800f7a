import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that are parked deep in calls and then run on: the frames to which they have not returned stay in the
 * heap. JDK 21 and later.
 *
 * <p>"spin DEPTH": one named deep parks once below DEPTH calls of down, which outer called, and spins until "still".
 * "turns": one named turns does so for a moment again and again, in turn below 12 calls of left and 7 of right.
 * "naps COUNT": that many, named nap-0 and so on, sleep for 1 ms again and again below 10 calls of nap.
 */
public final class Thawed {
    private static volatile boolean still;
    private static volatile long sink;

    static int outer(int depth) {
        return down(depth) + 1;
    }

    static int down(int depth) {
        return depth == 0 ? bottom() : down(depth - 1) + 1;
    }

    static int bottom() {
        LockSupport.parkNanos(2_000_000);
        while (!still) {
            work(100_000);
        }
        return 1;
    }

    static int left(int depth) {
        return depth == 1 ? leaf() : left(depth - 1) + 1;
    }

    static int right(int depth) {
        return depth == 1 ? leaf() : right(depth - 1) + 1;
    }

    static int leaf() {
        LockSupport.parkNanos(100_000);
        work(2_000_000);
        return 1;
    }

    static int nap(int depth) {
        return depth == 0 ? doze() : nap(depth - 1) + 1;
    }

    static int doze() {
        while (!still) {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        return 1;
    }

    static void work(int times) {
        long x = 1;
        for (int i = 0; i < times; i++) {
            x = x * 31 + i;
        }
        sink = x;
    }

    static void turns() {
        while (!still) {
            left(12);
            right(7);
        }
    }

    /** As Thread.ofVirtual().name(name).start(body) of JDK 21. */
    private static void startVirtual(String name, Runnable body) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
        type.getMethod("name", String.class).invoke(builder, name);
        Method start = type.getMethod("start", Runnable.class);
        start.invoke(builder, body);
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        for (String line = in.readLine(); line != null && !line.equals("exit"); line = in.readLine()) {
            String[] words = line.split(" ");
            switch (words[0].toLowerCase(Locale.ROOT)) {
                case "naps":
                    for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                        startVirtual("nap-" + i, () -> nap(10));
                    }
                    break;
                case "spin":
                    int depth = Integer.parseInt(words[1]);
                    startVirtual("deep", () -> outer(depth));
                    Thread.sleep(300);
                    break;
                case "turns":
                    startVirtual("turns", Thawed::turns);
                    Thread.sleep(300);
                    break;
                case "still":
                    still = true;
                    break;
                default:
                    System.out.println("ERR " + line);
                    continue;
            }
            System.out.println("OK");
        }
    }
}
