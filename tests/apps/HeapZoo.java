import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * A heap with one object of every kind, for heap readers: fields and arrays of all types, fields that hide inherited
 * ones, statics, cycles, large arrays, garbage.
 *
 * <p>After READY it allocates only to answer commands. "fill N" keeps N more nodes (three objects each), "big N" N
 * arrays of 3 MB, "drop" releases all of these, "gc" collects, "churn N" starts N threads that allocate and "collect N"
 * N threads that ask for collections, both until "calm"; "park N" parks N threads with local variables, "locked" starts
 * a thread that holds a monitor.
 */
public final class HeapZoo {
    static class Base {
        byte b = -2;
        long hidden = 11;
        Object other = "base";
    }

    static class Derived extends Base {
        boolean z = true;
        char c = 'é';
        short s = -3;
        int i = 123456789;
        long j = -1234567890123456789L;
        float f = 1.5f;
        double d = -2.25;
        long hidden = 22;
        Derived self = this;
        Object nothing;
        String text = "derived \u20ac";
    }

    static final class Node {
        final int number;
        Node next;
        final Integer boxed;
        final byte[] payload;

        Node(int number, Node next) {
            this.number = number;
            this.next = next;
            this.boxed = new Integer(number);
            this.payload = new byte[number % 17];
        }
    }

    static final class Target {
        final int id;

        Target(int id) {
            this.id = id;
        }
    }

    static final class Holder {
        Object first;
        Object second;
    }

    static final Derived DERIVED = new Derived();
    static final Target TARGET = new Target(7);
    static final Holder HOLDER = new Holder();
    static final boolean[] BOOLEANS = {true, false, true};
    static final byte[] BYTES = {1, -2, 3};
    static final char[] CHARS = {'a', 'é', '\u20ac'};
    static final short[] SHORTS = {-1, 2};
    static final int[] INTS = {1, -2, 3, Integer.MAX_VALUE};
    static final long[] LONGS = {Long.MIN_VALUE, 5};
    static final float[] FLOATS = {1.25f, Float.NaN};
    static final double[] DOUBLES = {Math.PI, -0.0};
    static final Object[] OBJECTS = {TARGET, null, "text", new int[0], new Object[2][3]};
    static final Map<String, Object> MAP = new LinkedHashMap<>();
    static final int NUMBER = 42;
    /** Perhaps the same bits as a reference. */
    static int anyNumber;
    static long counter = 4711;
    static Node nodes;
    static List<Object> large = new ArrayList<>();
    static volatile Object sink;
    static volatile boolean churning;
    private static final List<Thread> threads = new ArrayList<>();

    private static void fill(int count) {
        for (int i = 0; i < count; i++) {
            nodes = new Node(i, nodes);
        }
    }

    private static void litter(int count) {
        for (int i = 0; i < count; i++) {
            sink = new long[i % 100];
        }
        sink = null;
    }

    private static void withoutEnd(int count, String name, Runnable work) {
        churning = true;
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(() -> {
                while (churning) {
                    work.run();
                }
            }, name + i);
            thread.setDaemon(true);
            thread.start();
        }
    }

    static void deep(int depth, Object mine, CountDownLatch down) throws InterruptedException {
        String local = "local " + depth;
        Object[] array = {mine, local};
        if (depth > 0) {
            deep(depth - 1, array, down);
        } else {
            down.countDown();
            synchronized (mine) {
                while (!Thread.currentThread().isInterrupted()) {
                    mine.wait();
                }
            }
        }
        if (array[0] == local) {
            throw new IllegalStateException(local);
        }
    }

    private static void park(int count) throws InterruptedException {
        CountDownLatch down = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            Object mine = new Target(1000 + i);
            Thread thread = new Thread(() -> {
                try {
                    deep(10, mine, down);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, "parked-" + i);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        down.await();
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
    }

    static void nested(int depth, Object mine, CountDownLatch down) {
        Object[] array = {mine, "local " + depth};
        if (depth > 0) {
            nested(depth - 1, array, down);
        } else {
            down.countDown();
            while (!Thread.currentThread().isInterrupted()) {
                java.util.concurrent.locks.LockSupport.park();
            }
        }
        if (array[0] == array[1]) {
            throw new IllegalStateException();
        }
    }

    // JDK 21 and later; by reflection, because this file is compiled for JDK 8.
    private static void virtual(int count) throws Exception {
        CountDownLatch down = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            Object mine = new Target(2000 + i);
            Runnable body = () -> nested(10, mine, down);
            Thread thread = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
            threads.add(thread);
        }
        down.await();
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
    }

    private static void lock() throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            synchronized (HOLDER) {
                held.countDown();
                try {
                    Thread.sleep(Long.MAX_VALUE);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }, "locker");
        thread.setDaemon(true);
        thread.start();
        held.await();
    }

    private static String answer(String[] words) throws Exception {
        int number = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        switch (words[0]) {
            case "fill": fill(number); break;
            case "big":
                for (int i = 0; i < number; i++) {
                    large.add(new int[750_000]);
                }
                break;
            case "drop":
                nodes = null;
                large = new ArrayList<>();
                break;
            case "gc": System.gc(); break;
            case "churn": withoutEnd(number, "churn-", () -> litter(1000)); break;
            case "collect": withoutEnd(number, "collect-", System::gc); break;
            case "calm": churning = false; break;
            case "park": park(number); break;
            case "virtual": virtual(number); break;
            case "locked": lock(); break;
            case "number": anyNumber = number; break;
            default: break;
        }
        return "OK " + words[0];
    }

    public static void main(String[] args) throws Exception {
        HOLDER.first = TARGET;
        HOLDER.second = new Object[] {HOLDER, TARGET};
        for (int i = 0; i < 1000; i++) {
            MAP.put("key " + i, new HashMap<Object, Object>());
        }
        DERIVED.other = DERIVED;
        litter(20_000);
        fill(20_000);
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null && !line.equals("quit");) {
            System.out.println(answer(line.split(" ")));
        }
    }
}
