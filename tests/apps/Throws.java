import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Exceptions whose way is known. Each line is a command "WAY N": so many of that way, answered when all is done. The
 * ways are the names of the methods below; comments like "at swallowed" mark the lines that a test looks for.
 */
public final class Throws {
    static final class Known extends RuntimeException {
        Known(String message) {
            super(message);
        }

        Known(String message, Throwable cause) {
            super(message, cause);
        }
    }

    static final class Closed extends RuntimeException {
        Closed(String message) {
            super(message);
        }
    }

    static final class Resource implements AutoCloseable {
        @Override
        public void close() {
            throw new Closed("not closed"); // at closed
        }
    }

    static final class Dies implements Runnable {
        private final int number;

        Dies(int number) {
            this.number = number;
        }

        @Override
        public void run() {
            fail(number);
        }
    }

    private static final Known KEPT = new Known("kept");
    private static int sink;
    private static Known last;

    static void fail(int i) {
        throw new Known("number " + i % 3); // at fail
    }

    static void deeper(int i, int depth) {
        if (depth == 0) {
            fail(i);
        }
        deeper(i, depth - 1);
    }

    static void swallowed(int i) {
        try {
            deeper(i, 3);
        } catch (Known e) { // at swallowed
            sink++;
        }
    }

    /** Empty, and without a name that anything could read. */
    static void ignored(int i) {
        try {
            fail(i);
        } catch (Known ignored) { // at ignored
        }
    }

    /** The handler keeps another value in a local, and loads that. */
    static void unrelated(int i) {
        try {
            fail(i);
        } catch (Known e) { // at unrelated
            String other = "unrelated " + i;
            sink += other.length();
        }
        Object later = KEPT;
        sink += later.hashCode();
    }

    static void logged(int i) {
        try {
            fail(i);
        } catch (Known e) { // at logged
            StringWriter log = new StringWriter();
            e.printStackTrace(new PrintWriter(log, true));
            sink += log.getBuffer().length();
        }
    }

    static void stored(int i) {
        try {
            fail(i);
        } catch (Known e) { // at stored
            last = e;
        }
    }

    /** The handler may throw it on, but does not. */
    static void mayRethrow(int i) {
        try {
            fail(i);
        } catch (Known e) { // at mayRethrow
            if (i < 0) {
                throw e;
            }
            sink++;
        }
    }

    /** Only a handler within the handler reads it. */
    static void readInHandler(int i) {
        try {
            fail(i);
        } catch (Known e) { // at readInHandler
            try {
                sink += Integer.parseInt("y");
            } catch (NumberFormatException other) { // at readsOther
                last = e;
            }
        }
    }

    static void rethrown(int i) {
        try {
            try {
                fail(i);
            } catch (Known e) {
                sink++;
                throw e;
            }
        } catch (Known e) { // at rethrown
            sink++;
        }
    }

    static void passesFinally(int i) {
        try {
            fail(i);
        } finally {
            sink++;
        }
    }

    static synchronized void passesLock(int i) {
        synchronized (KEPT) {
            passesFinally(i);
        }
    }

    static void finallyBlocks(int i) {
        try {
            passesLock(i);
        } catch (Known e) { // at finallyBlocks
            sink++;
        }
    }

    @SuppressWarnings("finally")
    static int returnsInFinally(int i) {
        try {
            fail(i);
        } finally {
            return sink++; // at returnsInFinally
        }
    }

    static void wraps(int i) {
        try {
            fail(i);
        } catch (Known e) { // at wraps
            throw new IllegalStateException("wrapped", e); // at wrapper
        }
    }

    static void wrapsTwice(int i) {
        try {
            fail(i);
        } catch (Known e) { // at wrapsTwice
            Exception between = new Exception("between", new Exception("inner", e));
            throw new IllegalStateException("outer", between); // at outer
        }
    }

    static void wrappedTwice(int i) {
        try {
            wrapsTwice(i);
        } catch (IllegalStateException e) { // at wrappedTwice
            sink++;
        }
    }

    static void wrapped(int i) {
        try {
            wraps(i);
        } catch (IllegalStateException e) { // at wrapped
            sink++;
        }
    }

    static void uses(int i) {
        try (Resource resource = new Resource()) { // at uses
            fail(i);
        }
    }

