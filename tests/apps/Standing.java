import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that stay in known states for a reader of stacks: parked, waiting, blocked, deadlocked, sleeping, with locks
 * in interpreted and in compiled frames, with frames of reflection and lambdas.
 *
 * <p>It prints READY when all of them are in their states. "virtual N" parks N virtual threads, "spin N" starts N
 * running threads, "more N" parks N more threads, "states" prints the state of each thread, "crash" writes to address
 * 0x1230.
 */
public final class Standing {
    static final Object FIRST = new Object();
    static final Integer[] SECOND = new Integer[1];
    static final Object MEETING = new StringBuilder("meeting");
    static final ReentrantLock LEFT = new ReentrantLock();
    static final ReentrantLock RIGHT = new ReentrantLock();
    static final long[] NUMBERS = {1, -2, 3};
    static final String TEXT = "text \u20ac";
    static volatile boolean go;
    static volatile long spun;
    private static final List<Thread> standing = new ArrayList<>();
    private static int virtualThreads;

    private static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void stand(String name, Runnable body, Thread.State state) throws InterruptedException {
        Thread thread = start(name, body);
        standing.add(thread);
        await(thread, state);
    }

    private static void await(Thread thread, Thread.State state) throws InterruptedException {
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
    }

    static void park() {
        while (!go) {
            LockSupport.park(MEETING);
        }
    }

    static void sleep() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void descend(int depth, Runnable bottom) {
        if (depth == 0) {
            bottom.run();
        } else {
            descend(depth - 1, bottom);
        }
    }

    /** Called often beforehand, so that its frames are compiled, with locks and inlined calls. */
    static int compiled(int depth, Runnable bottom, Object lock) {
        if (depth == 0) {
            bottom.run();
            return 1;
        }
        synchronized (lock) {
            return small(depth, bottom) + 1;
        }
    }

    private static int small(int depth, Runnable bottom) {
        return compiled(depth - 1, bottom, bottom) + depth;
    }

    private static void standCompiled() {
        Runnable nothing = () -> spun++;
        for (int i = 0; i < 30_000; i++) {
            compiled(8, nothing, MEETING);
        }
        compiled(20, Standing::park, new int[3]);
    }

    static synchronized void holdStatic() {
        synchronized (FIRST) {
            synchronized (SECOND) {
                sleep();
            }
        }
    }

    static void cross(Object mine, Object other, CountDownLatch both) {
        synchronized (mine) {
            both.countDown();
            waitFor(both);
            synchronized (other) {
                spun++;
            }
        }
    }

    static void cross(ReentrantLock mine, ReentrantLock other, CountDownLatch both) {
        mine.lock();
        both.countDown();
        waitFor(both);
        other.lock();
    }

