import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A JVM with a fault, for jtrace diagnose: each line of input causes one fault, which lasts. "busy N" causes none: N
 * threads compute, allocate, lock and wait in turns.
 */
public final class Ailing {
    static volatile long sink;
    static volatile boolean stop;
    static final Object HOT = new Object();

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

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void awaitState(Thread thread, Thread.State state) {
        while (thread.getState() != state) {
            sleep(1);
        }
    }

    /** Two threads that each hold one lock and want the other's. */
    static void monitors() {
        final Object one = new Object();
        final Object other = new Object();
        final CountDownLatch both = new CountDownLatch(2);
        Thread first = start("monitor-1", () -> cross(one, other, both));
        Thread second = start("monitor-2", () -> cross(other, one, both));
        awaitState(first, Thread.State.BLOCKED);
        awaitState(second, Thread.State.BLOCKED);
    }

    static void cross(Object one, Object other, CountDownLatch both) {
        synchronized (one) {
            both.countDown();
            await(both);
            synchronized (other) {
                sink++;
            }
        }
    }

    static void synchronizers() {
        final ReentrantLock one = new ReentrantLock();
        final ReentrantLock other = new ReentrantLock();
        final CountDownLatch both = new CountDownLatch(2);
        Thread first = start("lock-1", () -> cross(one, other, both));
        Thread second = start("lock-2", () -> cross(other, one, both));
        awaitState(first, Thread.State.WAITING);
        awaitState(second, Thread.State.WAITING);
        sleep(50);
    }

    static void cross(ReentrantLock one, ReentrantLock other, CountDownLatch both) {
        one.lock();
        both.countDown();
        await(both);
        other.lock();
    }

