import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.ref.WeakReference;

/**
 * The events that a JVMPI profiler sees. Each line is a command; the answer counts what it did. "step NAME" starts a
 * thread "jvmpi:NAME", at whose start the profiler performs the step of that name, and waits for the thread's end.
 */
public final class JvmpiZoo {
    /** Known values, for heap dumps. */
    static class Base {
        int inherited = 0x0badcafe;
        Object self;
    }

    interface Constants {
        int[] NUMBERS = {1, 2, 3};
    }

    static final class Animal extends Base implements Constants {
        static long population = 0x1122334455667788L;
        static Object first;
        static byte flags = 0x5a;
        int legs = 0x01020304;
        double weight = 1.5;
        String name = "zoo";
        short[] sizes = {0x0102, 0x0304, 0x0506};
        Object[] friends = new Object[3];
    }

    /** Loaded again by each loader of the command "load". */
    public static final class Plugin {
        static int runs;

        public Plugin() {
            run();
        }

        static void run() {
            runs++;
        }
    }

    static final class PluginLoader extends ClassLoader {
        private final byte[] bytes;

        PluginLoader(byte[] bytes) {
            super(JvmpiZoo.class.getClassLoader());
            this.bytes = bytes;
        }

        Class<?> define() {
            return defineClass("JvmpiZoo$Plugin", bytes, 0, bytes.length);
        }
    }

    static class Refusing {
        final int value;

        Refusing(int value) {
            if (value < 0) {
                throw new IllegalArgumentException("negative");
            }
            this.value = value;
        }
    }

    static final class Derived extends Refusing {
        Derived(int value) {
            super(value);
        }
    }

    /** Code whose types merge at joins: in branches, loops, handlers, arrays, uninitialized objects. */
    static final class Paths {
        interface Shape {
            int area();
        }

        abstract static class Rounded implements Shape {
            int radius = 2;
        }

        static final class Disc extends Rounded {
            @Override
            public int area() {
                return 3 * radius * radius;
            }
        }

        static final class Ring extends Rounded {
            Ring(int radius) {
                super();
                this.radius = radius;
            }

            @Override
            public int area() {
                return 3 * radius;
            }
        }

        static int radius(Rounded rounded) {
            return rounded.radius;
        }

        static int walk(int rounds) {
            int sum = 0;
            for (int i = 0; i < rounds; i++) {
                Rounded rounded = i % 2 == 0 ? new Disc() : new Ring(i % 3 == 0 ? i : -i);
                sum += radius(rounded);
                Shape shape = i % 4 == 0 ? rounded : () -> 7;
                sum += shape.area();
                Rounded[] row = i % 2 == 0 ? new Disc[] {new Disc()} : new Ring[] {new Ring(1)};
                sum += row[0].radius;
                long wide = i;
                double exact = i;
                try {
                    Object text = i % 5 == 0 ? Integer.valueOf(i) : "text" + i;
                    sum += text.hashCode() % 2;
                    if (i % 3 == 0) {
                        throw new IllegalStateException();
                    }
                } catch (IllegalStateException | ClassCastException e) {
                    sum += e.getMessage() == null ? 1 : 0;
                } finally {
                    sum += (int) (wide + exact);
                }
                switch (i) {
                    case 1:
                        sum += 5;
                        break;
                    case 1000:
                        continue;
                    default:
                        sum--;
                }
            }
            return sum;
        }
    }

    static final Object LOCK = new Object();
    static final Animal ANIMAL = new Animal();
    static volatile Object sink;
    static int number;
    static int replaced() {
        return 1;
    }

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    int instance(int n) {
        return n + 1;
    }

