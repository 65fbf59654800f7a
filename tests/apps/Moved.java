import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Random;

/**
 * Objects that the collector keeps moving: threads whose names, and 20,000 objects, lie between others that are
 * allocated and dropped; and young objects that are locked. It prints READY when the threads have started, and
 * continues; "rename" renames the stirring thread, and any other line is answered with OK, too.
 */
public final class Moved {
    static final class Kept {
        byte[] load = new byte[200];
    }

    static final class Held {
        int load;
    }

    private static final int THREADS = 60;
    private static final Kept[] KEPT = new Kept[20_000];
    private static final Object[] BETWEEN = new Object[4_000];

    private static void sleep() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Repeatedly locks an object that is a few milliseconds old. */
    private static void hold() {
        while (true) {
            synchronized (new Held()) {
                try {
                    Thread.sleep(30);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }
    }

    private static void start() {
        for (int i = 0; i < 10; i++) {
            Thread thread = new Thread(Moved::hold, "holder-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        for (int i = 0; i < THREADS; i++) {
            for (int k = 0; k < 2_000; k++) {
                BETWEEN[(i * 67 + k) % BETWEEN.length] = new byte[500];
            }
            Thread thread = new Thread(Moved::sleep, "moved-" + i + "-of-the-crowd");
            thread.setDaemon(true);
            thread.start();
        }
        for (int i = 0; i < KEPT.length; i++) {
            KEPT[i] = new Kept();
        }
    }

    private static void stir() {
        Random random = new Random(1);
        for (int i = 0;; i++) {
            KEPT[random.nextInt(KEPT.length)].load = new byte[200];
            BETWEEN[random.nextInt(BETWEEN.length)] = new byte[500];
            if (i % 20_000 == 0) {
                Thread.yield();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        start();
        Thread stirrer = new Thread(Moved::stir, "stirrer");
        stirrer.setDaemon(true);
        stirrer.start();
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            if (line.equals("rename")) {
                stirrer.setName("renamed");
            }
            System.out.println("OK");
        }
    }
}
