import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A program that stands still in known frames with known variables, for a debugger to look at. It says READY when
 * every thread is where it belongs, and ends at the end of its standard input. Compiled with -g.
 */
public class Debuggee {
    interface Shape {
        double area();
    }

    enum Colour { RED, GREEN, BLUE }

    static class Point implements Shape {
        static int made = 3;
        static final String KIND = "point";
        static long total = 0x123456789abcdefL;
        final int x;
        final long y;
        final double weight;
        final float ratio;
        final short small;
        final byte tiny;
        final char letter;
        final boolean flag;
        String name;
        Point next;
        final int[] numbers = {1, -2, 3};
        final long[][] grid = {{1L << 40, 2}, {3}};
        final Object[] things = {"text", null, 7, Colour.GREEN};

        Point(int x, long y, String name) {
            this.x = x;
            this.y = y;
            this.name = name;
            weight = 2.5;
            ratio = -1.25f;
            small = -300;
            tiny = -5;
            letter = '\u00e9';
            flag = true;
        }

        public double area() {
            return x * (double) y;
        }

        void stand(int depth, long big, Object lock) throws InterruptedException {
            int anInt = -42;
            long aLong = 0x7123456789abcdefL;
            double aDouble = -0.1;
            float aFloat = 3.5f;
            byte aByte = -128;
            short aShort = 32767;
            char aChar = '\u20ac';
            boolean aBoolean = true;
            String text = "gr\u00fc\u00df dich \ud83d\ude00";
            int[] ints = {10, 20, 30};
            String[] words = {"one", null, "three"};
            Object nothing = null;
            List<Integer> list = new ArrayList<>(Arrays.asList(1, 2, 3));
            Map<String, Integer> map = new LinkedHashMap<>();
            map.put("a", 1);
            map.put("b", 2);
            Colour colour = Colour.BLUE;
            AtomicInteger atomic = new AtomicInteger(99);
            StringBuilder builder = new StringBuilder("half").append(2);
            Class<?> type = Point.class;
            Point self = this;
            char none = '\0';
            char[] many = new char[300];
            Arrays.fill(many, 'y');
            String odd = "a\tb\"c\\\1", wide = new String(many);
            if (depth > 0) {
                stand(depth - 1, big + 1, lock);
                return;
            }
            synchronized (lock) {
                synchronized (this) {
                    waitForEnd();
                }
            }
            // Used after the wait, so that no variable is dead there.
            System.out.println(anInt + aLong + aDouble + aFloat + aByte + aShort + aChar + (aBoolean ? 1 : 0) + text
                    + ints.length + words.length + nothing + list + map + colour + atomic + builder + type + self + none + odd + wide);
        }
    }

    static final Object END = new Object();
    static final List<Point> points = Collections.synchronizedList(new ArrayList<>());
    static final HashMap<String, Point> byName = new HashMap<>();
    static volatile boolean ended;

    static void waitForEnd() throws InterruptedException {
        synchronized (END) {
            while (!ended) END.wait();
        }
    }

    static void contend(Object lock) {
        synchronized (lock) {
            System.out.println("entered");
        }
    }

    public static void main(String[] args) throws Exception {
        final Object lock = new Object();
        final Point point = new Point(5, 1L << 33, "first");
        point.next = new Point(6, -7, "second");
        points.add(point);
        points.add(point.next);
        byName.put(point.name, point);
        Thread stander = new Thread(() -> {
            try {
                point.stand(2, 100, lock);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, "stander");
        stander.setDaemon(true);
        stander.start();
        awaitState(stander, Thread.State.WAITING);
        Thread contender = new Thread(() -> contend(lock), "contender");
        contender.setDaemon(true);
        contender.start();
        awaitState(contender, Thread.State.BLOCKED);
        Runnable sleep = () -> {
            try {
                Thread.sleep(1_000_000_000L);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        };
        ThreadGroup group = new ThreadGroup("sleepers");
        Thread sleeper = new Thread(group, sleep, "sleeper");
        sleeper.setDaemon(true);
        sleeper.start();
        awaitState(sleeper, Thread.State.TIMED_WAITING);
        System.out.println("READY");
        System.out.flush();
        while (System.in.read() >= 0) {
            // Until whoever started this closes it.
        }
        System.exit(0);
    }

    static void awaitState(Thread thread, Thread.State state) throws InterruptedException {
        while (thread.getState() != state) Thread.sleep(5);
    }
}
