import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * A thread that does not come to a safepoint while others ask for one.
 *
 * <p>It prints READY when the loop is compiled. "late" starts the thread "late-loop", whose counted int loop has
 * no safepoint poll in compiled code (JDK 8; later with -XX:-UseCountedLoopSafepoints -XX:LoopStripMiningIter=0), and
 * the thread "asker", which then calls System.gc(). "busy N" starts N threads that allocate, lock and poll as usual.
 */
public final class LateThread {
    static volatile long sink;
    static volatile boolean looping;
    static volatile Object garbage;

    /** Divides by a variable, so that the longest int loop takes tens of seconds. */
    static long divide(int rounds, long first, long by) {
        long value = first;
        for (int i = 0; i < rounds; i++) {
            value = (value + i) / by + value % (by + 2) + Long.MAX_VALUE / 3;
        }
        return value;
    }

    static void loop() {
        looping = true;
        sink += divide(Integer.MAX_VALUE, sink | 1, 7);
    }

    static void ask() {
        try {
            while (!looping) {
                Thread.sleep(1);
            }
            Thread.sleep(100);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        System.gc();
    }

    static void busy() {
        while (true) {
            synchronized (LateThread.class) {
                garbage = new byte[256];
            }
            sink += divide(50, sink, 7);
        }
    }

    private static void start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 30_000; i++) {
            sink += divide(100, i, 7);
        }
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("late")) {
                start("asker", LateThread::ask);
                start("late-loop", LateThread::loop);
            } else if (words[0].equals("busy")) {
                for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                    start("busy-" + i, LateThread::busy);
                }
            }
            System.out.println("OK");
        }
    }
}
