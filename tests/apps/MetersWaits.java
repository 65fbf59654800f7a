import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.Selector;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that meter their own waits: the time that passes minus the CPU time that they use meanwhile. A thread "stander"
 * is parked all the time.
 *
 * <p>Commands: "run" (a thread for each kind of wait, until all have waited some 300 ms): "OK thread ns thread ns ...";
 * "virtual" (JDK 21: two virtual threads, "virtual-one" and "virtual-two", and one without a name run until "still"),
 * "still"; "brief" (60 threads, "brief-0" and so on, one after the other: each sleeps for 2 ms and ends), "exit".
 */
public final class MetersWaits {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final ConcurrentSkipListMap<String, Long> METERED = new ConcurrentSkipListMap<>();
    private static final int TIMES = 12;
    private static final Object LOCK = new Object();
    private static volatile boolean held;
    private static volatile boolean still;
    private static volatile long sink;

    interface Body {
        void run() throws Exception;
    }

    private static Thread start(String name, Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Stays when it is done: of a thread that has ended a busy machine may not learn the name. */
    private static void startStaying(String name, CountDownLatch done, Body body) {
        start(name, () -> {
            body.run();
            done.countDown();
            while (true) {
                LockSupport.park();
            }
        });
    }

    private static void meter(int times, Body wait) throws Exception {
        meter(times, () -> {}, wait);
    }

    private static void meter(int times, Body before, Body wait) throws Exception {
        long waited = 0;
        for (int i = 0; i < times; i++) {
            before.run();
            long cpu = THREADS.getCurrentThreadCpuTime();
            long begin = System.nanoTime();
            wait.run();
            waited += System.nanoTime() - begin - (THREADS.getCurrentThreadCpuTime() - cpu);
        }
        METERED.put(Thread.currentThread().getName(), waited);
    }

    static void sleepOnce() throws Exception {
        Thread.sleep(23);
    }

    static void parkOnce() {
        LockSupport.parkNanos(21_000_000);
    }

    static void waitOnce() throws Exception {
        synchronized (Thread.currentThread()) {
            Thread.currentThread().wait(24);
        }
    }

    static void enterOnce() {
        synchronized (LOCK) {
            sink++;
        }
    }

    static void readOnce(InputStream in) throws Exception {
        if (in.read() < 0) {
            throw new IllegalStateException("the stream ended");
        }
    }

    static void selectOnce(Selector selector) throws Exception {
        selector.select(22);
    }

    /** Holds the lock for a time, again and again, with gaps in which the contender gets it. */
    private static void contend() throws Exception {
        Thread holder = start("holder", () -> {
            while (!Thread.currentThread().isInterrupted()) {
                synchronized (LOCK) {
                    held = true;
                    try {
                        Thread.sleep(20);
                    } catch (InterruptedException e) {
                        return;
                    } finally {
                        held = false;
                    }
                }
                Thread.yield();
            }
        });
        meter(TIMES, () -> {
            while (!held) {
                Thread.sleep(1);
            }
        }, MetersWaits::enterOnce);
        holder.interrupt();
    }

    private static void readSocket() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket accepted = server.accept()) {
            Thread writer = start("writer", () -> {
                for (int i = 0; i < TIMES; i++) {
                    Thread.sleep(20);
                    client.getOutputStream().write(i);
                }
            });
            InputStream in = accepted.getInputStream();
            meter(TIMES, () -> readOnce(in));
            writer.join();
        }
    }

    private static String run() throws Exception {
        METERED.clear();
        CountDownLatch done = new CountDownLatch(6);
        startStaying("sleeper", done, () -> meter(TIMES, MetersWaits::sleepOnce));
        startStaying("parker", done, () -> meter(TIMES, MetersWaits::parkOnce));
        startStaying("waiter", done, () -> meter(TIMES, MetersWaits::waitOnce));
        startStaying("contender", done, MetersWaits::contend);
        startStaying("reader", done, MetersWaits::readSocket);
        startStaying("selector", done, () -> {
            try (Selector selector = Selector.open()) {
                meter(TIMES, () -> selectOnce(selector));
            }
        });
        done.await();
        StringBuilder text = new StringBuilder("OK");
        METERED.forEach((name, ns) -> text.append(' ').append(name).append(' ').append(ns));
        return text.toString();
    }

    static void spinUntilStill() {
        long x = 1;
        while (!still) {
            for (int i = 0; i < 20_000; i++) {
                x = x * 31 + i;
            }
            sink = x;
            Thread.yield();
        }
    }

    /** As Thread.ofVirtual().name(name).start(body) of JDK 21. */
    private static void startVirtual(String name) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
        if (name != null) {
            type.getMethod("name", String.class).invoke(builder, name);
        }
        Method start = type.getMethod("start", Runnable.class);
        start.invoke(builder, (Runnable) MetersWaits::spinUntilStill);
    }

    public static void main(String[] args) throws Exception {
        CountDownLatch parked = new CountDownLatch(1);
        Thread stander = start("stander", () -> {
            parked.countDown();
            while (true) {
                LockSupport.park(LOCK);
            }
        });
        parked.await();
        while (stander.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("run")) {
                System.out.println(run());
            } else if (line.equals("virtual")) {
                still = false;
                startVirtual("virtual-one");
                startVirtual("virtual-two");
                startVirtual(null);
                System.out.println("OK");
            } else if (line.equals("still")) {
                still = true;
                System.out.println("OK");
            } else if (line.equals("brief")) {
                for (int i = 0; i < 60; i++) {
                    start("brief-" + i, () -> Thread.sleep(2)).join();
                }
                System.out.println("OK 60");
            } else if (line.equals("exit")) {
                break;
            } else {
                System.out.println("ERR " + line);
            }
        }
    }
}
