import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Frames with known variables in code that was compiled while it ran. Each thread stands in one of them. At "go" each
 * goes on and tells, from that very frame, what its variables are: lines "V METHOD NAME VALUE", and before that, of
 * variables that are not used any more, lines "D METHOD NAME VALUE". Compiled with -g.
 */
public class Locals {
    static volatile boolean closed, loud, gone;
    static volatile int seed = 5;
    static volatile long sink;
    static int standing;
    static final Object GATE = new Object();

    static class Point {
        int x;
        long y;
        String name;

        Point(int x, long y, String name) {
            this.x = x;
            this.y = y;
            this.name = name;
        }
    }

    static class Base {
        byte small;
        long big;
    }

    static class Derived extends Base {
        short between;
        int number;
        double real;
        boolean flag;
        Point point;
    }

    // Not inlined (CompileCommand), so that what was compiled stands at a call.
    static void stand(boolean here) {
        if (here && closed) pause();
    }

    static void pause() {
        synchronized (GATE) {
            standing++;
            GATE.notifyAll();
            while (!gone) {
                try {
                    GATE.wait();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    static synchronized void tell(String kind, String method, String name, String value) {
        System.out.println(kind + " " + method + " " + name + " " + value);
    }

    static void say(String method, String name, long value) {
        if (loud) tell("V", method, name, String.valueOf(value));
        else sink += value;
    }

    static void say(String method, String name, int value) {
        if (loud) tell("V", method, name, String.valueOf(value));
        else sink += value;
    }

    static void say(String method, String name, double value) {
        if (loud) tell("V", method, name, String.valueOf(value));
        else sink += (long) value;
    }

    static void say(String method, String name, float value) {
        if (loud) tell("V", method, name, String.valueOf(value));
        else sink += (long) value;
    }

    static void say(String method, String name, char value) {
        if (loud) tell("V", method, name, "'" + value + "'");
        else sink += value;
    }

    static void say(String method, String name, boolean value) {
        if (loud) tell("V", method, name, String.valueOf(value));
        else sink += value ? 1 : 2;
    }

    // What is printed of an object: its class; the text of a string; the length of an array.
    static void say(String method, String name, Object value) {
        if (loud) tell("V", method, name, textOf(value));
        else sink += value == null ? 1 : 2;
    }

    static String textOf(Object value) {
        if (value == null) return "null";
        if (value instanceof String) return "\"" + value + "\"";
        if (value instanceof int[]) return "int[" + ((int[]) value).length + "]";
        if (value instanceof Object[]) {
            String type = value.getClass().getComponentType().getName();
            return type + "[" + ((Object[]) value).length + "]";
        }
        return value.getClass().getName();
    }

    static void dead(String method, String name, int value) {
        if (closed) tell("D", method, name, String.valueOf(value));
        else sink += value;
    }

    static void mixed(int anInt, long aLong, double aDouble, float aFloat, byte aByte, short aShort, char aChar,
            boolean aBoolean, String text, Object object) {
        int sum = anInt + aByte;
        long product = aLong * 3;
        double half = aDouble / 2;
        float twice = aFloat * 2;
        byte less = (byte) (aByte - 1);
        short negative = (short) -aShort;
        char next = (char) (aChar + 1);
        boolean not = !aBoolean;
        int unused = anInt * 77;
        dead("mixed", "unused", unused);
        stand(true);
        say("mixed", "anInt", anInt);
        say("mixed", "aLong", aLong);
        say("mixed", "aDouble", aDouble);
        say("mixed", "aFloat", aFloat);
        say("mixed", "aByte", aByte);
        say("mixed", "aShort", aShort);
        say("mixed", "aChar", aChar);
        say("mixed", "aBoolean", aBoolean);
        say("mixed", "text", text);
        say("mixed", "object", object);
        say("mixed", "sum", sum);
        say("mixed", "product", product);
        say("mixed", "half", half);
        say("mixed", "twice", twice);
        say("mixed", "less", less);
        say("mixed", "negative", negative);
        say("mixed", "next", next);
        say("mixed", "not", not);
    }

    static void constants(int one) {
        int answer = 42;
        long far = 1L << 40;
        double real = -2.5;
        float small = 1.5f;
        char letter = 'z';
        boolean truth = true;
        byte lowest = -128;
        String text = "constant";
        Object nothing = null;
        Class<?> type = Point.class;
        stand(true);
        say("constants", "one", one);
        say("constants", "answer", answer);
        say("constants", "far", far);
        say("constants", "real", real);
        say("constants", "small", small);
        say("constants", "letter", letter);
        say("constants", "truth", truth);
        say("constants", "lowest", lowest);
        say("constants", "text", text);
        say("constants", "nothing", nothing);
        say("constants", "type", type);
    }

    static void apart(int number) {
        Point point = new Point(number + 1, number * 10L, "of " + number);
        Derived derived = new Derived();
        derived.small = (byte) number;
        derived.big = number * 1000000007L;
        derived.between = (short) (number + 3);
        derived.number = number * 11;
        derived.real = number / 8.0;
        derived.flag = number > 2;
        derived.point = point;
        int[] numbers = {number, number + 1, number + 2};
        long[] wide = {number * 3L, -number};
        Object[] things = {point, null};
        stand(true);
        say("apart", "number", number);
        say("apart", "point.x", point.x);
        say("apart", "point.y", point.y);
        say("apart", "point.name", point.name);
        say("apart", "derived.small", derived.small);
        say("apart", "derived.big", derived.big);
        say("apart", "derived.between", derived.between);
        say("apart", "derived.number", derived.number);
        say("apart", "derived.real", derived.real);
        say("apart", "derived.flag", derived.flag);
        say("apart", "derived.point.x", derived.point.x);
        say("apart", "derived.point.y", derived.point.y);
        say("apart", "numbers[0]", numbers[0]);
        say("apart", "numbers[1]", numbers[1]);
        say("apart", "numbers[2]", numbers[2]);
        say("apart", "wide[0]", wide[0]);
        say("apart", "wide[1]", wide[1]);
        say("apart", "things[1]", things[1]);
    }

    // One of two objects, by the path.
    static void merged(int number) {
        Point point = (number & 1) == 0 ? new Point(number, 1, "even") : new Point(-number, 2, "odd");
        stand(true);
        say("merged", "number", number);
        say("merged", "point.x", point.x);
        say("merged", "point.y", point.y);
    }

    static void outer(int number, String text) {
        Point point = new Point(number, number * 2L, text);
        double real = number * 0.5;
        inner(point, number + 1);
        say("outer", "number", number);
        say("outer", "text", text);
        say("outer", "real", real);
        say("outer", "point.x", point.x);
        say("outer", "point.y", point.y);
    }

    static void inner(Point given, int more) {
        long square = (long) more * more;
        stand(true);
        say("inner", "given.x", given.x);
        say("inner", "given.y", given.y);
        say("inner", "more", more);
        say("inner", "square", square);
    }

    // More than there are registers.
    static void many(int from) {
        int a = from + 1, b = from + 2, c = from + 3, d = from + 4, e = from + 5, f = from + 6, g = from + 7;
        long h = from * 8L, i = from * 9L, j = from * 10L, k = from * 11L, l = from * 12L, m = from * 13L;
        double n = from * 1.5, o = from * 2.5, p = from * 3.5;
        String q = "q" + from, r = "r" + from;
        stand(true);
        say("many", "from", from);
        say("many", "a", a);
        say("many", "b", b);
        say("many", "c", c);
        say("many", "d", d);
        say("many", "e", e);
        say("many", "f", f);
        say("many", "g", g);
        say("many", "h", h);
        say("many", "i", i);
        say("many", "j", j);
        say("many", "k", k);
        say("many", "l", l);
        say("many", "m", m);
        say("many", "n", n);
        say("many", "o", o);
        say("many", "p", p);
        say("many", "q", q);
        say("many", "r", r);
    }

    // Compiled while it runs (on-stack replacement).
    static void loop(int rounds, String text) {
        long total = 0;
        List<String> words = new ArrayList<>(Arrays.asList(text, "x"));
        for (int round = 0; round < rounds; round++) {
            total += round ^ rounds;
            stand(round == rounds - 1);
            if (loud) {
                say("loop", "round", round);
                say("loop", "total", total);
            }
        }
        say("loop", "rounds", rounds);
        say("loop", "text", text);
        say("loop", "words", words);
    }

    final int own;

    Locals(int own) {
        this.own = own;
    }

    void member(int number, int[] array, String[] texts) {
        int sum = own + number;
        stand(true);
        say("member", "this", this);
        say("member", "number", number);
        say("member", "array", array);
        say("member", "texts", texts);
        say("member", "sum", sum);
    }

    static final String[] METHODS = {"mixed", "constants", "apart", "merged", "outer", "many", "member", "loop"};

    static void call(String method, int number) {
        if (method.equals("mixed"))
            mixed(number * 100003, number * 0x123456789abL, number * -0.3, number * 1.25f, (byte) -number,
                    (short) (number * 301), (char) ('a' + number % 20), (number & 1) == 0, "text " + number,
                    Integer.valueOf(number + 5000));
        if (method.equals("constants")) constants(number);
        if (method.equals("apart")) apart(number);
        if (method.equals("merged")) merged(number);
        if (method.equals("outer")) outer(number, "outer " + number);
        if (method.equals("many")) many(number * 1001);
        if (method.equals("member")) new Locals(number).member(number + 7, new int[number % 9 + 1], new String[3]);
        if (method.equals("loop")) loop(200000, "loop " + number);
    }

    static void warm(int rounds) {
        for (int i = 0; i < rounds; i++)
            for (String method : METHODS)
                if (!method.equals("loop")) call(method, i % 50);
    }

    public static void main(String[] args) throws Exception {
        warm(Integer.parseInt(args[0]));
        closed = true;
        for (final String method : METHODS) {
            Thread thread = new Thread(() -> call(method, seed), "in " + method);
            thread.setDaemon(true);
            thread.start();
            synchronized (GATE) {
                int wanted = Arrays.asList(METHODS).indexOf(method) + 1;
                while (standing < wanted) GATE.wait();
            }
        }
        System.out.println("READY");
        System.out.flush();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            if (!line.equals("go")) continue;
            loud = true;
            synchronized (GATE) {
                gone = true;
                GATE.notifyAll();
            }
            for (Thread each : Thread.getAllStackTraces().keySet())
                if (each.getName().startsWith("in ")) each.join();
            System.out.println("OK told");
            System.out.flush();
        }
        System.exit(0);
    }
}
