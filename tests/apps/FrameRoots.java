import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that rest in their methods. Some methods still need an object (Kept), others have used theirs for the last
 * time (Dropped). Nothing else refers to them. With the argument "virtual", virtual threads rest too. Prints READY. The
 * line "collect" runs a collection and is answered with OK KEPT DROPPED: how many of them the JVM has kept. To be run
 * with -Xbatch, or -Xint, and without inlining of its methods. Compiled with -g.
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
    private static final Object LOCK = new Object();
    private static final List<WeakReference<Mark>> MADE = new ArrayList<>();
    private static volatile boolean real;
    private static volatile boolean spinning;
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
        Runnable[] parts = {FrameRoots::hold, FrameRoots::drop, FrameRoots::pass, FrameRoots::block, FrameRoots::spin};
        for (int part = 0; part < parts.length; part++) {
            boolean spins = part == 4;
            for (int i = 0; i < (spins ? 1 : THREADS); i++) {
                start(parts[part]);
            }
            if (virtual && part < 3) {
                startVirtual(parts[part]);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        warmAll();
        boolean virtual = args.length > 0 && args[0].equals("virtual");
        resting = new CountDownLatch(THREADS * 4 + 1 + (virtual ? 3 : 0));
        real = true;
        spinning = true;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        synchronized (LOCK) {
            startAll(virtual);
            resting.await();
            awaitRest();
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

    // Until all but the one that spins wait.
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
            if (own && element.getMethodName().equals("spin")) {
                return false;
            }
            here |= own;
        }
        return here;
    }
}
