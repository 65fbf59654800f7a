import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that does not come to a safepoint while others ask for one.
 *
 * <p>It prints READY when the loop is compiled. "late" starts the thread "late-loop", whose counted int loop has
 * no safepoint poll in compiled code (JDK 8; later with -XX:-UseCountedLoopSafepoints -XX:LoopStripMiningIter=0), and
 * the thread "asker", which then calls System.gc(). "busy N" starts N threads that allocate, lock and poll as usual.
 * "suspend", "trace" and "deoptimize" start the same loop, and an asker that has the VM hand something to that thread,
 * or to all: Thread.suspend() (up to JDK 19), its stack trace, or the loading of a class that makes compiled code wrong.
 */
public final class LateThread {
    static volatile long sink;
    static volatile boolean looping;
    static volatile Object garbage;

    /** Divides by a variable, so that the longest int loop takes tens of seconds. */
    static long divide(int rounds, long first, long by) {
        long value = first;
        for (int i = 0; i < rounds; i++) {
            value = (value + i) / by + value % (by + 2) + Long.MAX_VALUE / 3;
        }
        return value;
    }

    static void loop() {
        looping = true;
        sink += divide(Integer.MAX_VALUE, sink | 1, 7);
    }

    static void ask() {
        try {
            while (!looping) {
                Thread.sleep(1);
            }
            Thread.sleep(100);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        System.gc();
    }

    abstract static class Animal {
        abstract int legs();
    }

    static final class Dog extends Animal {
        @Override
        int legs() {
            return 4;
        }
    }

    /** Loaded late: compiled code that takes each Animal for a Dog is wrong from then on. */
    static final class Bird extends Animal {
        @Override
        int legs() {
            return 2;
        }
    }

    static int legsOf(Animal animal) {
        return animal.legs() + 1;
    }

    static void awaitLoop() throws InterruptedException {
        while (!looping) {
            Thread.sleep(1);
        }
        Thread.sleep(100);
    }

    static Method suspend;

    /** Once on a thread that idles: what is loaded for it is loaded then. */
    static void prepareToSuspend() throws ReflectiveOperationException {
        suspend = Thread.class.getMethod("suspend");
        Thread idle = start("idle", LockSupport::park);
        suspend.invoke(idle);
        Thread.class.getMethod("resume").invoke(idle);
    }

    static void askFor(String what, Thread loop) {
        try {
            awaitLoop();
            if (what.equals("suspend")) {
                suspend.invoke(loop);
            } else if (what.equals("trace")) {
                sink += loop.getStackTrace().length;
            } else {
                Class.forName("LateThread$Bird").getDeclaredConstructor().newInstance();
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void busy() {
        while (true) {
            synchronized (LateThread.class) {
                garbage = new byte[256];
            }
            sink += divide(50, sink, 7);
        }
    }

    private static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws Exception {
        final Animal dog = new Dog();
        for (int i = 0; i < 30_000; i++) {
            sink += divide(100, i, 7);
        }
        for (int i = 0; i < 200_000; i++) {
            sink += legsOf(dog);
        }
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("late")) {
                start("asker", LateThread::ask);
                start("late-loop", LateThread::loop);
            } else if (words[0].equals("suspend") || words[0].equals("trace") || words[0].equals("deoptimize")) {
                if (words[0].equals("suspend")) {
                    prepareToSuspend();
                }
                Thread loop = start("late-loop", LateThread::loop);
                start("asker", () -> askFor(words[0], loop));
            } else if (words[0].equals("busy")) {
                for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                    start("busy-" + i, LateThread::busy);
                }
            }
            System.out.println("OK");
        }
    }
}
