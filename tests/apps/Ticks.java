import java.util.concurrent.locks.LockSupport;

/** Calls tick() each 5 ms, which computes for as many microseconds as the argument says. Ends with its input. */
public final class Ticks {
    private static int sink;

    private Ticks() {
    }

    private static void tick(long ns) {
        for (long end = System.nanoTime() + ns; System.nanoTime() < end;) {
            sink++;
        }
    }

    private static void run(long ns) {
        while (true) {
            tick(ns);
            LockSupport.parkNanos(5_000_000);
        }
    }

    /** Prints READY when it is about to begin. */
    public static void main(String[] arguments) throws Exception {
        long ns = Long.parseLong(arguments[0]) * 1000;
        Thread thread = new Thread(() -> run(ns), "ticker");
        thread.setDaemon(true);
        System.out.println("READY");
        thread.start();
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
