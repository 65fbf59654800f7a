import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * A small program that does a little of everything that a tracer can see: threads that start and end, contended locks,
 * waits, garbage of several sizes, exceptions, class loaders that are loaded and dropped, virtual threads.
 *
 * <p>It prints READY, then answers each line of its input with one line: "OK ..." or "ERR ...". With the argument
 * "busy" it also works by itself, until its input ends. Each command is complete when it is answered.
 */
public final class Workload {
    /** Loaded again by each class loader of the command "load". */
    public static final class Plugin implements Runnable {
        static int runs;

        @Override
        public void run() {
            runs++;
        }
    }

    /** What the command "alloc" allocates. */
    public static final class Sample {
        final long[] payload = new long[4];
    }

    /** Defines its own copy of Plugin. */
    static final class PluginLoader extends ClassLoader {
        private final byte[] bytes;

        PluginLoader(byte[] bytes) {
            super(Workload.class.getClassLoader());
            this.bytes = bytes;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.equals("Workload$Plugin")) {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : defineClass(name, bytes, 0, bytes.length);
            }
            return super.loadClass(name, resolve);
        }
    }

    interface Action {
        void run() throws Exception;
    }

    private static final Object LOCK = new Object();
    private static final Object MEETING = new Object();
    private static final List<Thread> held = new ArrayList<>();
    private static CountDownLatch release = new CountDownLatch(1);
    static volatile Object sink;

    private static byte[] pluginBytes() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (InputStream in = Workload.class.getResourceAsStream("Workload$Plugin.class")) {
            byte[] buffer = new byte[8192];
            for (int count; (count = in.read(buffer)) > 0;) {
                bytes.write(buffer, 0, count);
            }
        }
        return bytes.toByteArray();
    }

    private static Thread start(String name, Action action) {
        Thread thread = new Thread(() -> {
            try {
                action.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name);
        thread.start();
        return thread;
    }

    private static void joinAll(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void awaitState(List<Thread> threads, Thread.State state) throws InterruptedException {
        for (Thread thread : threads) {
            while (thread.getState() != state) {
                Thread.sleep(1);
            }
        }
    }

    /** N threads that start, work a little and end. */
    static String threads(int count) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            threads.add(start("worker-" + i, () -> sink = new int[64]));
        }
        joinAll(threads);
        return "threads=" + count;
    }

    /** A thread whose name has N characters. */
    static String named(int length) throws Exception {
        char[] name = new char[length];
        java.util.Arrays.fill(name, 'n');
        start(new String(name), () -> { }).join();
        return "named=" + length;
    }

    /** N threads that stay until "release". */
    static String hold(int count) throws Exception {
        CountDownLatch gate = release;
        CountDownLatch running = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            held.add(start("held-" + held.size(), () -> {
                running.countDown();
                gate.await();
            }));
        }
        running.await();
        return "held=" + held.size();
    }

    static String release() throws Exception {
        release.countDown();
        joinAll(held);
        int count = held.size();
        held.clear();
        release = new CountDownLatch(1);
        return "released=" + count;
    }

    /** N threads that find the lock taken: each contends at least once. */
    static String contend(int count) throws Exception {
        List<Thread> threads = new ArrayList<>();
        synchronized (LOCK) {
            for (int i = 0; i < count; i++) {
                threads.add(start("contender-" + i, () -> {
                    synchronized (LOCK) {
                        sink = Thread.currentThread();
                    }
                }));
            }
            awaitState(threads, Thread.State.BLOCKED);
        }
        joinAll(threads);
        return "contended=" + count;
    }

    /** N threads in Object.wait, woken by notifyAll, and one wait that times out. */
    static String waits(int count) throws Exception {
        List<Thread> threads = new ArrayList<>();
        boolean[] go = new boolean[1];
        for (int i = 0; i < count; i++) {
            threads.add(start("waiter-" + i, () -> {
                synchronized (MEETING) {
                    while (!go[0]) {
                        MEETING.wait();
                    }
                }
            }));
        }
        awaitState(threads, Thread.State.WAITING);
        synchronized (MEETING) {
            go[0] = true;
            MEETING.notifyAll();
        }
        joinAll(threads);
        Object alone = new Object();
        synchronized (alone) {
            alone.wait(1);
        }
        return "waits=" + (count + 1);
    }

    static String parks(int count) {
        for (int i = 0; i < count; i++) {
            LockSupport.parkNanos(1000);
        }
        return "parks=" + count;
    }

    /** Parks N calls deep; if it was called often enough before, its code is compiled. */
    static String deep(int depth) {
        for (int i = 0; i < 20_000; i++) {
            down(i % 8, false);
        }
        down(depth, true);
        return "deep=" + depth;
    }

    private static int down(int depth, boolean park) {
        if (depth > 0) {
            return down(depth - 1, park) + 1;
        }
        if (park) {
            LockSupport.parkNanos(1000);
        }
        return 0;
    }

    static String exceptions(int count) {
        int caught = 0;
        for (int i = 0; i < count; i++) {
            try {
                throwFrom(i % 5, i);
            } catch (IllegalArgumentException | IllegalStateException e) {
                caught++;
            }
        }
        return "caught=" + caught;
    }

    private static void throwFrom(int depth, int number) {
        if (depth > 0) {
            throwFrom(depth - 1, number);
        } else if (number % 2 == 0) {
            throw new IllegalArgumentException("number " + number);
        } else {
            throw new IllegalStateException("number " + number);
        }
    }

    /** Garbage of several sizes, some of it kept for a while. */
    static String garbage(int mebibytes) {
        Deque<byte[]> kept = new ArrayDeque<>();
        int[] sizes = {16, 64, 256, 4096, 65536, 1 << 20};
        long bytes = 0;
        for (int i = 0; bytes < (long) mebibytes << 20; i++) {
            byte[] piece = new byte[sizes[i % sizes.length]];
            bytes += piece.length;
            kept.add(piece);
            if (kept.size() > 64) {
                sink = kept.removeFirst();
            }
        }
        return "bytes=" + bytes;
    }

    static String alloc(int count) {
        for (int i = 0; i < count; i++) {
            sink = new Sample();
        }
        return "allocated=" + count;
    }

    /** N class loaders with a copy of Plugin each, used and dropped. */
    static String load(int count) throws Exception {
        byte[] bytes = pluginBytes();
        for (int i = 0; i < count; i++) {
            Class<?> plugin = new PluginLoader(bytes).loadClass("Workload$Plugin");
            ((Runnable) plugin.getDeclaredConstructor().newInstance()).run();
        }
        return "loaded=" + count;
    }

    /** Collects until N more classes are unloaded than the number "from". */
    static String unload(int count, long from) throws Exception {
        ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();
        for (int i = 0; i < 200 && classes.getUnloadedClassCount() - from < count; i++) {
            sink = null;
            System.gc();
            Thread.sleep(5);
        }
        long unloaded = classes.getUnloadedClassCount() - from;
        return (unloaded >= count ? "" : "ERR ") + "unloaded=" + unloaded;
    }

    static String gc(int count) {
        for (int i = 0; i < count; i++) {
            System.gc();
        }
        return gcCounts();
    }

    /** Holds N MiB, collects, and answers with the used, committed and maximum size of the heap. */
    static String heap(int count) {
        byte[][] kept = new byte[16 * count][];
        for (int i = 0; i < kept.length; i++) {
            kept[i] = new byte[(1 << 16) - 64];
        }
        sink = kept;
        System.gc();
        System.gc();
        MemoryUsage usage = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        return "max=" + usage.getMax() + " used=" + usage.getUsed();
    }

    static String gcCounts() {
        StringBuilder text = new StringBuilder();
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            text.append(bean.getName().replace(' ', '_')).append('=').append(bean.getCollectionCount()).append(' ');
        }
        return text.toString().trim();
    }

    /** Drops the referent of a weak reference and collects it. */
    static String weak() throws Exception {
        WeakReference<Object> reference = new WeakReference<>(new Object());
        for (int i = 0; i < 200 && reference.get() != null; i++) {
            System.gc();
        }
        return reference.get() == null ? "cleared" : "ERR not cleared";
    }

    static String virtual(int count) throws Exception {
        java.lang.reflect.Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            return "ERR no virtual threads in this JDK";
        }
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            try {
                threads.add((Thread) start.invoke(null, (Runnable) Thread::yield));
            } catch (java.lang.reflect.InvocationTargetException e) {
                return "ERR virtual threads are off in this JDK: " + e.getCause();
            }
            if (threads.size() == 1000) {
                joinAll(threads);
                threads.clear();
            }
        }
        joinAll(threads);
        return "virtual=" + count;
    }

    static String counts() {
        ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();
        java.lang.management.ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return "loaded=" + classes.getTotalLoadedClassCount() + " unloaded=" + classes.getUnloadedClassCount()
            + " threads=" + threads.getThreadCount() + " started=" + threads.getTotalStartedThreadCount();
    }

    /** The names of the live threads and their ids, as java.lang.Thread has them. */
    static String threadIds() {
        StringBuilder text = new StringBuilder();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            text.append(thread.getId()).append('=').append(thread.getName().replace(' ', '_')).append(' ');
        }
        return text.toString().trim();
    }

    static String answer(String[] words) throws Exception {
        int count = words.length > 1 ? Integer.parseInt(words[1]) : 1;
        switch (words[0]) {
            case "threads": return threads(count);
            case "named": return named(count);
            case "hold": return hold(count);
            case "release": return release();
            case "contend": return contend(count);
            case "wait": return waits(count);
            case "park": return parks(count);
            case "deep": return deep(count);
            case "exceptions": return exceptions(count);
            case "garbage": return garbage(count);
            case "alloc": return alloc(count);
            case "load": return load(count);
            case "unload": return unload(count, words.length > 2 ? Long.parseLong(words[2]) : 0);
            case "gc": return gc(count);
            case "heap": return heap(count);
            case "gccounts": return gcCounts();
            case "weak": return weak();
            case "virtual": return virtual(count);
            case "counts": return counts();
            case "threadids": return threadIds();
            case "exit": System.exit(count); return "";
            case "halt": Runtime.getRuntime().halt(count); return "";
            default: return "ERR unknown command " + words[0];
        }
    }

    /** The program's own work, one round after another, as long as the JVM runs. */
    private static void workForEver() {
        try {
            for (int round = 0;; round++) {
                threads(2);
                contend(2);
                waits(1);
                garbage(4);
                exceptions(20);
                load(2);
                if (round % 20 == 19) {
                    System.gc();
                }
                Thread.sleep(10);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("busy")) {
            Thread worker = new Thread(Workload::workForEver, "busy");
            worker.setDaemon(true);
            worker.start();
        }
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null && !line.equals("quit");) {
            String answer;
            try {
                answer = answer(line.trim().split(" +"));
            } catch (Exception e) {
                answer = "ERR " + e;
            }
            System.out.println(answer.startsWith("ERR ") ? answer : "OK " + answer);
        }
    }
}