    static void thrower(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("as asked");
        }
        thrower(depth - 1);
    }

    /** An exception leaves half of the constructors; it leaves the outer ones before their super constructor has
     * returned. */
    static int construct(int count) {
        int refused = 0;
        for (int i = 0; i < count; i++) {
            try {
                sink = new Derived(i % 2 == 0 ? i : -i);
            } catch (IllegalArgumentException e) {
                refused++;
            }
        }
        return refused;
    }

    private static byte[] pluginBytes() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (InputStream in = JvmpiZoo.class.getResourceAsStream("JvmpiZoo$Plugin.class")) {
            for (int b; (b = in.read()) >= 0;) {
                bytes.write(b);
            }
        }
        return bytes.toByteArray();
    }

    private static String load(int count) throws Exception {
        byte[] bytes = pluginBytes();
        WeakReference<?>[] loaders = new WeakReference<?>[count];
        for (int i = 0; i < count; i++) {
            PluginLoader loader = new PluginLoader(bytes);
            Class<?> made = loader.define();
            made.getDeclaredField("runs").setAccessible(true);
            sink = made.getDeclaredConstructor().newInstance();
            loaders[i] = new WeakReference<>(loader);
        }
        sink = null;
        for (WeakReference<?> each : loaders) {
            while (each.get() != null) {
                System.gc();
            }
        }
        System.gc();
        return "loaded=" + count;
    }

    private static void run(Thread thread) throws InterruptedException {
        thread.start();
        thread.join();
    }

    private static void awaitState(Thread thread, Thread.State state) throws InterruptedException {
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
    }

    private static String contend(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(() -> {
                synchronized (LOCK) {
                    number++;
                }
            }, "contender-" + i);
            synchronized (LOCK) {
                thread.start();
                awaitState(thread, Thread.State.BLOCKED);
            }
            thread.join();
        }
        return "contended=" + count;
    }

    private static String waits(int count) throws Exception {
        Object meeting = new Object();
        synchronized (meeting) {
            for (int i = 0; i < count; i++) {
                meeting.wait(1);
            }
        }
        return "waits=" + count;
    }

    /** Sleeps 7 ms the given number of times, and once with an interruption. */
    private static String sleeps(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            Thread.sleep(7);
        }
        Thread.currentThread().interrupt();
        try {
            Thread.sleep(7);
        } catch (InterruptedException e) {
            return "sleeps=" + (count + 1);
        }
        return "not interrupted";
    }

    /** Runs a step while one thread holds a monitor, one waits to enter it and one is in Object.wait on it. */
    private static String held(String name) throws Exception {
        Object lock = LOCK;
        Thread waiter = new Thread(() -> {
            synchronized (lock) {
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    number++;
                }
            }
        }, "zoo-waiter");
        waiter.start();
        awaitState(waiter, Thread.State.WAITING);
        Thread enterer = new Thread(() -> {
            synchronized (lock) {
                number++;
            }
        }, "zoo-enterer");
        synchronized (lock) {
            enterer.start();
            awaitState(enterer, Thread.State.BLOCKED);
            run(new Thread(() -> number++, "jvmpi:" + name));
            lock.notifyAll();
        }
        enterer.join();
        waiter.join();
        return "held=" + name;
    }

    /** Runs a step while other threads begin and end. */
    private static String beside(String name) throws Exception {
        Thread step = new Thread(() -> number++, "jvmpi:" + name);
        step.start();
        int ended = 0;
        while (step.isAlive()) {
            Thread[] threads = new Thread[4];
            for (int i = 0; i < threads.length; i++) {
                threads[i] = new Thread(() -> sink = fib(15), "ending-" + i);
                threads[i].start();
            }
            for (Thread each : threads) {
                each.join();
                ended++;
            }
        }
        return "ended=" + ended;
    }

    private static String answer(String[] words) throws Exception {
        int n = words.length > 1 && Character.isDigit(words[1].charAt(0)) ? Integer.parseInt(words[1]) : 0;
        switch (words[0]) {
            case "step":
                run(new Thread(() -> number++, "jvmpi:" + words[1]));
                return "step=" + words[1];
            case "beside":
                return beside(words[1]);
            case "held":
                return held(words[1]);
            case "threads":
                for (int i = 0; i < n; i++) {
                    run(new Thread(() -> sink = new int[64], "worker-" + i));
                }
                return "threads=" + n;
            case "contend":
                return contend(n);
            case "waits":
                return waits(n);
            case "sleeps":
                return sleeps(n);
            case "load":
                return load(n);
            case "alloc":
                for (int i = 0; i < n; i++) {
                    sink = new Refusing(i);
                }
                sink = new long[1000];
                return "alloc=" + n;
            case "gc":
                for (int i = 0; i < n; i++) {
                    System.gc();
                }
                return "gc=" + n;
            case "calls": {
                fib(10);
                JvmpiZoo zoo = new JvmpiZoo();
                for (int i = 0; i < n; i++) {
                    number = zoo.instance(i);
                    try {
                        thrower(3);
                    } catch (IllegalStateException e) {
                        number++;
                    }
                }
                return "refused=" + construct(n);
            }
            case "paths":
                return "paths=" + Paths.walk(n);
            case "replaced":
                return "replaced=" + replaced();
            case "bench": {
                int rounds = Integer.parseInt(words[2]);
                long best = Long.MAX_VALUE;
                for (int i = 0; i < rounds; i++) {
                    long start = System.nanoTime();
                    number += fib(n);
                    best = Math.min(best, System.nanoTime() - start);
                }
                return "ns=" + best;
            }
            default:
                return "unknown";
        }
    }

    public static void main(String[] args) throws Exception {
        ANIMAL.self = ANIMAL;
        ANIMAL.friends[1] = ANIMAL;
        Animal.first = ANIMAL;
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            System.out.println("OK " + answer(line.split(" ")));
        }
    }
}
