import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Sleeps and parks of known number. Each line is a command, answered when it is done: "sleeps" (a thread "sleeper": 5
 * ms, 3.5 ms, 7 ms, one minute that is interrupted), "duration" (JDK 19: 11 ms in a thread "sleeper"), "parks" (a
 * thread "parker": until unparked, 5 ms, until 6 ms from now, 4 ms without a blocker), "lock" (a thread "locker" waits
 * for a lock that "main" holds), "open" (threads "waiter" in Object.wait, "contender" waiting for a lock that "holder"
 * holds) and "close" (they end), "virtualLock" (JDK 21: a thread "borrower" waits for a lock of a "virtual" one),
 * "virtualSleeps N" and "virtualParks N" (JDK 21: threads "virtual", three times 3 ms, one interrupted), "benchParks N R", "benchHands N R", "benchSleeps N R" (the best of R rounds of N), "exit". In
 * answers, "ours=N" is the number of frames of the tracer in the stacks of waiting threads.
 */
public final class Waits {
    /** The blocker of "parker". */
    static final class Blocker {}

    interface Body {
        void run() throws Exception;
    }

    private static int ours;

    static Thread start(String name, Body body) {
        Thread thread = new Thread(() -> runQuietly(body), name);
        thread.start();
        return thread;
    }

    static void runQuietly(Body body) {
        try {
            body.run();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns when the thread waits, for whatever reason. */
    static void awaitWaiting(Thread thread) {
        while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.yield();
        }
        for (StackTraceElement frame : thread.getStackTrace()) {
            if (frame.getClassName().contains("JTrace")) {
                ours++;
            }
        }
    }

    static void sleepUntilInterrupted() {
        try {
            Thread.sleep(60_000);
            throw new IllegalStateException("nobody interrupted");
        } catch (InterruptedException e) {
            // as asked
        }
    }

    static void sleeps() throws Exception {
        Thread thread = start("sleeper", () -> {
            Thread.sleep(5);
            Thread.sleep(3, 500_000);
            TimeUnit.MILLISECONDS.sleep(7);
            try {
                Thread.sleep(-1);
                throw new IllegalStateException("slept less than nothing");
            } catch (IllegalArgumentException e) {
                // as specified
            }
            sleepUntilInterrupted();
        });
        awaitLong(thread);
        thread.interrupt();
        thread.join();
    }

    /** Returns when the thread is in sleepUntilInterrupted(). */
    static void awaitLong(Thread thread) {
        for (;;) {
            awaitWaiting(thread);
            for (StackTraceElement frame : thread.getStackTrace()) {
                if (frame.getMethodName().equals("sleepUntilInterrupted")) {
                    return;
                }
            }
        }
    }

    static void sleepDuration(long ms) throws Exception {
        Class<?> duration = Class.forName("java.time.Duration");
        Object time = duration.getMethod("ofMillis", long.class).invoke(null, ms);
        Thread.class.getMethod("sleep", duration).invoke(null, time);
    }

    static void parks() throws Exception {
        Blocker blocker = new Blocker();
        Thread thread = start("parker", () -> {
            LockSupport.park(blocker);
            LockSupport.parkNanos(blocker, 5_000_000);
            LockSupport.parkUntil(blocker, System.currentTimeMillis() + 6);
            LockSupport.parkNanos(4_000_000);
        });
        awaitWaiting(thread);
        LockSupport.unpark(thread);
        thread.join();
    }

    static void lock() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        Thread thread = start("locker", () -> {
            lock.lock();
            lock.unlock();
        });
        while (!lock.hasQueuedThread(thread)) {
            Thread.yield();
        }
        awaitWaiting(thread);
        lock.unlock();
        thread.join();
    }

