import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that rest in their methods. Some methods still need an object (Kept), others have used theirs for the last
 * time (Dropped). Nothing else refers to them. The first argument is the library with the native methods; with a second
 * one, "virtual", virtual threads rest too. Prints READY. The line "collect" runs a collection and is answered with
 * OK KEPT DROPPED: how many of them the JVM has kept. To be run with -Xbatch, or -Xint, and without inlining of its
 * methods. Compiled with -g.
 */
public final class FrameRoots {
    static class Mark {
        int value = 1;
        final byte[] load = new byte[64];
    }

    static final class Kept extends Mark {}

    static final class Dropped extends Mark {}

    private static final int WARM = 30_000;
    private static final int THREADS = 5;
    private static final int DEPTH = 6;
    private static final Object LOCK = new Object();
    private static final List<WeakReference<Mark>> MADE = new ArrayList<>();
    private static volatile boolean real;
    private static volatile boolean spinning;
    private static volatile boolean thawing;
    private static int sum;
    private static CountDownLatch resting;

    private static <M extends Mark> M note(M mark) {
        if (real) {
            synchronized (MADE) {
                MADE.add(new WeakReference<>(mark));
            }
        }
        return mark;
    }

    static void use(Mark first, Mark second) {
        sum += first.value + second.value;
    }

    static void useMany(Mark a, Mark b, Mark c, Mark d, Mark e, Mark f, Mark g, Mark h, Mark i, Mark j) {
        rest();
        sum += a.value + b.value + c.value + d.value + e.value + f.value + g.value + h.value + i.value + j.value;
    }

    static void rest() {
        if (real) {
            resting.countDown();
            while (true) {
                LockSupport.park();
            }
        }
    }

    static void hold() {
        Kept first = note(new Kept());
        Kept second = note(new Kept());
        use(first, second);
        rest();
        use(second, first);
    }

    static void drop() {
        Dropped first = note(new Dropped());
        Dropped second = note(new Dropped());
        use(first, second);
        use(second, first);
        rest();
    }

    // Of ten arguments four are on the stack of the caller, who does not need them any more.
    static void pass() {
        useMany(note(new Kept()), note(new Kept()), note(new Kept()), note(new Kept()), note(new Kept()),
                note(new Kept()), note(new Kept()), note(new Kept()), note(new Kept()), note(new Kept()));
    }

    static void block() {
        Kept kept = note(new Kept());
        Dropped dropped = note(new Dropped());
        use(kept, dropped);
        use(dropped, kept);
        count();
        synchronized (LOCK) {
            sum++;
        }
        use(kept, kept);
    }

    static void count() {
        if (real) {
            resting.countDown();
        }
    }

    static void spin() {
        Kept kept = note(new Kept());
        use(kept, kept);
        count();
        while (spinning) {
            kept.value++;
        }
        use(kept, kept);
    }

    // A native function that the JVM does not know of runs most of the time.
    static void leaf() {
        Kept kept = note(new Kept());
        use(kept, kept);
        count();
        while (spinning) {
            sum += (int) System.nanoTime();
        }
        use(kept, kept);
    }

    static native void holdNative(Kept a, Kept b, Kept c, Kept d, Kept e, Kept f, Kept g, Kept h);

    static void hand() {
        if (real) {
            count();
            holdNative(note(new Kept()), note(new Kept()), note(new Kept()), note(new Kept()), note(new Kept()),
                    note(new Kept()), note(new Kept()), note(new Kept()));
        }
    }

    static native void callBack();

    // Called by callBack.
    static Kept made() {
        return note(new Kept());
    }

    static final class Late {
        static {
            rest();
        }

        static void take(Kept a, Kept b, Kept c, Kept d, Kept e, Kept f, Kept g, Kept h) {
            useMany(a, b, c, d, e, f, g, h, a, b);
        }
    }

    // The arguments of a call that waits for the initialisation of its class.
    static void initialise() {
        if (real) {
            Late.take(note(new Kept()), note(new Kept()), note(new Kept()), note(new Kept()), note(new Kept()),
                    note(new Kept()), note(new Kept()), note(new Kept()));
        }
    }

    // Parks first: most frames stay in the heap when it goes on.
    static void thaw(int depth) {
        Kept kept = note(new Kept());
        use(kept, kept);
        if (depth > 1) {
            thaw(depth - 1);
        } else if (real) {
            count();
            while (!thawing) {
                LockSupport.parkNanos(10_000_000);
            }
            while (spinning) {
                kept.value++;
            }
        }
        use(kept, kept);
    }

    private static void start(Runnable part) {
        Thread thread = new Thread(part);
        thread.setDaemon(true);
        thread.start();
    }

    private static void startVirtual(Runnable part) throws Exception {
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, part);
    }

    private static void warm(Runnable part) {
        for (int i = 0; i < WARM; i++) {
            part.run();
        }
    }

    private static void warmAll() {
        warm(FrameRoots::hold);
        warm(FrameRoots::drop);
        warm(FrameRoots::pass);
        warm(FrameRoots::block);
        warm(FrameRoots::spin);
        warm(FrameRoots::leaf);
        warm(FrameRoots::hand);
        warm(FrameRoots::initialise);
        warm(() -> thaw(DEPTH));
    }

    private static String kept() {
        int kept = 0;
        int dropped = 0;
        for (WeakReference<Mark> reference : MADE) {
            Mark mark = reference.get();
            kept += mark instanceof Kept ? 1 : 0;
            dropped += mark instanceof Dropped ? 1 : 0;
        }
        return kept + " " + dropped;
    }

    private static void startAll(boolean virtual) throws Exception {
        Runnable[] many = {FrameRoots::hold, FrameRoots::drop, FrameRoots::pass, FrameRoots::block};
        for (Runnable part : many) {
            for (int i = 0; i < THREADS; i++) {
                start(part);
            }
        }
        Runnable[] single = {FrameRoots::spin, FrameRoots::leaf, FrameRoots::hand, FrameRoots::callBack,
            FrameRoots::initialise};
        for (Runnable part : single) {
            start(part);
        }
        if (virtual) {
            startVirtual(FrameRoots::hold);
            startVirtual(FrameRoots::drop);
            startVirtual(FrameRoots::pass);
            startVirtual(() -> thaw(DEPTH));
        }
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        warmAll();
        System.gc();  // what it has left on stacks is no object any more
        boolean virtual = args.length > 1 && args[1].equals("virtual");
        resting = new CountDownLatch(THREADS * 4 + 5 + (virtual ? 4 : 0));
        real = true;
        spinning = true;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        synchronized (LOCK) {
            startAll(virtual);
            resting.await();
            awaitRest();
            thawing = true;
            Thread.sleep(200);
            System.out.println("READY");
            for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
                if (line.equals("collect")) {
                    System.gc();
                }
                System.out.println("OK " + kept());
            }
        }
        System.exit(0);
    }

    // Until all but those that run wait.
    private static void awaitRest() throws Exception {
        for (Thread each : Thread.getAllStackTraces().keySet()) {
            while (isRunning(each)) {
                Thread.sleep(1);
            }
        }
    }

    private static boolean isRunning(Thread thread) {
        if (!thread.isDaemon() || thread.getState() != Thread.State.RUNNABLE) {
            return false;
        }
        boolean here = false;
        for (StackTraceElement element : thread.getStackTrace()) {
            boolean own = element.getClassName().equals("FrameRoots");
            String method = element.getMethodName();
            if (own && (method.equals("spin") || method.equals("leaf") || method.equals("holdNative"))) {
                return false;
            }
            here |= own;
        }
        return here;
    }
}
