import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads of which it is known who keeps them waiting and who ends it. "entering" waits for a monitor that "holder" has,
 * "locking" for a ReentrantLock that "locker" has, "parked" is unparked by "unparker", "notified" is notified by
 * "notifier", and "sleeper" sleeps.
 *
 * <p>Commands: "run": each waits some times; "OK".
 */
public final class Wakes {
    private static final int TIMES = 6;
    private static final long WAIT = 150;  // ms
    private static final Object MONITOR = new Object();
    private static final Object SIGNAL = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static volatile long sink;
    private static volatile int turns;
    private static volatile boolean held;
    private static volatile Thread waiting;

    private Wakes() {
    }

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

    /** Each time the holder has it before the other wants it. */
    private static void contend(String holds, String wants, Body hold, Body want) throws Exception {
        for (int i = 0; i < TIMES; i++) {
            held = false;
            waiting = null;
            Thread holder = start(holds, hold);
            while (!held) {
                Thread.sleep(1);
            }
            waiting = start(wants, want);
            holder.join();
            waiting.join();
        }
    }

    /** Until the other has waited for a time. */
    private static void letWait(Thread.State state) throws Exception {
        while (waiting == null || waiting.getState() != state) {
            Thread.sleep(1);
        }
        Thread.sleep(WAIT);
    }

    static void enter() {
        synchronized (MONITOR) {
            sink++;
        }
    }

    static void lock() {
        LOCK.lock();
        sink++;
        LOCK.unlock();
    }

    private static void holdMonitor() throws Exception {
        synchronized (MONITOR) {
            held = true;
            letWait(Thread.State.BLOCKED);
        }
    }

    private static void holdLock() throws Exception {
        LOCK.lock();
        try {
            held = true;
            letWait(Thread.State.WAITING);
        } finally {
            LOCK.unlock();
        }
    }

    static void park(int turn) {
        while (turns < turn) {
            LockSupport.park();
        }
    }

    static void await(int turn) throws Exception {
        synchronized (SIGNAL) {
            while (turns < turn) {
                SIGNAL.wait();
            }
        }
    }

    private static void signal(String waits, String wakes, Body wait, Body wake) throws Exception {
        turns = 0;
        waiting = start(waits, wait);
        start(wakes, wake).join();
        waiting.join();
    }

    private static void waitTurns(boolean parks) throws Exception {
        for (int i = 1; i <= TIMES; i++) {
            if (parks) {
                park(i);
            } else {
                await(i);
            }
        }
    }

    private static void wakeTurns(boolean parked) throws Exception {
        for (int i = 1; i <= TIMES; i++) {
            letWait(Thread.State.WAITING);
            if (parked) {
                turns = i;
                LockSupport.unpark(waiting);
            } else {
                synchronized (SIGNAL) {
                    turns = i;
                    SIGNAL.notify();
                }
            }
        }
    }

    private static void run() throws Exception {
        contend("holder", "entering", Wakes::holdMonitor, Wakes::enter);
        contend("locker", "locking", Wakes::holdLock, Wakes::lock);
        signal("parked", "unparker", () -> waitTurns(true), () -> wakeTurns(true));
        signal("notified", "notifier", () -> waitTurns(false), () -> wakeTurns(false));
        start("sleeper", () -> {
            for (int i = 0; i < TIMES; i++) {
                Thread.sleep(WAIT / 3);
            }
        }).join();
    }

    /** The command is described above. */
    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("exit"); line = in.readLine()) {
            if (line.equals("run")) {
                run();
            }
            System.out.println("OK");
        }
    }
}