    static void join(Thread thread, long millis) {
        try {
            do {
                thread.join(millis);
            } while (thread.isAlive());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static <T> T get(Future<T> future) {
        try {
            return future.get();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Two threads that wait for each other's end; with a time limit they only look like it. */
    static void joins(long millis) {
        final Thread[] threads = new Thread[2];
        final CountDownLatch both = new CountDownLatch(1);
        for (int i = 0; i < 2; i++) {
            int other = 1 - i;
            threads[i] = start((millis == 0 ? "join-" : "timed-") + (i + 1), () -> {
                await(both);
                join(threads[other], millis);
            });
        }
        both.countDown();
        for (Thread each : threads) {
            awaitState(each, millis == 0 ? Thread.State.WAITING : Thread.State.TIMED_WAITING);
        }
    }

    /** One waits for the end of another, and has the lock that this one needs. */
    static void joinWithLock() {
        final Object lock = new Object();
        final CountDownLatch locked = new CountDownLatch(1);
        Thread ends = new Thread(() -> {
            await(locked);
            synchronized (lock) {
                sink++;
            }
        }, "never-ends");
        ends.setDaemon(true);
        ends.start();
        Thread stops = start("stopper", () -> {
            synchronized (lock) {
                locked.countDown();
                join(ends, 0);
            }
        });
        awaitState(ends, Thread.State.BLOCKED);
        awaitState(stops, Thread.State.WAITING);
    }

    /** Two tasks that each wait for the other's result. */
    static void tasks() {
        final List<FutureTask<Integer>> tasks = new ArrayList<>();
        final CountDownLatch both = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            int other = 1 - i;
            tasks.add(new FutureTask<>(() -> {
                both.countDown();
                await(both);
                return get(tasks.get(other));
            }));
        }
        awaitState(start("task-1", tasks.get(0)), Thread.State.WAITING);
        awaitState(start("task-2", tasks.get(1)), Thread.State.WAITING);
    }

    static ExecutorService pool(String name, int size, List<Thread> threads) {
        return Executors.newFixedThreadPool(size, body -> {
            Thread thread = new Thread(body, name + "-" + (threads.size() + 1));
            thread.setDaemon(true);
            threads.add(thread);
            return thread;
        });
    }

    /** Each task of a pool waits for another task of `inner`. */
    static void nested(String name, int size, ExecutorService inner, Callable<Integer> last) {
        final List<Thread> threads = new ArrayList<>();
        ExecutorService outer = pool(name, size, threads);
        final CountDownLatch all = new CountDownLatch(size);
        for (int i = 0; i < size; i++) {
            outer.submit(() -> {
                all.countDown();
                await(all);
                return get((inner == null ? outer : inner).submit(last));
            });
        }
        await(all);
        for (Thread each : threads) {
            awaitState(each, Thread.State.WAITING);
        }
    }

    static void nestedFutures(int size) {
        final List<Thread> threads = new ArrayList<>();
        ExecutorService pool = pool("future", size, threads);
        final CountDownLatch all = new CountDownLatch(size);
        for (int i = 0; i < size; i++) {
            CompletableFuture.runAsync(() -> {
                all.countDown();
                await(all);
                CompletableFuture.supplyAsync(() -> 1, pool).join();
            }, pool);
        }
        await(all);
        for (Thread each : threads) {
            awaitState(each, Thread.State.WAITING);
        }
    }

    /** Nobody waits for himself: the tasks of the inner pool are running. */
    static void nestedHealthy() {
        ExecutorService inner = pool("inner", 2, new ArrayList<>());
        nested("outer", 3, inner, () -> {
            sleep(600_000);
            return 1;
        });
    }

    /** A task that waits in its own pool for another one, for an hour at most. Not in JDK 8. */
    static void futureWithTimer() {
        final java.lang.reflect.Method limit;
        try {
            limit = CompletableFuture.class.getMethod("orTimeout", long.class, TimeUnit.class);
        } catch (NoSuchMethodException e) {
            return;
        }
        final List<Thread> threads = new ArrayList<>();
        ExecutorService pool = pool("timed", 1, threads);
        final CountDownLatch ready = new CountDownLatch(1);
        CompletableFuture.runAsync(() -> {
            CompletableFuture<Integer> inner = CompletableFuture.supplyAsync(() -> 1, pool);
            try {
                limit.invoke(inner, 1L, TimeUnit.HOURS);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
            ready.countDown();
            inner.join();
        }, pool);
        await(ready);
        awaitState(threads.get(0), Thread.State.WAITING);
    }

    /** A circle that a time limit ends: one has the lock and waits for the end of one that only tries to get it. */
    static void joinWithTries() {
        final ReentrantLock lock = new ReentrantLock();
        final CountDownLatch locked = new CountDownLatch(1);
        Thread tries = start("tries", () -> {
            await(locked);
            try {
                while (!lock.tryLock(2, TimeUnit.SECONDS)) {
                    sink++;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        start("boss", () -> {
            lock.lock();
            locked.countDown();
            join(tries, 0);
        });
        awaitState(tries, Thread.State.TIMED_WAITING);
    }

    /** As a main thread that has nothing to do. */
    static void joinOneself() {
        awaitState(start("for-ever", () -> join(Thread.currentThread(), 0)), Thread.State.WAITING);
    }

    /** A lock whose owner has ended. */
    static void loseLock(int waiters) {
        final ReentrantLock lock = new ReentrantLock();
        join(start("mortal", () -> lock.lock()), 0);
        for (int i = 0; i < waiters; i++) {
            awaitState(start("left-" + i, () -> lock.lock()), Thread.State.WAITING);
        }
    }

    static final CountDownLatch INITIALISERS = new CountDownLatch(2);

    static class Chicken {
        static final int LEGS;

        static {
            INITIALISERS.countDown();
            await(INITIALISERS);
            LEGS = Egg.SIDES + 2;
        }
    }

    static class Egg {
        static final int SIDES;

        static {
            INITIALISERS.countDown();
            await(INITIALISERS);
            SIDES = Chicken.LEGS - 2;
        }
    }

    static void initialisers() {
        start("init-1", () -> sink += Chicken.LEGS);
        start("init-2", () -> sink += Egg.SIDES);
        await(INITIALISERS);
        sleep(50);
    }

    static void spin() {
        long before = sink;
        start("spinner", Ailing::turn);
        while (sink == before) {
            sleep(1);
        }
    }

    // Native code that compiled code calls like its own, without a word to the VM.
    static void watchTheClock() {
        while (!stop) {
            sink += System.currentTimeMillis();
        }
    }

    static void turn() {
        while (!stop) {
            sink++;
        }
    }

    /** One thread sleeps while it holds a lock that others want. */
    static void contend(int count) {
        final CountDownLatch taken = new CountDownLatch(1);
        start("hoarder", () -> hoard(taken));
        await(taken);
        Thread last = null;
        for (int i = 0; i < count; i++) {
            last = start("waiter-" + i, Ailing::want);
        }
        awaitState(last, Thread.State.BLOCKED);
    }

    static void hoard(CountDownLatch taken) {
        synchronized (HOT) {
            taken.countDown();
            while (!stop) {
                sleep(60_000);
            }
        }
    }

    static void want() {
        synchronized (HOT) {
            sink++;
        }
    }

    static Object kept;

    /** Never ends. */
    static final class Heavy {
        @Override
        protected void finalize() {
            FINALIZING.countDown();
            sleep(600_000);
        }
    }

    static final CountDownLatch FINALIZING = new CountDownLatch(1);

    static void finalizer() {
        while (FINALIZING.getCount() > 0) {
            new Heavy();
            System.gc();
            sleep(10);
        }
    }

    /** Threads that have the VM search the whole heap for locks, again and again. */
    static void dumps(int count) {
        Object[] last = null;
        for (int i = 0; i < 400_000; i++) {
            last = new Object[] {last, i};
        }
        kept = last;
        for (int i = 0; i < count; i++) {
            start("dumper-" + i, () -> {
                while (!stop) {
                    sink += ManagementFactory.getThreadMXBean().dumpAllThreads(true, true).length;
                }
            });
        }
    }

    /** Blocks of malloc, by several threads so that they are in several arenas, of which nine of ten are freed. */
    static void fragment(int megabytes) throws Exception {
        final Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
        field.setAccessible(true);
        final Object unsafe = field.get(null);
        final Method allocate = unsafe.getClass().getMethod("allocateMemory", long.class);
        final Method free = unsafe.getClass().getMethod("freeMemory", long.class);
        final int threads = 8;
        final int blocks = (megabytes << 20) / 900 / threads;
        final CountDownLatch done = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            start("fragmenter-" + i, () -> {
                try {
                    long[] addresses = new long[blocks];
                    for (int k = 0; k < blocks; k++) {
                        addresses[k] = (Long) allocate.invoke(unsafe, 900L);
                    }
                    for (int k = 0; k < blocks; k++) {
                        if (k % 10 != 0) {
                            free.invoke(unsafe, addresses[k]);
                        }
                    }
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
                done.countDown();
                sleep(600_000);
            });
        }
        await(done);
    }

    static volatile int leaked;

    /** So many pools of one thread, and then one more each few milliseconds, none of which is shut down. */
    static void leak(int count) {
        start("leaker", () -> {
            while (!stop) {
                ExecutorService pool = Executors.newFixedThreadPool(1);
                pool.execute(() -> sink++);
                OPEN.add(pool);
                if (++leaked > count) {
                    sleep(20);
                }
            }
        });
        while (leaked < count) {
            sleep(5);
        }
    }

    /** Threads that allocate as fast as they can, while half of the heap lives. */
    static void churn(int count) {
        Object[] last = null;
        for (int i = 0; i < 500; i++) {
            last = new Object[] {last, new byte[60_000]};
        }
        kept = last;
        for (int i = 0; i < count; i++) {
            start("churner-" + i, () -> {
                byte[][] young = new byte[100][];
                for (int k = 0; !stop; k++) {
                    young[k % young.length] = new byte[20_000];
                }
            });
        }
    }

    static final List<Object> OPEN = new ArrayList<>();

    static void files(int count) {
        try {
            for (int i = 0; i < count; i++) {
                OPEN.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void direct(int megabytes) {
        for (int i = 0; i < megabytes; i++) {
            OPEN.add(ByteBuffer.allocateDirect(1 << 20));
        }
    }

    /** Runs one full collection after another; each finds garbage. */
    static void upgrade() {
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        lock.readLock().lock();
        lock.writeLock().lock();
    }

    static void collect() {
        Object[] last = null;
        for (int i = 0; i < 500_000; i++) {
            last = new Object[] {last, i};
        }
        kept = last;
        while (!stop) {
            System.gc();
        }
    }

    /** Keeps as many objects as the heap holds; when it is full, replaces a few of them. */
    static void full() {
        Object[] last = null;
        while (!stop) {
            try {
                while (true) {
                    last = new Object[] {last, new byte[16]};
                }
            } catch (OutOfMemoryError e) {
                for (int i = 0; i < 1000; i++) {
                    last = (Object[]) last[0];
                }
            }
        }
    }

    static int fillers;

    /** A new class, of a loader that has many of them. */
    static Class<?> filler() throws Exception {
        if (fillerLoader == null) {
            final byte[] template = bytesOf("Ailing$Filler0000000");
            fillerLoader = new ClassLoader(null) {
                @Override
                protected Class<?> findClass(String name) throws ClassNotFoundException {
                    byte[] renamed = new String(template, StandardCharsets.ISO_8859_1)
                        .replace("Ailing$Filler0000000", name).getBytes(StandardCharsets.ISO_8859_1);
                    return defineClass(name, renamed, 0, renamed.length);
                }
            };
        }
        return fillerLoader.loadClass(String.format("Ailing$Filler%07d", ++fillers));
    }

    static ClassLoader fillerLoader;

    /** Defines classes until metaspace has used the share (in percent) of its limit, or has no room for another one. */
    static void metaspace(int share) throws Exception {
        try {
            while (usedOfMetaspace() < share) {
                filler();
            }
        } catch (OutOfMemoryError e) {
            fillers = 0;
        }
        System.gc();  // the counters are written then
    }

    /** With -Xcomp each method is compiled when it is called. */
    static void code(int classes) throws Exception {
        for (int i = 0; i < classes; i++) {
            Constructor<?> constructor = filler().getDeclaredConstructor();
            constructor.setAccessible(true);
            sink += constructor.newInstance().toString().length();
        }
    }

    /** Until the VM has no room for code: an error of the VM itself, or of the call. */
    static void fillCode() throws Exception {
        try {
            code(3000);
        } catch (VirtualMachineError e) {
            fillers = 0;
        }
    }

    static long usedOfMetaspace() {
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getName().equals("Metaspace")) {
                return pool.getUsage().getUsed() * 100 / pool.getUsage().getMax();
            }
        }
        throw new IllegalStateException("no pool Metaspace");
    }

    static byte[] bytesOf(String name) throws IOException {
        try (InputStream in = Ailing.class.getResourceAsStream(name + ".class")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (int each = in.read(); each >= 0; each = in.read()) {
                out.write(each);
            }
            return out.toByteArray();
        }
    }

    /** Uses metaspace. */
    static final class Filler0000000 {
        int one;
        int two;

        int add(int other) {
            return one + two + other;
        }

        int multiply(int other) {
            return one * two * other;
        }

        @Override
        public String toString() {
            return "one " + add(2) + " two " + multiply(2);
        }
    }

    /** Sockets whose peers close the connection. */
    static void unclosed(int count) throws IOException {
        try (ServerSocket server = new ServerSocket(0, count, InetAddress.getLoopbackAddress())) {
            for (int i = 0; i < count; i++) {
                try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort())) {
                    OPEN.add(server.accept());
                }
            }
        }
    }

    /** Threads that read what is never written. */
    static void readers(int count) throws Exception {
        final ServerSocket server = new ServerSocket(0, count, InetAddress.getLoopbackAddress());
        OPEN.add(server);
        for (int i = 0; i < count; i++) {
            final Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
            OPEN.add(server.accept());
            start("reader-" + i, () -> read(client));
        }
        sleep(200);
    }

    static void read(Socket client) {
        try {
            sink += client.getInputStream().read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static class First {
        static final int KEPT = standStill();
    }

    static class Second {
        static final int KEPT = standStill();
    }

    static final CountDownLatch STANDING = new CountDownLatch(2);

    static int standStill() {
        STANDING.countDown();
        while (!stop) {
            LockSupport.park();
        }
        return 1;
    }

    /** Two virtual threads wait in initialisers of classes, which keeps their carriers. */
    static void pin() throws Exception {
        startVirtual(() -> sink += First.KEPT);
        startVirtual(() -> sink += Second.KEPT);
        await(STANDING);
        sleep(100);
    }

    /** A virtual thread that waits without a carrier. */
    static void parkVirtual() throws Exception {
        startVirtual(() -> sink += standStill());
        sleep(100);
    }

    static void ready(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            startVirtual(() -> sink++);
        }
    }

    static void startVirtual(Runnable body) throws Exception {
        OPEN.add(Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body));
    }

    /** Healthy: two samples of a worker do not stay equal for long. */
    static void busy(int count) {
        final Map<Integer, byte[]> shared = new HashMap<>();
        final ThreadFactory daemons = body -> {
            Thread thread = new Thread(body, "busy");
            thread.setDaemon(true);
            return thread;
        };
        final ExecutorService pool = Executors.newFixedThreadPool(count + 8, daemons);
        for (int i = 0; i < count; i++) {
            pool.execute(() -> work(shared));
        }
        for (int i = 0; i < 8; i++) {
            pool.execute(() -> sink++);
        }
    }

    static void work(Map<Integer, byte[]> shared) {
        Random random = new Random();
        while (!stop) {
            switch (random.nextInt(4)) {
                case 0: sink += sorted(random); break;
                case 1: sink += text(random); break;
                case 2: sink += kept(shared, random); break;
                default: sleep(1); break;
            }
        }
    }

    static long sorted(Random random) {
        int[] numbers = random.ints(2000).toArray();
        java.util.Arrays.sort(numbers);
        return numbers[0];
    }

    static long text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 300; i++) {
            text.append(random.nextInt()).append(' ');
        }
        return text.toString().split(" ").length;
    }

    static long kept(Map<Integer, byte[]> shared, Random random) {
        synchronized (shared) {
            shared.put(random.nextInt(2000), new byte[1000]);
            return shared.size();
        }
    }

    static void obey(String[] words) throws Exception {
        int number = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        switch (words[0]) {
            case "monitors": monitors(); break;
            case "synchronizers": synchronizers(); break;
            case "initialisers": initialisers(); break;
            case "joins": joins(number); break;
            case "join-with-lock": joinWithLock(); break;
            case "tasks": tasks(); break;
            case "join-oneself": joinOneself(); break;
            case "join-with-tries": joinWithTries(); break;
            case "lose-lock": loseLock(number); break;
            case "pool": nested("own", number, null, () -> 1); break;
            case "futures": nestedFutures(number); break;
            case "two-pools": nestedHealthy(); break;
            case "future-with-timer": futureWithTimer(); break;
            case "spin": spin(); break;
            case "clock": start("clock-watcher", Ailing::watchTheClock); break;
            case "contend": contend(number); break;
            case "busy": busy(number); break;
            case "finalizer": finalizer(); break;
            case "files": files(number); break;
            case "direct": direct(number); break;
            case "full": start("filler", Ailing::full); break;
            case "code": fillCode(); break;
            case "metaspace": metaspace(number); break;
            case "unclosed": unclosed(number); break;
            case "readers": readers(number); break;
            case "pin": pin(); break;
            case "park-virtual": parkVirtual(); break;
            case "ready": ready(number); break;
            case "upgrade": start("upgrader", Ailing::upgrade); break;
            case "dumps": dumps(number); break;
            case "fragment": fragment(number); break;
            case "leak": leak(number); break;
            case "churn": churn(number); break;
            case "collect": start("collector", Ailing::collect); break;
            default: throw new IllegalArgumentException(words[0]);
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            try {
                obey(line.split(" "));
                System.out.println("OK");
            } catch (Exception | LinkageError e) {
                System.out.println("ERR " + e);
            }
        }
    }
}
