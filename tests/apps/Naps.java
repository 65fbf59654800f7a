import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Threads that sleep 100 to 200 ms, again and again; the argument is their number. Prints READY when all have begun. The
 * line "work" starts thread after thread for a second, each of which computes for 3 ms, and is answered with OK; "quit"
 * ends the program.
 */
public final class Naps {
    private static volatile double sink;

    private Naps() {
    }

    private static void nap(int number) {
        try {
            while (true) Thread.sleep(100 + number * 37 % 100);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void compute() {
        double sum = 0;
        for (long end = System.nanoTime() + 3_000_000; System.nanoTime() < end;) sum += Math.sqrt(sum + 1);
        sink = sum;
    }

    private static void work() throws InterruptedException {
        for (long end = System.nanoTime() + 1_000_000_000; System.nanoTime() < end;) {
            Thread thread = new Thread(Naps::compute, "brief");
            thread.start();
            thread.join();
        }
    }

    /** The commands are described above. */
    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            int number = i;
            Thread thread = new Thread(null, () -> nap(number), "napper-" + i, 256 << 10);
            thread.setDaemon(true);
            thread.start();
            while (thread.getState() != Thread.State.TIMED_WAITING) Thread.yield();
        }
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            if (line.equals("work")) work();
            System.out.println("OK");
        }
    }
}
