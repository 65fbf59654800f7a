import java.io.BufferedReader;
import java.io.InputStreamReader;

/** More of what Ailing has: threads that were notified and do not get their monitor back, and a crash. */
public final class MoreAilments {
    static volatile long sink;

    static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void awaitState(Thread thread, Thread.State state) {
        while (thread.getState() != state) {
            sleep(1);
        }
    }

    /** Writes to an address that no process has. */
    static void crash() {
        try {
            Class<?> type = Class.forName("sun.misc.Unsafe");
            java.lang.reflect.Field field = type.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            type.getMethod("putLong", long.class, long.class).invoke(field.get(null), 0x30L, 1L);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A circle through a thread that was notified and is to enter its monitor again. */
    static void relock() {
        final Object waited = new Object();
        final Object other = new Object();
        Thread first = start("relock-1", () -> {
            synchronized (other) {
                waitFor(waited);
            }
        });
        awaitState(first, Thread.State.WAITING);
        Thread second = start("relock-2", () -> {
            synchronized (waited) {
                waited.notify();
                synchronized (other) {
                    sink++;
                }
            }
        });
        awaitState(first, Thread.State.BLOCKED);
        awaitState(second, Thread.State.BLOCKED);
    }

    /** Threads that were notified, and the one that has notified them keeps their lock. */
    static void herd(int count) {
        final Object waited = new Object();
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] = start("notified-" + i, () -> waitFor(waited));
            awaitState(threads[i], Thread.State.WAITING);
        }
        start("keeper", () -> {
            synchronized (waited) {
                waited.notifyAll();
                while (true) {
                    sleep(60_000);
                }
            }
        });
        for (Thread each : threads) {
            awaitState(each, Thread.State.BLOCKED);
        }
    }

    static void waitFor(Object object) {
        synchronized (object) {
            try {
                object.wait();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static String answer(String[] words) {
        int number = words.length > 1 ? Integer.parseInt(words[1]) : 1;
        switch (words[0]) {
            case "relock": relock(); break;
            case "herd": herd(number); break;
            case "crash": start("crasher", MoreAilments::crash); break;
            default: return "ERR unknown " + words[0];
        }
        return "OK " + words[0];
    }

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null && !line.equals("quit");) {
            System.out.println(answer(line.split(" ")));
        }
        System.exit(0);
    }
}