    private static void waitFor(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void meet() {
        synchronized (FIRST_MEETING) {
            synchronized (MEETING) {
                try {
                    while (!go) {
                        MEETING.wait();
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    static final Object FIRST_MEETING = new Object();

    public static void reflected() {
        park();
    }

    private static void callReflected() {
        try {
            Standing.class.getMethod("reflected").invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void standAll() throws Exception {
        stand("deep", () -> descend(40, Standing::park), Thread.State.WAITING);
        stand("sleeper", Standing::sleep, Thread.State.TIMED_WAITING);
        stand("holder", Standing::holdStatic, Thread.State.TIMED_WAITING);
        stand("blocked", () -> {
            synchronized (FIRST) {
                spun++;
            }
        }, Thread.State.BLOCKED);
        stand("meeting", Standing::meet, Thread.State.WAITING);
        stand("reflected", Standing::callReflected, Thread.State.WAITING);
        stand("n\u00e4me \u2603 \ud835\udcb3", Standing::park, Thread.State.WAITING);
        stand("compiled", Standing::standCompiled, Thread.State.WAITING);
        Object one = new Object();
        Object two = new Object();
        CountDownLatch monitors = new CountDownLatch(2);
        Thread first = start("dead-1", () -> cross(one, two, monitors));
        Thread second = start("dead-2", () -> cross(two, one, monitors));
        await(first, Thread.State.BLOCKED);
        await(second, Thread.State.BLOCKED);
        CountDownLatch locks = new CountDownLatch(2);
        first = start("juc-1", () -> cross(LEFT, RIGHT, locks));
        second = start("juc-2", () -> cross(RIGHT, LEFT, locks));
        locks.await();
        while (!LEFT.hasQueuedThread(second) || !RIGHT.hasQueuedThread(first)) {
            Thread.sleep(1);
        }
        await(first, Thread.State.WAITING);
        await(second, Thread.State.WAITING);
    }

    private static void standVirtual(String name, Runnable body, Thread.State state) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
        Object named = type.getMethod("name", String.class).invoke(builder, name);
        await((Thread) type.getMethod("start", Runnable.class).invoke(named, body), state);
    }

    static String virtual(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            standVirtual("virtual-" + virtualThreads++, () -> descend(5, Standing::park), Thread.State.WAITING);
        }
        return "virtual=" + virtualThreads;
    }

    static final Object DOOR = new StringBuilder("door");
    static final Object ROOM = new StringBuilder("room");
    static final ReentrantLock KEY = new ReentrantLock();

    static void hold() {
        synchronized (DOOR) {
            KEY.lock();
            park();
        }
    }

    static void enter() {
        synchronized (DOOR) {
            park();
        }
    }

    static void linger() {
        synchronized (ROOM) {
            try {
                ROOM.wait();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** One virtual thread holds a monitor and a lock that virtual and platform threads want; one is in Object.wait. */
    static String virtualLocks() throws Exception {
        standVirtual("v-holder", Standing::hold, Thread.State.WAITING);
        standVirtual("v-enter", Standing::enter, Thread.State.BLOCKED);
        standVirtual("v-lock", KEY::lock, Thread.State.WAITING);
        standVirtual("v-wait", Standing::linger, Thread.State.WAITING);
        stand("p-enter", Standing::enter, Thread.State.BLOCKED);
        stand("p-lock", KEY::lock, Thread.State.WAITING);
        return "virtual-locks";
    }

    private static void spin() {
        while (!go) {
            spun += step(spun);
        }
    }

    private static long step(long value) {
        return value % 7 + 1;
    }

    /** Writes to an unmapped address. */
    private static void crash() throws Exception {
        Class<?> type = Class.forName("sun.misc.Unsafe");
        java.lang.reflect.Field field = type.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        type.getMethod("putInt", long.class, int.class).invoke(field.get(null), 0x1230L, 1);
    }

    /** The state of a thread, in the words of jtrace.threadState. */
    private static String stateOf(ThreadInfo info) {
        StackTraceElement[] frames = info.getStackTrace();
        switch (info.getThreadState()) {
            case BLOCKED: return "blocked";
            case RUNNABLE: return info.isInNative() ? "native" : "runnable";
            default:
                for (StackTraceElement frame : frames) {
                    if (frame.getMethodName().startsWith("park")) {
                        return "parked";
                    }
                    if (frame.getMethodName().startsWith("wait")) {
                        return "waiting";
                    }
                    if (frame.getMethodName().startsWith("sleep")) {
                        return "sleeping";
                    }
                }
                return "unknown";
        }
    }

    /** ID=STATE for each thread. */
    static String states() {
        StringBuilder text = new StringBuilder();
        for (ThreadInfo info : ManagementFactory.getThreadMXBean().dumpAllThreads(false, false)) {
            text.append(info.getThreadId()).append('=').append(stateOf(info)).append(' ');
        }
        return text.toString().trim();
    }

    static String answer(String[] words) throws Exception {
        int count = words.length > 1 ? Integer.parseInt(words[1]) : 1;
        switch (words[0]) {
            case "virtual": return virtual(count);
            case "virtual-locks": return virtualLocks();
            case "spin":
                for (int i = 0; i < count; i++) {
                    start("spinner-" + i, Standing::spin);
                }
                return "spinning=" + count;
            case "more":
                for (int i = 0; i < count; i++) {
                    stand("more-" + i, () -> descend(15, Standing::park), Thread.State.WAITING);
                }
                return "standing=" + standing.size();
            case "states": return states();
            case "crash": crash(); return "";
            default: return "ERR unknown command " + words[0];
        }
    }

    public static void main(String[] args) throws Exception {
        standAll();
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
