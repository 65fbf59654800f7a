import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * More of what Ailing has: threads that were notified and do not get their monitor back, a crash, many class loaders,
 * locks that go from hand to hand, a pool that waits for itself for an hour. Healthy: "calls" and "brief-locks".
 */
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

    static byte[] bytesOf(String name) throws Exception {
        try (InputStream in = MoreAilments.class.getResourceAsStream(name + ".class")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (int each = in.read(); each >= 0; each = in.read()) {
                out.write(each);
            }
            return out.toByteArray();
        }
    }

    static final class Small {
    }

    static final class Loader extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass("MoreAilments$Small", bytes, 0, bytes.length);
        }
    }

    static final List<Class<?>> CLASSES = new ArrayList<>();

    static long committedOf(String name) {
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getName().equals(name)) {
                return pool.getUsage().getCommitted() * 100 / pool.getUsage().getMax();
            }
        }
        throw new IllegalStateException("no pool " + name);
    }

    /** Class loaders with one class each, until the pool has committed this share of its limit, or nothing is left. */
    static void loaders(String pool, int share) throws Exception {
        byte[] bytes = bytesOf("MoreAilments$Small");
        try {
            while (committedOf(pool) < share) {
                CLASSES.add(new Loader().define(bytes));
            }
        } catch (OutOfMemoryError e) {
            sink++;
        }
        System.gc();  // the counters are written then
    }

    static void unload() {
        CLASSES.clear();
        System.gc();
    }

    /** Each holds the lock for as long, again and again. */
    static void handOver(int count, Runnable turn) {
        for (int i = 0; i < count; i++) {
            start("hands-" + i, () -> {
                while (true) {
                    turn.run();
                }
            });
        }
        sleep(200);
    }

    static void handOverMonitor(int count, long millis) {
        final Object lock = new Object();
        handOver(count, () -> {
            synchronized (lock) {
                sleep(millis);
            }
        });
    }

    static void handOverFairLock(int count, long millis) {
        final ReentrantLock lock = new ReentrantLock(true);
        handOver(count, () -> {
            lock.lock();
            try {
                for (long left = millis; left > 0; left -= 10) sleep(10);  // as one that reads and writes several times
            } finally {
                lock.unlock();
            }
        });
    }

    static void compute(long micros) {
        final long end = System.nanoTime() + micros * 1000;
        while (System.nanoTime() < end) {
            sink++;
        }
    }

    /** Healthy: the lock is had for a moment only. */
    static void handOverBriefly(int count) {
        final ReentrantLock lock = new ReentrantLock();
        final Object monitor = new Object();
        handOver(count, () -> {
            lock.lock();
            try {
                compute(100);
            } finally {
                lock.unlock();
            }
            synchronized (monitor) {
                compute(100);
            }
            sleep(1);
        });
    }

    /** The tasks of a pool wait for others in its queue, for an hour at most. */
    static void patientPool(int size) {
        ExecutorService pool = Executors.newFixedThreadPool(size, body -> {
            Thread thread = new Thread(body, "patient");
            thread.setDaemon(true);
            return thread;
        });
        final CountDownLatch all = new CountDownLatch(size);
        for (int i = 0; i < size; i++) {
            pool.submit(() -> {
                all.countDown();
                all.await();
                return pool.submit(() -> 1).get(1, TimeUnit.HOURS);
            });
        }
        sleep(200);
    }

    /** The tasks of a pool wait for a permit that nobody has, and as many more are in its queue. */
    static void stuckPool(int size) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(size, body -> {
            Thread thread = new Thread(body);
            thread.setName("stuck-" + thread.getId());
            thread.setDaemon(true);
            return thread;
        });
        BlockingQueue<Object> permits = new ArrayBlockingQueue<>(1);
        CountDownLatch all = new CountDownLatch(size);
        for (int i = 0; i < 2 * size; i++) {
            pool.submit(() -> {
                all.countDown();
                return takePermit(permits);
            });
        }
        all.await();
        sleep(200);
    }

    private static Object takePermit(BlockingQueue<Object> permits) throws InterruptedException {
        return permits.take();
    }

    static final Object DOWNLOADS = new Object();
    static final List<Object> CONNECTIONS = new ArrayList<>();

    /** One thread waits for an answer that does not come while it holds a lock that others want. */
    static void downloads(int count) throws Exception {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        CONNECTIONS.add(server);
        CONNECTIONS.add(server.accept());
        CountDownLatch taken = new CountDownLatch(1);
        start("downloader", () -> download(client, taken));
        taken.await();
        for (int i = 0; i < count; i++) {
            awaitState(start("waiter-" + i, MoreAilments::useDownload), Thread.State.BLOCKED);
        }
    }

    static void download(Socket client, CountDownLatch taken) {
        synchronized (DOWNLOADS) {
            taken.countDown();
            try {
                sink += client.getInputStream().read();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static void useDownload() {
        synchronized (DOWNLOADS) {
            sink++;
        }
    }

    static int find(int[] numbers, int wanted) {
        for (int i = 0; i < numbers.length; i++) {
            if (numbers[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    static double dot(double[] one, double[] other) {
        double sum = 0;
        for (int i = 0; i < one.length; i++) {
            sum += one[i] * other[i];
        }
        return sum;
    }

    static void serve(Object what) {
        sink += what instanceof int[] ? find((int[]) what, -1) : (long) dot((double[]) what, (double[]) what);
    }

    /** Healthy: some ten thousand short calls a second. */
    static void calls(Object what) {
        start("server", () -> {
            while (true) {
                serve(what);
            }
        });
        sleep(2000);
    }

    static int resultOf(Future<Integer> future) {
        try {
            return future.get();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void waitAnHourFor(Future<Integer> future) {
        try {
            sink += future.get(1, TimeUnit.HOURS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** A pool whose threads wait for its queue; two others wait for it for an hour at most. */
    static void starveCustomers(int size) throws Exception {
        final List<Thread> threads = new ArrayList<>();
        final List<Future<Integer>> running = new ArrayList<>();
        final CountDownLatch all = new CountDownLatch(size);
        ExecutorService pool = Executors.newFixedThreadPool(size, body -> {
            Thread thread = new Thread(body, "counter-" + (threads.size() + 1));
            thread.setDaemon(true);
            threads.add(thread);
            return thread;
        });
        for (int i = 0; i < size; i++) {
            running.add(pool.submit(() -> {
                all.countDown();
                all.await();
                return resultOf(pool.submit(() -> 1));
            }));
        }
        all.await();
        for (Thread each : threads) {
            awaitState(each, Thread.State.WAITING);
        }
        Future<Integer> queued = pool.submit(() -> 1);
        awaitState(start("customer-1", () -> waitAnHourFor(queued)), Thread.State.TIMED_WAITING);
        awaitState(start("customer-2", () -> waitAnHourFor(running.get(0))), Thread.State.TIMED_WAITING);
    }

    /** A virtual thread that waits while it has a monitor, which keeps its carrier up to JDK 23. */
    static void pinInMonitor() throws Exception {
        final CountDownLatch has = new CountDownLatch(1);
        Runnable body = () -> {
            synchronized (DOWNLOADS) {
                has.countDown();
                standStill();
            }
        };
        CONNECTIONS.add(Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body));
        has.await();
        sleep(100);
    }

    static void standStill() {
        while (sink >= 0) {
            LockSupport.park();
        }
    }

    private static String answer(String[] words) throws Exception {
        int number = words.length > 1 ? Integer.parseInt(words[1]) : 1;
        switch (words[0]) {
            case "relock": relock(); break;
            case "herd": herd(number); break;
            case "loaders": loaders("Metaspace", number); break;
            case "class-loaders": loaders("Compressed Class Space", number); break;
            case "unload": unload(); break;
            case "hand-over": handOverMonitor(8, number); break;
            case "hand-over-fair": handOverFairLock(8, number); break;
            case "brief-locks": handOverBriefly(number); break;
            case "downloads": downloads(number); break;
            case "starve-customers": starveCustomers(number); break;
            case "pin-in-monitor": pinInMonitor(); break;
            case "patient-pool": patientPool(number); break;
            case "stuck-pool": stuckPool(number); break;
            case "calls": calls(number == 0 ? (Object) new int[20_000] : new double[20_000]); break;
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