    static void suppressed(int i) {
        try {
            uses(i);
        } catch (Known e) { // at suppressed
            sink++;
        }
    }

    static void parses(int i) {
        try {
            sink += Integer.parseInt("x" + i % 2);
        } catch (NumberFormatException e) { // at parses
            sink++;
        }
    }

    static void ofTheJvm(int i) {
        int[] none = i < 0 ? new int[1] : null;
        try {
            sink += none.length;
        } catch (NullPointerException e) { // at ofTheJvm
            sink++;
        }
    }

    static void inNative(int i) {
        try {
            System.arraycopy(new int[1], 0, new int[1], 0, 5 + i % 2);
        } catch (ArrayIndexOutOfBoundsException e) { // at inNative
            sink++;
        }
    }

    static void throwsKept() {
        throw KEPT; // at kept
    }

    static void kept(int i) {
        try {
            throwsKept();
        } catch (Known e) { // at caughtKept
            sink++;
        }
    }

    static void helps(Known e) {
        sink++;
        throw e; // at helps
    }

    static void helped(int i) {
        try {
            try {
                fail(i);
            } catch (Known e) {
                helps(e);
            }
        } catch (Known e) { // at helped
            sink++;
        }
    }

    /** Caught by the executor, and thrown by get() as the cause of another one. */
    static void inAnotherThread(int i) throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        Future<Void> future = executor.submit((Callable<Void>) () -> {
            fail(i);
            return null;
        });
        try {
            future.get();
        } catch (ExecutionException e) { // at inAnotherThread
            sink++;
        }
        executor.shutdown();
    }

    /** Tasks of both kinds of pool, and of a CompletableFuture: somebody asks for the result of the first of each. */
    static void inTasks(int i) throws Exception {
        Callable<Void> fails = () -> {
            fail(i);
            return null;
        };
        for (ExecutorService executor : new ExecutorService[] {Executors.newSingleThreadExecutor(), new ForkJoinPool(1)}) {
            ask(executor.submit(fails));
            executor.submit(fails);
            executor.shutdown();
            executor.awaitTermination(10, TimeUnit.SECONDS);
        }
        ask(CompletableFuture.runAsync(() -> fail(i)));
        CompletableFuture.runAsync(() -> fail(i)).exceptionally(e -> null).join();
        CompletableFuture.completedFuture(i).thenAccept(Throws::fail).handle((v, e) -> 1).join();
    }

    static void ask(Future<?> future) throws Exception {
        try {
            if (future instanceof CompletableFuture) {
                ((CompletableFuture<?>) future).join();
            } else {
                future.get();
            }
        } catch (ExecutionException | CompletionException e) {
            sink++;
        }
    }

    static void left(int i) throws Exception {
        Thread thread = new Thread(new Dies(i), "dies");
        thread.setUncaughtExceptionHandler((t, e) -> sink++);
        thread.start();
        thread.join();
    }

    static void run(String way, int i) throws Exception {
        switch (way) {
            case "swallowed": swallowed(i); break;
            case "ignored": ignored(i); break;
            case "unrelated": unrelated(i); break;
            case "logged": logged(i); break;
            case "stored": stored(i); break;
            case "mayRethrow": mayRethrow(i); break;
            case "readInHandler": readInHandler(i); break;
            case "rethrown": rethrown(i); break;
            case "finallyBlocks": finallyBlocks(i); break;
            case "returnsInFinally": returnsInFinally(i); break;
            case "wrapped": wrapped(i); break;
            case "wrappedTwice": wrappedTwice(i); break;
            case "suppressed": suppressed(i); break;
            case "parses": parses(i); break;
            case "ofTheJvm": ofTheJvm(i); break;
            case "inNative": inNative(i); break;
            case "kept": kept(i); break;
            case "helped": helped(i); break;
            case "inAnotherThread": inAnotherThread(i); break;
            case "inTasks": inTasks(i); break;
            case "left": left(i); break;
            default: throw new IllegalArgumentException(way);
        }
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        for (String line = in.readLine(); line != null && !line.equals("exit"); line = in.readLine()) {
            String[] words = line.split(" ");
            for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                run(words[0], i);
            }
            System.out.println("OK done");
        }
    }
}
