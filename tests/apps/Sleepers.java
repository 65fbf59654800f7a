import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/**
 * 30 threads that sleep, each with an object to which only a variable of its frame refers, between other objects that
 * are dropped. Prints READY. The line "collect N" runs a collection, allocates N thousand arrays, which may take the
 * place of what was moved, and is answered with OK; so is any other line.
 */
public final class Sleepers {
    static final class Local {
        final byte[] load = new byte[11000];
    }

    private static final int THREADS = 30;
    private static final List<Object> BETWEEN = new ArrayList<>();
    private static final List<Object> LATER = new ArrayList<>();

    private static void hold(Local local) {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            System.out.println(local.load.length);
        }
    }

    private static void start(int number) {
        for (int i = 0; i < 3000; i++) {
            BETWEEN.add(new byte[500]);
        }
        Thread thread = new Thread(() -> hold(new Local()), "sleeper-" + number);
        thread.setDaemon(true);
        thread.start();
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.yield();
        }
    }

    private static void collect(int thousands) {
        for (int i = 0; i < BETWEEN.size(); i++) {
            BETWEEN.set(i, i % 7 == 0 ? new byte[500] : null);
        }
        LATER.clear();
        System.gc();
        for (int i = 0; i < thousands * 1000; i++) {
            LATER.add(new byte[1000]);
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < THREADS; i++) {
            start(i);
        }
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            if (line.startsWith("collect ")) {
                collect(Integer.parseInt(line.substring(8)));
            }
            System.out.println("OK");
        }
    }
}
