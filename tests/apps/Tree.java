import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/**
 * A known tree of calls: each method's name is its caller's name and one letter more. "spin N THREADS" calls it N
 * times, "virtual N THREADS" does so on virtual threads that change carriers (JDK 21 and later), "exit KIND" ends the
 * JVM within the calls: exit, halt, daemon.
 */
public final class Tree {
    private static final IllegalStateException FAILURE = new IllegalStateException("expected");
    private static volatile boolean virtual;
    private static volatile long sink;

    private static int work(int i) {
        int x = i | 1;
        for (int k = 0; k < 20; k++) {
            x ^= x << 13;
            x ^= x >>> 17;
            x ^= x << 5;
        }
        return x;
    }

    private static void pause(int i) {
        if (virtual && i % 5 == 0) {
            Thread.yield();
        }
    }

    static int n(int i) {
        try {
            return na(i + 1) + nb(i + 2);
        } catch (IllegalStateException expected) {
            return 0;
        }
    }

    static int na(int i) {
        return naa(i + 1) + nab(i + 2);
    }

    static int naa(int i) {
        return naaa(i + 1) + naab(i + 2);
    }

    static int naaa(int i) {
        return work(i);
    }

    static int naab(int i) {
        return work(i);
    }

    static int nab(int i) {
        pause(i);
        return naba(i + 1) + nabb(i + 2);
    }

    static int naba(int i) {
        return work(i);
    }

    static int nabb(int i) {
        return work(i);
    }

    static int nb(int i) {
        return nba(i + 1) + nbb(i + 2);
    }

    static int nba(int i) {
        if (i % 7 == 0) {
            throw FAILURE;
        }
        return nbaa(i + 1) + nbab(i + 2);
    }

    static int nbaa(int i) {
        return work(i);
    }

    static int nbab(int i) {
        return work(i);
    }

    static int nbb(int i) {
        return nbba(i + 1) + nbbb(i + 2);
    }

    static int nbba(int i) {
        return work(i);
    }

    static int nbbb(int i) {
        return work(i);
    }

    private static void spin(long rounds) {
        long sum = 0;
        for (long i = 0; i < rounds; i++) {
            sum += n((int) i);
        }
        sink += sum;
    }

    private static Thread start(Runnable task) throws Exception {
        if (virtual) {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        }
        Thread thread = new Thread(task, "tree");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void run(long rounds, int count) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            threads.add(start(() -> spin(rounds)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void end(String how) throws Exception {
        if (how.equals("exit")) {
            System.exit(0);
        }
        if (how.equals("halt")) {
            Runtime.getRuntime().halt(0);
        }
        start(() -> spin(Long.MAX_VALUE));
        Thread.sleep(200);
    }

    private static void within(String how) throws Exception {
        end(how);
    }

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            if (words[0].equals("exit")) {
                within(words[1]);
                return;
            }
            virtual = words[0].equals("virtual");
            run(Long.parseLong(words[1]), Integer.parseInt(words[2]));
            System.out.println("OK " + sink);
        }
    }
}
