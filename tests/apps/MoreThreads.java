import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Threads that become more on command. "stay NAME N" starts N threads that wait, "brief N" N threads that end at once,
 * "virtual NAME N" N virtual threads that take turns at a monitor for ever; each answers OK when they run, or have
 * ended. "leave" ends those that stay. "quit" ends the program.
 */
public final class MoreThreads {
    private static final Object TURN = new Object();
    private static final List<Thread> STAYING = new ArrayList<>();

    private MoreThreads() {
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void takeTurns(CountDownLatch there) {
        there.countDown();
        for (;;) {
            synchronized (TURN) {
                pause(10);
            }
            pause(1);
        }
    }

    private static void stay(String name, int count) throws InterruptedException {
        CountDownLatch there = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(() -> {
                there.countDown();
                pause(3_600_000);
            }, name + "-" + i);
            thread.setDaemon(true);
            thread.start();
            STAYING.add(thread);
        }
        there.await();
    }

    private static void brief(int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(() -> pause(1), "brief-" + i);
            thread.start();
            thread.join();
        }
    }

    private static void leave() throws InterruptedException {
        for (Thread thread : STAYING) thread.interrupt();
        for (Thread thread : STAYING) thread.join();
        STAYING.clear();
    }

    private static void virtual(String name, int count) throws Exception {
        CountDownLatch there = new CountDownLatch(count);
        Method named = Class.forName("java.lang.Thread$Builder").getMethod("name", String.class);
        Method start = Class.forName("java.lang.Thread$Builder").getMethod("start", Runnable.class);
        for (int i = 0; i < count; i++) {
            Object builder = named.invoke(Thread.class.getMethod("ofVirtual").invoke(null), name + "-" + i);
            start.invoke(builder, (Runnable) () -> takeTurns(there));
        }
        there.await();
    }

    /** The commands are described above. */
    public static void main(String[] arguments) throws IOException {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            String[] words = line.split(" ");
            try {
                switch (words[0]) {
                    case "stay": stay(words[1], Integer.parseInt(words[2])); break;
                    case "brief": brief(Integer.parseInt(words[1])); break;
                    case "leave": leave(); break;
                    case "virtual": virtual(words[1], Integer.parseInt(words[2])); break;
                    default: throw new IllegalArgumentException(line);
                }
                System.out.println("OK");
            } catch (Exception e) {
                System.out.println("ERR " + e);
            }
        }
    }
}
