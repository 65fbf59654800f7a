import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Calls of known number. Each line is a command; the answer has the number of calls of each traced method.
 *
 * <p>Commands: "fib N", "throws N", "everything N", "constructors N", "threads T N", "virtual T N" (JDK 21), "bench N
 * R", "benchClock N R" (two clock reads each), "benchObject N R", "benchNew N R", "benchCollections N R", "cells N T",
 * "dropCells 0", "allocate N", "gc 1", "values N", "boxes N", "naps N MS", "slowly N MS", "virtualNaps N MS" (JDK 21),
 * "sleepers N MS", "virtualSleepers N MS" (JDK 21), "forgotten N MS", "cpuTime N", "calls N", "plugins N", "refused N R MS",
 * "overflows N", "spin 1", "spin 0" (starts and ends a thread that makes calls until then), "exit".
 */
public final class Calls {
    private static final AtomicLong fibs = new AtomicLong();
    static int sink;
    static volatile boolean spins;

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static int readClock(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            sum += System.nanoTime() ^ System.nanoTime();
        }
        return (int) sum;
    }

    /** The number of calls that fib(n) makes. */
    static long callsOfFib(int n) {
        long a = 1;
        long b = 1;
        for (int i = 2; i <= n; i++) {
            long c = a + b + 1;
            a = b;
            b = c;
        }
        return b;
    }

    static void thrower(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("as asked");
        }
        thrower(depth - 1);
    }

    static int implicit(int[] array) {
        return array[3];
    }

    static int catcher(int depth) {
        try {
            thrower(depth);
            return 0;
        } catch (IllegalStateException e) {
            return 1;
        }
    }

    static int implicitCatcher() {
        try {
            return implicit(null);
        } catch (NullPointerException e) {
            return 1;
        }
    }

    static synchronized long everything(int a, long b, double c, String d, int[] e) {
        long sum = a + b + (long) c;
        for (int each : e) {
            switch (each) {
                case 1: sum += d.length(); break;
                case 2: sum -= 1; break;
                case 100000: sum = 0; break;
                default: sum++;
            }
        }
        return sum;
    }

    static class Base {
        final int value;

        Base(int value) {
            if (value < 0) {
                throw new IllegalArgumentException("negative");
            }
            this.value = value;
        }
    }

    static final class Derived extends Base {
        final String name;

        Derived(int value, boolean flag) {
            super(flag ? Math.abs(value) : value);
            name = "derived " + value;
        }
    }

    static int construct(int count) {
        int refused = 0;
        for (int i = 0; i < count; i++) {
            try {
                sink += new Derived(i % 2 == 0 ? i : -i, i % 4 == 1).name.length();
            } catch (IllegalArgumentException e) {
                refused++;
            }
        }
        return refused;
    }

    static String many(boolean z, byte b, char c, short s, float f, String text, Base base, String none) {
        return c + text;
    }

    static Integer boxes(Boolean z, Object c, Byte b, Short s, Integer i, Number j, Float f, Double d, int[] none) {
        return i;
    }

    final long instance = 5;

    long add(long a, double b) {
        return instance + a + (long) b;
    }

    static class Cell {
        int value;

        Cell(int value) {
            this.value = value;
            touch();
        }

        int touch() {
            return ++value;
        }

        synchronized int twice() {
            return touch() + touch();
        }
    }

    static final class SubCell extends Cell {
        SubCell(int value) {
            super(value + 1);
            this.value--;
        }
    }

    /** In each round, line by line: a Base, an int[], a String[], 1 + 3 arrays, 1 + 2 arrays, and a Base whose
     * constructor throws. */
    static int allocate(int n) {
        Object[] kept = new Object[5];
        int refused = 0;
        for (int i = 0; i < n; i++) {
            kept[0] = new Base(i);
            kept[1] = new int[i];
            kept[2] = new String[] {"text", null};
            kept[3] = new boolean[3][4];
            kept[4] = new Base[2][3][];
            try {
                kept[0] = new Base(-1);
            } catch (IllegalArgumentException e) {
                refused++;
            }
        }
        return refused + kept.length;
    }

    static final Object[] made = new Object[2048];

    static int makeMany(int n) {
        for (int i = 0; i < n; i++) {
            made[2 * i & 2047] = new Base(i);
            made[2 * i + 1 & 2047] = new int[4];
        }
        return n;
    }

    int fibOfObject(int n) {
        return n < 2 ? n : fibOfObject(n - 1) + fibOfObject(n - 2);
    }

    static final java.util.ArrayList<Cell> cells = new java.util.ArrayList<>();

    /** A slow call with callees that are quick, slow, and of the same method. */
    static String slowly(String text, Base base, long number, int ms) throws InterruptedException {
        for (int i = 0; i < 20; i++) {
            many(true, (byte) i, 'c', (short) i, 1.5f, "quick " + i, base, null);
        }
        if (number > 0) {
            slowly(text + "!", null, number - 1, ms);
        }
        nap(ms);
        return text + number;
    }

    static int quick(int i) {
        return i ^ sink;
    }

    static void nap(int ms) throws InterruptedException {
        Thread.sleep(ms);
    }

    static void napAndThrow(int ms) throws InterruptedException {
        nap(ms);
        throw new IllegalStateException("as asked");
    }

    /** Two slow calls among a hundred quick ones; an exception leaves one of them. */
    static int naps(int ms) throws InterruptedException {
        int sum = 0;
        for (int i = 0; i < 50; i++) {
            sum += quick(i);
        }
        nap(ms);
        for (int i = 0; i < 50; i++) {
            sum += quick(i);
        }
        try {
            napAndThrow(ms);
        } catch (IllegalStateException e) {
            sum++;
        }
        return sum;
    }

    /** Slow calls on an object among quick ones: its constructors, rest() and sleep(), each with the object's number. */
    static class Sleeper {
        static java.lang.ref.WeakReference<Sleeper> last;
        int touched;

        Sleeper(int number, int ms) throws InterruptedException {
            nap(ms);
            touch();
        }

        int touch() {
            return ++touched;
        }

        void sleep(int number, int ms) throws InterruptedException {
            nap(ms);
        }

        int rest(int number, int ms) throws InterruptedException {
            for (int i = 0; i < 50; i++) {
                touch();
            }
            sleep(number, ms);
            sleep(number, ms);
            return touched;
        }

        static Sleeper made(int number) throws InterruptedException {
            Sleeper sleeper = new Sleeper(number, 0);
            last = new java.lang.ref.WeakReference<>(sleeper);
            return sleeper;
        }

        /** The only reference is "this", which compiled code no longer needs. Returns 1 if the object is collected
         * before the method ends. */
        int forget(int number, int ms) throws InterruptedException {
            System.gc();
            nap(ms);
            return last.get() == null ? 1 : 0;
        }
    }

    static final class LateSleeper extends Sleeper {
        LateSleeper(int number, int first, int second) throws InterruptedException {
            super(number, first);
            nap(second);
        }
    }

    /** One object that is slow in its super constructor, and one that is slow in its own. */
    static int sleepers(int number, int ms) {
        try {
            return new LateSleeper(number, ms, 0).rest(number, ms) + new LateSleeper(number + 1, 0, ms).rest(number + 1, ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Maps, a sorted list and strings: six small methods of this class, called through methods of java.util. */
    static final class Collections {
        private final java.util.HashMap<Integer, String> names = new java.util.HashMap<>();
        private final java.util.TreeMap<String, Integer> numbers = new java.util.TreeMap<>();
        private final java.util.ArrayList<Integer> order = new java.util.ArrayList<>();

        static int mix(int i) {
            int x = i * 0x9e3779b9;
            return (x ^ x >>> 15) & 0xffffff;
        }

        static String nameOf(int key) {
            return Integer.toString(key, 36);
        }

        void put(int i) {
            int key = mix(i);
            names.put(key, nameOf(key));
            order.add(key);
        }

        void invert(int key) {
            numbers.put(names.get(key), key);
        }

        int look(int key) {
            return numbers.get(names.get(key));
        }

        long run(int n) {
            for (int i = 0; i < n; i++) {
                put(i);
            }
            java.util.Collections.sort(order);
            long sum = 0;
            for (int key : order) {
                invert(key);
            }
            for (int key : order) {
                sum += look(key);
            }
            return sum;
        }
    }

    interface Shape {
        int area(int n);
    }

    static class Square implements Shape {
        @Override
        public int area(int n) {
            return n * n + corners();
        }

        int corners() {
            return 4;
        }
    }

    static final class Rounded extends Square {
        @Override
        int corners() {
            return super.corners() - 4;
        }
    }

    /** Loaded by its first call. */
    static final class Late {
        static int late(int n) {
            return n;
        }
    }

    /** Loaded by many loaders: each has its own Plugin and Helper. */
    public static final class Plugin implements Runnable {
        @Override
        public void run() {
            Helper.help(Helper.again(3));
        }
    }

    static final class Helper {
        static int help(int n) {
            return n;
        }

        static int again(int n) {
            return n;
        }
    }

    static final class PluginLoader extends ClassLoader {
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("Calls$Plugin") && !name.equals("Calls$Helper")) {
                return super.loadClass(name, resolve);
            }
            synchronized (this) {
                Class<?> known = findLoadedClass(name);
                if (known != null) {
                    return known;
                }
                try (java.io.InputStream in = Calls.class.getResourceAsStream("/" + name + ".class")) {
                    java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream();
                    for (int b = in.read(); b >= 0; b = in.read()) {
                        out.write(b);
                    }
                    return defineClass(name, out.toByteArray(), 0, out.size());
                } catch (java.io.IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        }
    }

    /** Drops half of the loaders at once, and collects from time to time. */
    static int plugins(int n) throws Exception {
        java.util.List<ClassLoader> kept = new java.util.ArrayList<>();
        for (int i = 0; i < n; i++) {
            ClassLoader loader = new PluginLoader();
            ((Runnable) loader.loadClass("Calls$Plugin").getDeclaredConstructor().newInstance()).run();
            if (i % 2 == 0) {
                kept.add(loader);
            }
            if (i % 64 == 63) {
                System.gc();
            }
        }
        return kept.size();
    }

    static int failing(int n) {
        if (n == 0) {
            throw new IllegalStateException("as asked");
        }
        return quick(failing(n - 1));
    }

    /** An exception passes through three calls of failing and through the call that computes quick's argument; the
     * handler makes a call. */
    static int callFailing() {
        try {
            return failing(2);
        } catch (IllegalStateException e) {
            return quick(1);
        }
    }

    static class Picky extends Base {
        Picky(int value) {
            super(failing(value));
        }
    }

    static int constructPicky(boolean twice) {
        try {
            return new Picky(0).value;
        } catch (IllegalStateException e) {
            return twice ? constructPicky(false) : 1;
        }
    }

    static final class Refused {
        final int value;

        Refused(String text) {
            this(Integer.parseInt(text));
        }

        Refused(int value) {
            this.value = value;
        }
    }

    /** N times: an exception leaves R constructors before super() returns, thrown before it and inside it; then two slow
     * calls. */
    static final class Refuser extends Thread {
        private final int rounds;
        private final int refused;
        private final int ms;

        Refuser(int rounds, int refused, int ms) {
            this.rounds = rounds;
            this.refused = refused;
            this.ms = ms;
        }

        private static void refuse(boolean early) {
            try {
                sink += early ? new Refused("none").value : new Derived(-1, false).value;
            } catch (IllegalArgumentException e) {
                sink++;
            }
        }

        @Override
        public void run() {
            try {
                for (int i = 0; i < rounds; i++) {
                    for (int k = 0; k < refused; k++) {
                        refuse(k % 2 == 0);
                    }
                    nap(ms);
                    sink += new Sleeper(i, ms).touched;
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static int overflow(int n) {
        synchronized (Refuser.class) {
            return n % 3 == 0 ? overflow(n + 1) + 1 : overflowWith(n + 1, n, 2.0) + 1;
        }
    }

    private static int overflowWith(int n, long more, double most) {
        try {
            return overflow(n + 1) + (int) (more * most);
        } finally {
            sink++;
        }
    }

    /** N threads overflow their stacks at varying places; no monitor stays locked. */
    static int overflows(int n) throws InterruptedException {
        int[] full = new int[1];
        for (int i = 0; i < n; i++) {
            Thread deep = new Thread(null, () -> {
                try {
                    overflow(0);
                } catch (StackOverflowError e) {
                    full[0]++;
                }
            }, "deep", 200_000 + i * 1009);
            deep.start();
            deep.join();
            synchronized (Refuser.class) {
                sink++;
            }
        }
        return full[0];
    }

    /** One call of each kind; the test knows the callee and the instruction of each. */
    static int callEach(Shape shape, Square square, int[] array) {
        int sum = shape.area(3) + square.corners() + quick(1) + Late.late(2);
        sum += array.clone().length;
        sum += (int) System.nanoTime() & 1;
        sum += new Cell(5).value;
        sum += shape.hashCode() & 1;
        sum += callFailing() + constructPicky(true);
        return sum;
    }

    private static String answer(String[] words) throws Exception {
        int n = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        switch (words[0]) {
            case "fib":
                sink = fib(n);
                return "fib=" + callsOfFib(n);
            case "throws": {
                int caught = 0;
                for (int i = 0; i < n; i++) {
                    caught += catcher(3) + implicitCatcher();
                }
                return "catcher=" + n + " thrower=" + 4 * n + " caught=" + caught;
            }
            case "everything": {
                long sum = 0;
                for (int i = 0; i < n; i++) {
                    sum += everything(i, i, i, "text", new int[] {1, 2, 3, 100000, 1});
                }
                return "everything=" + n + " sum=" + sum;
            }
            case "constructors":
                return "derived=" + n + " refused=" + construct(n);
            case "threads": {
                final int m = Integer.parseInt(words[2]);
                Thread[] threads = new Thread[n];
                for (int i = 0; i < n; i++) {
                    threads[i] = new Thread(() -> fibs.addAndGet(fib(m)), "caller-" + i);
                    threads[i].start();
                }
                for (Thread thread : threads) {
                    thread.join();
                }
                return "fib=" + n * callsOfFib(m);
            }
            case "virtual": {
                final int m = Integer.parseInt(words[2]);
                final java.util.concurrent.CountDownLatch done = new java.util.concurrent.CountDownLatch(n);
                Runnable body = () -> {
                    fibs.addAndGet(fib(m));
                    Thread.yield();
                    fibs.addAndGet(fib(m));
                    done.countDown();
                };
                java.lang.reflect.Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
                for (int i = 0; i < n; i++) {
                    start.invoke(null, body);
                }
                done.await();
                return "fib=" + 2 * n * callsOfFib(m);
            }
            case "spin": {
                spins = n != 0;
                if (spins) {
                    new Thread(() -> {
                        while (spins) {
                            fib(12);
                            catcher(2);
                            construct(3);
                        }
                    }, "spinner").start();
                }
                return "spin=" + n;
            }
            case "bench": {
                int rounds = Integer.parseInt(words[2]);
                long best = Long.MAX_VALUE;
                for (int i = 0; i < rounds; i++) {
                    long start = System.nanoTime();
                    sink += fib(n);
                    best = Math.min(best, System.nanoTime() - start);
                }
                return "ns=" + best + " calls=" + callsOfFib(n);
            }
            case "benchClock": {
                int rounds = Integer.parseInt(words[2]);
                long best = Long.MAX_VALUE;
                for (int i = 0; i < rounds; i++) {
                    long start = System.nanoTime();
                    sink += readClock(n);
                    best = Math.min(best, System.nanoTime() - start);
                }
                return "ns=" + best + " calls=" + n;
            }
            case "benchObject": {
                int rounds = Integer.parseInt(words[2]);
                long best = Long.MAX_VALUE;
                Calls object = new Calls();
                for (int i = 0; i < rounds; i++) {
                    long start = System.nanoTime();
                    sink += object.fibOfObject(n);
                    best = Math.min(best, System.nanoTime() - start);
                }
                return "ns=" + best + " calls=" + callsOfFib(n);
            }
            case "benchNew": {
                int rounds = Integer.parseInt(words[2]);
                long best = Long.MAX_VALUE;
                for (int i = 0; i < rounds; i++) {
                    long start = System.nanoTime();
                    sink += makeMany(n);
                    best = Math.min(best, System.nanoTime() - start);
                }
                return "ns=" + best + " calls=" + 2 * n;
            }
            case "benchCollections": {
                int rounds = Integer.parseInt(words[2]);
                long best = Long.MAX_VALUE;
                for (int i = 0; i < rounds; i++) {
                    long start = System.nanoTime();
                    sink += (int) new Collections().run(n);
                    best = Math.min(best, System.nanoTime() - start);
                }
                // mix, nameOf, put, invert, look for each, run and the constructor
                return "ns=" + best + " calls=" + (5L * n + 2);
            }
            case "values": {
                StringBuilder text = new StringBuilder();
                for (int i = 0; i < n; i++) {
                    text.append('x');
                }
                sink += many(true, (byte) -3, '\u00e9', (short) -300, 1.5f, "a<b", new Base(7), null).length();
                sink += many(false, (byte) 3, 'c', (short) 300, -1.5f, text.toString(), null, "").length();
                sink += (int) new Calls().add(5000000000L, 0.25);
                try {
                    new Base(-1);
                } catch (IllegalArgumentException e) {
                    sink++;
                }
                return "values=" + n;
            }
            case "boxes":
                return "boxes=" + boxes(true, 'x', (byte) -3, (short) -300, n, 5000000000L, 1.5f, -0.25, new int[n]);
            case "allocate":
                return "allocated=" + allocate(n);
            case "gc":
                System.gc();
                return "gc=1";
            case "cells": {
                for (int i = 0; i < n; i++) {
                    cells.add(new SubCell(i));
                }
                Thread[] threads = new Thread[Integer.parseInt(words[2])];
                for (int i = 0; i < threads.length; i++) {
                    threads[i] = new Thread(() -> cells.forEach(Cell::twice), "cells-" + i);
                    threads[i].start();
                }
                for (Thread thread : threads) {
                    thread.join();
                }
                return "cells=" + cells.size();
            }
            case "dropCells":
                cells.clear();
                System.gc();
                return "cells=0";
            case "naps": {
                final int ms = Integer.parseInt(words[2]);
                for (int i = 0; i < n; i++) {
                    sink += naps(ms);
                }
                return "naps=" + n;
            }
            case "cpuTime": {
                java.lang.management.ThreadMXBean threads = java.lang.management.ManagementFactory.getThreadMXBean();
                long before = threads.getCurrentThreadCpuTime();
                sink = fib(n);
                return "fib=" + callsOfFib(n) + " before=" + before + " after=" + threads.getCurrentThreadCpuTime();
            }
            case "sleepers":
                for (int i = 0; i < n; i++) {
                    sink += sleepers(2 * i, Integer.parseInt(words[2]));
                }
                return "sleepers=" + 2 * n;
            case "virtualSleepers": {
                final int ms = Integer.parseInt(words[2]);
                final java.util.concurrent.CountDownLatch done = new java.util.concurrent.CountDownLatch(n);
                java.lang.reflect.Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
                for (int i = 0; i < n; i++) {
                    final int number = 100 + 2 * i;
                    Runnable body = () -> {
                        sink += sleepers(number, ms);
                        done.countDown();
                    };
                    start.invoke(null, body);
                }
                done.await();
                return "sleepers=" + 2 * n;
            }
            case "forgotten": {
                int gone = 0;
                for (int i = 0; i < n; i++) {
                    gone += Sleeper.made(200 + i).forget(200 + i, Integer.parseInt(words[2]));
                }
                System.gc();
                return "gone=" + gone;
            }
            case "calls":
                for (int i = 0; i < n; i++) {
                    sink += callEach(new Rounded(), new Square(), new int[i]);
                }
                return "calls=" + n;
            case "plugins":
                return "plugins=" + n + " kept=" + plugins(n);
            case "overflows":
                return "overflows=" + overflows(n);
            case "refused": {
                Refuser refuser = new Refuser(n, Integer.parseInt(words[2]), Integer.parseInt(words[3]));
                refuser.start();
                refuser.join();
                return "refused=" + n;
            }
            case "slowly":
                return "slowly=" + slowly("text", new Base(7), n, Integer.parseInt(words[2])).length();
            case "virtualNaps": {
                final int ms = Integer.parseInt(words[2]);
                final java.util.concurrent.CountDownLatch done = new java.util.concurrent.CountDownLatch(n);
                Runnable body = () -> {
                    try {
                        sink += naps(ms);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    done.countDown();
                };
                java.lang.reflect.Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
                for (int i = 0; i < n; i++) {
                    start.invoke(null, body);
                }
                done.await();
                return "naps=" + n;
            }
            case "exit":
                System.exit(0);
                return "";
            default:
                return "unknown";
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            System.out.println("OK " + answer(line.split(" ")));
        }
    }
}
