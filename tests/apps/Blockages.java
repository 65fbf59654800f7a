import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.regex.Pattern;

/**
 * Threads that wait for each other through pools and their queues, or for what nobody gives back, and one call that
 * never ends, for jtrace diagnose. Healthy: "idle", "refresh-free", "refresh-limited" and "matches".
 */
public final class Blockages {
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

    static final class Connections {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition returned = lock.newCondition();
        private int free;

        void borrow() {
            lock.lock();
            try {
                while (free == 0) {
                    returned.awaitUninterruptibly();
                }
                free--;
            } finally {
                lock.unlock();
            }
        }
    }

    /** Nobody gives a connection back. */
    static void borrow(int count) {
        final Connections connections = new Connections();
        for (int i = 1; i <= count; i++) {
            awaitState(start("web-" + i, connections::borrow), Thread.State.WAITING);
        }
    }

    /** Its factory wraps what the thread runs, so that each has a frame of the program. */
    static ExecutorService pool(String name, int size, List<Thread> threads) {
        return Executors.newFixedThreadPool(size, body -> {
            Thread thread = new Thread(() -> body.run(), name + "-" + (threads.size() + 1));
            thread.setDaemon(true);
            threads.add(thread);
            return thread;
        });
    }

    /** A thread of the pool is known as such only if it runs the pool's own worker. */
    static ExecutorService plainPool(String name, int size, List<Thread> threads) {
        return Executors.newFixedThreadPool(size, body -> {
            Thread thread = new Thread(body, name + "-" + (threads.size() + 1));
            thread.setDaemon(true);
            threads.add(thread);
            return thread;
        });
    }

    /** Healthy: pools without work, and a thread that works. */
    static void idle(int size) {
        for (int kind = 0; kind < 2; kind++) {
            final List<Thread> threads = new ArrayList<>();
            ExecutorService pool = kind == 0 ? pool("wrapped", size, threads) : plainPool("plain", size, threads);
            for (int i = 0; i < size; i++) {
                pool.execute(() -> sink++);
            }
            for (Thread each : threads) {
                awaitState(each, Thread.State.WAITING);
            }
        }
        start("worker", () -> {
            for (StringBuilder text = new StringBuilder(); ; text.setLength(0)) {
                for (int i = 0; i < 1000; i++) {
                    sink += text.append(i).length();
                }
                sleep(1);
            }
        });
    }

    static <T> T resultOf(Future<T> future) {
        try {
            return future.get();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static <T> T load(ExecutorService pool, Callable<T> what) {
        return resultOf(pool.submit(what));
    }

    static void read(Lock lock) {
        lock.lock();
        sink++;
        lock.unlock();
    }

    static void readInAnHour(Lock lock) {
        try {
            if (lock.tryLock(1, TimeUnit.HOURS)) {
                sink++;
                lock.unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * A thread has the write lock and waits for a task in the queue of a pool whose threads run `tasks`: the last one of
     * these runs `last`, the others want the read lock.
     */
    static void refresh(int size, ReentrantReadWriteLock lock, Runnable last, Thread.State state) {
        final List<Thread> threads = new ArrayList<>();
        ExecutorService pool = plainPool("io", size, threads);
        final CountDownLatch written = new CountDownLatch(1);
        final CountDownLatch submitted = new CountDownLatch(1);
        Thread refresh = start("refresh", () -> {
            lock.writeLock().lock();
            written.countDown();
            await(submitted);
            load(pool, () -> 1);
        });
        await(written);
        for (int i = 1; i <= size; i++) {
            pool.execute(i < size ? () -> read(lock.readLock()) : last);
        }
        for (int i = 0; i < size; i++) {
            awaitState(threads.get(i), i < size - 1 ? Thread.State.WAITING : state);
        }
        submitted.countDown();
        awaitState(refresh, Thread.State.WAITING);
        awaitState(start("victim", () -> read(lock.readLock())), Thread.State.WAITING);
    }

    /** The last thread of the pool wants a monitor, and who has that wants the lock. */
    static void refreshThroughOthers(int size) {
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        final Object monitor = new Object();
        final CountDownLatch has = new CountDownLatch(1);
        final Runnable last = () -> {
            awaitState(start("between", () -> {
                synchronized (monitor) {
                    has.countDown();
                    read(lock.readLock());
                }
            }), Thread.State.WAITING);
            synchronized (monitor) {
                sink++;
            }
        };
        refresh(size, lock, last, Thread.State.BLOCKED);
    }

    /** The tasks of each of two pools wait for tasks in the queue of the other. */
    static void twoPools(int size) {
        final List<Thread> threads = new ArrayList<>();
        ExecutorService left = plainPool("left", size, threads);
        ExecutorService right = plainPool("right", size, threads);
        final CountDownLatch all = new CountDownLatch(2 * size);
        for (int i = 0; i < 2 * size; i++) {
            ExecutorService own = i < size ? left : right;
            ExecutorService other = i < size ? right : left;
            own.execute(() -> {
                all.countDown();
                await(all);
                load(other, () -> 1);
            });
        }
        await(all);
        for (Thread each : threads) {
            awaitState(each, Thread.State.WAITING);
        }
    }

    static final Pattern WORDS = Pattern.compile("^(?:([\"']?)\\w+\\1[ ,]?)+\\.$");

    static boolean accepts(String text) {
        return WORDS.matcher(text).matches();
    }

    /** A pattern that tries all ways to divide the text. */
    static void match() {
        start("rules", () -> sink += accepts("Rechnungskorrekturbelegnummernverzeichnisauszug2024!") ? 1 : 0);
        sleep(500);
    }

    /** Healthy: the same for texts that are matched at once, all the time. */
    static void matches() {
        start("rules", () -> {
            while (true) {
                sink += accepts("Rechnung, Beleg, Auszug.") ? 1 : 0;
            }
        });
        sleep(2000);
    }

    private static String answer(String[] words) {
        int number = words.length > 1 ? Integer.parseInt(words[1]) : 1;
        final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        switch (words[0]) {
            case "borrow": borrow(number); break;
            case "idle": idle(number); break;
            case "refresh": refresh(number, lock, () -> read(lock.readLock()), Thread.State.WAITING); break;
            case "refresh-free":
                refresh(number, lock, () -> sleep(600_000), Thread.State.TIMED_WAITING);
                break;
            case "refresh-limited":
                refresh(number, lock, () -> readInAnHour(lock.readLock()), Thread.State.TIMED_WAITING);
                break;
            case "refresh-through-others": refreshThroughOthers(number); break;
            case "two-pools": twoPools(number); break;
            case "match": match(); break;
            case "matches": matches(); break;
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
