import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Programs that leak; each argument selects one: map, listeners, local, loaders, direct, interned, finalizers.
 * "healthy" leaks nothing, "waste" holds memory that is not needed. Prints READY; a line of input has the same words,
 * and is answered with OK.
 */
public final class Leaks {
    static final class Session {
        final byte[] load = new byte[1000];
    }

    static final class Listener implements Runnable {
        final byte[] load = new byte[2000];

        @Override
        public void run() {}
    }

    static final class Scratch {
        final byte[] load = new byte[400_000];
    }

    /** A part of an application that is loaded again and again. */
    public static final class Plugin implements Runnable {
        final byte[] load = new byte[300_000];

        @Override
        public void run() {
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                System.out.println(load.length);
            }
        }
    }

    /** Each field is one kind of waste. */
    static final class Order {
        final String city;
        final byte[] picture = new byte[100];
        final int[] zeros = new int[100];
        final Integer amount;
        final Map<String, String> none = new HashMap<>();
        final Map<String, String> single = new HashMap<>();
        final List<String> wide = new ArrayList<>(64);

        Order(int i) {
            city = new String(("city of the number " + i % 10).toCharArray());
            picture[0] = 1;
            amount = 1_000 + i;
            single.put("key", "value");
            wide.add("one");
            wide.add("two");
        }
    }

    static final class Slow {
        final byte[] load = new byte[10_000];

        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() throws Throwable {
            Thread.sleep(Long.MAX_VALUE);
        }
    }

    /** Defines Leaks$Plugin itself instead of asking its parent. */
    static final class PluginLoader extends ClassLoader {
        PluginLoader() {
            super(Leaks.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("Leaks$Plugin")) {
                return super.loadClass(name, resolve);
            }
            try (InputStream in = Leaks.class.getResourceAsStream("Leaks$Plugin.class")) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                for (int next = in.read(); next >= 0; next = in.read()) {
                    bytes.write(next);
                }
                return defineClass(name, bytes.toByteArray(), 0, bytes.size());
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static final Map<Integer, Session> SESSIONS = new HashMap<>();
    static final List<Listener> LISTENERS = new CopyOnWriteArrayList<>();
    static final ThreadLocal<Scratch> SCRATCH = new ThreadLocal<>();
    static final List<ByteBuffer> BUFFERS = new ArrayList<>();
    static final List<Order> ORDERS = new ArrayList<>();
    static final List<String> INTERNED = new ArrayList<>();
    static List<byte[]> one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve;

    private static void sleepIn(Thread thread) {
        thread.setDaemon(true);
        thread.start();
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.yield();
        }
    }

    private static void leak(String what) throws Exception {
        switch (what) {
            case "map":
                for (int i = 0; i < 20_000; i++) {
                    SESSIONS.put(i, new Session());
                }
                break;
            case "listeners":
                List<Listener> listeners = new ArrayList<>();
                for (int i = 0; i < 8_000; i++) {
                    listeners.add(new Listener());
                }
                LISTENERS.addAll(listeners);
                break;
            case "local":
                for (int i = 0; i < 40; i++) {
                    sleepIn(new Thread(() -> {
                        SCRATCH.set(new Scratch());
                        pause();
                    }, "worker-" + i));
                }
                break;
            case "loaders":
                for (int i = 0; i < 12; i++) {
                    Class<?> plugin = new PluginLoader().loadClass("Leaks$Plugin", false);
                    sleepIn(new Thread((Runnable) plugin.getDeclaredConstructor().newInstance(), "plugin-" + i));
                }
                break;
            case "direct":
                for (int i = 0; i < 64; i++) {
                    BUFFERS.add(ByteBuffer.allocateDirect(1 << 20));
                }
                break;
            case "interned":
                for (int i = 0; i < 200_000; i++) {
                    INTERNED.add(("an interned string of its own, the one of number " + i).intern());
                }
                break;
            case "finalizers":
                for (int i = 0; i < 2_000; i++) {
                    new Slow();
                }
                waitForQueue();
                break;
            case "waste":
                for (int i = 0; i < 5_000; i++) {
                    ORDERS.add(new Order(i));
                }
                break;
            default:
                healthy();
        }
    }

    /** Waits until all are queued except the object whose finalize() does not end. */
    private static void waitForQueue() throws Exception {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        for (int i = 0; i < 1000 && memory.getObjectPendingFinalizationCount() < 1_990; i++) {
            if (i % 100 == 0) {
                System.gc();
            }
            Thread.sleep(20);
        }
    }

    /** Much memory, but no large part of it in one place. */
    private static void healthy() {
        one = part();
        two = part();
        three = part();
        four = part();
        five = part();
        six = part();
        seven = part();
        eight = part();
        nine = part();
        ten = part();
        eleven = part();
        twelve = part();
    }

    private static List<byte[]> part() {
        List<byte[]> part = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            part.add(new byte[10_000]);
        }
        return part;
    }

    private static void pause() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            System.out.println("interrupted");
        }
    }

    /** In a thread that ends, so that nothing is left on a stack. */
    private static void leakAll(String[] all) throws InterruptedException {
        Thread builder = new Thread(() -> {
            for (String what : all) {
                try {
                    leak(what);
                } catch (Exception e) {
                    throw new IllegalStateException(what, e);
                }
            }
        });
        builder.start();
        builder.join();
        System.gc();
    }

    public static void main(String[] args) throws Exception {
        leakAll(args);
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            leakAll(line.split(" "));
            System.out.println("OK");
        }
    }
}