    /** As Thread.ofVirtual().name("virtual").start() of JDK 21. */
    static List<Thread> virtualThreads(int n, Body body) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
        type.getMethod("name", String.class).invoke(builder, "virtual");
        Method start = type.getMethod("start", Runnable.class);
        List<Thread> threads = new ArrayList<>();
        Runnable task = () -> runQuietly(body);
        for (int i = 0; i < n; i++) {
            threads.add((Thread) start.invoke(builder, task));
        }
        return threads;
    }

    /** The object of the wait of "waiter". */
    static final class Meeting {}

    /** The lock that "contender" wants and "holder" has. */
    static final class Taken {}

    private static final Meeting MEETING = new Meeting();
    private static final Taken TAKEN = new Taken();
    private static final List<Thread> open = new ArrayList<>();
    private static CountDownLatch closing;

    /** Returns when all of them wait. */
    private static void open() throws Exception {
        closing = new CountDownLatch(1);
        CountDownLatch taken = new CountDownLatch(1);
        open.add(start("holder", () -> {
            synchronized (TAKEN) {
                taken.countDown();
                closing.await();
            }
        }));
        taken.await();
        Thread contender = start("contender", () -> {
            synchronized (TAKEN) {
                ours += 0;
            }
        });
        Thread waiter = start("waiter", () -> {
            synchronized (MEETING) {
                MEETING.wait();
            }
        });
        open.add(contender);
        open.add(waiter);
        while (contender.getState() != Thread.State.BLOCKED || waiter.getState() != Thread.State.WAITING) {
            Thread.yield();
        }
    }

    private static void close() throws Exception {
        synchronized (MEETING) {
            MEETING.notifyAll();
        }
        closing.countDown();
        for (Thread thread : open) {
            thread.join();
        }
        open.clear();
    }

    /** Runs the operation n times. */
    interface Round {
        void run(int n) throws Exception;
    }

    static void parkOnOwnPermits(int n) {
        Thread self = Thread.currentThread();
        for (int i = 0; i < n; i++) {
            LockSupport.unpark(self);
            LockSupport.park(MEETING);
        }
    }

    private static volatile int turn;

    /** Each thread wakes the other in turn; at least n parks each. */
    static void handOver(int n) throws Exception {
        turn = 0;
        Thread self = Thread.currentThread();
        Thread other = start("other", () -> takeTurns(1, self, n));
        takeTurns(0, other, n);
        other.join();
    }

    static void takeTurns(int mine, Thread other, int n) {
        for (int i = 0; i < n; i++) {
            while ((turn & 1) != mine) {
                LockSupport.park(MEETING);
            }
            turn++;
            LockSupport.unpark(other);
        }
    }

    static String best(String[] words, Round round) throws Exception {
        int n = Integer.parseInt(words[1]);
        long best = Long.MAX_VALUE;
        for (int i = Integer.parseInt(words[2]); i > 0; i--) {
            long start = System.nanoTime();
            round.run(n);
            best = Math.min(best, System.nanoTime() - start);
        }
        return "ns=" + best + " calls=" + n;
    }

    private static String answer(String[] words) throws Exception {
        int n = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        switch (words[0]) {
            case "sleeps":
                sleeps();
                break;
            case "benchParks":
                return best(words, Waits::parkOnOwnPermits);
            case "benchHands":
                return best(words, Waits::handOver);
            case "benchSleeps":
                return best(words, count -> {
                    for (int i = 0; i < count; i++) {
                        Thread.sleep(0);
                    }
                });
            case "duration":
                start("sleeper", () -> sleepDuration(11)).join();
                break;
            case "parks":
                parks();
                break;
            case "lock":
                lock();
                break;
            case "open":
                open();
                break;
            case "close":
                close();
                break;
            case "virtualSleeps": {
                List<Thread> threads = virtualThreads(n, () -> {
                    Thread.sleep(3);
                    TimeUnit.MILLISECONDS.sleep(3);
                    sleepDuration(3);
                    sleepUntilInterrupted();
                });
                for (Thread thread : threads) {
                    awaitLong(thread);
                    thread.interrupt();
                    thread.join();
                }
                break;
            }
            case "virtualParks": {
                Blocker blocker = new Blocker();
                // JDK 21 reports WAITING for a timed park too. A thread unparked there would lack that unpark at its
                // last park.
                CountDownLatch atLast = new CountDownLatch(n);
                List<Thread> threads = virtualThreads(n, () -> {
                    LockSupport.parkNanos(blocker, 3_000_000);
                    LockSupport.parkUntil(blocker, System.currentTimeMillis() + 3);
                    LockSupport.parkNanos(3_000_000);
                    atLast.countDown();
                    LockSupport.park(blocker);
                });
                atLast.await();
                for (Thread thread : threads) {
                    awaitWaiting(thread);
                    LockSupport.unpark(thread);
                    thread.join();
                }
                break;
            }
            case "virtualLock": {
                ReentrantLock lock = new ReentrantLock();
                CountDownLatch taken = new CountDownLatch(1), over = new CountDownLatch(1);
                Thread owner = virtualThreads(1, () -> {
                    lock.lock();
                    taken.countDown();
                    over.await();
                    lock.unlock();
                }).get(0);
                taken.await();
                Thread borrower = new Thread(() -> {
                    lock.lock();
                    lock.unlock();
                }, "borrower");
                borrower.start();
                awaitWaiting(borrower);
                over.countDown();
                borrower.join();
                owner.join();
                break;
            }
            case "exit":
                System.exit(0);
                break;
            default:
                throw new IllegalArgumentException(words[0]);
        }
        return "ours=" + ours;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            System.out.println("OK " + answer(line.split(" ")));
        }
    }
}
