import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Classes with everything that a class file may contain. "bytes NAME" answers with the class file that the class loader
 * has, in base 64; "load NAME" loads a class.
 */
public final class ClassZoo {
    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.TYPE, ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER})
    @interface Marked {
        String value() default "none";
        int[] numbers() default {1, 2};
        Class<?> type() default Object.class;
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE_USE)
    @interface Used {
    }

    interface Shape {
        double area();
        default String tell() {
            return "area " + area();
        }
    }

    interface Named<T extends Comparable<T>> {
        T name();
    }

    abstract static class Base implements Shape, Named<String> {
        static final long LONG = 0x123456789abcdefL;
        static final double DOUBLE = 2.5e300;
        static final float FLOAT = 1.5f;
        static final String TEXT = "text \u20ac \ud835\udcb3 \0";
        @Marked("field") protected transient volatile int marked;
        @Used List<@Used String> used = new ArrayList<>();

        @Override public String name() {
            return "base";
        }
        abstract <E extends Exception> void mayThrow(Class<? extends E> type) throws E, IOException;
        native int nothing(long value);
    }

    @Marked(value = "class", numbers = {}, type = Map.class)
    static class Circle extends Base {
        @Override public double area() {
            return DOUBLE;
        }
        @Override @Marked <E extends Exception> void mayThrow(@Marked("parameter") Class<? extends E> type) throws E {
            try {
                synchronized (this) {
                    marked += type.hashCode();
                }
            } catch (IllegalStateException | IllegalArgumentException e) {
                throw new IllegalStateException(e);
            } finally {
                marked--;
            }
        }
    }

    /** Its class file lacks the abstract method; the VM adds it (a miranda method). */
    abstract static class Half implements Shape {
    }

    enum Kind {
        ONE, TWO {
            @Override int weight() {
                return 22;
            }
        };
        int weight() {
            return 1;
        }
    }

    static int tables(int key) {
        switch (key) {
            case 1: return 10;
            case 2: return 20;
            case 3: return 30;
            default: break;
        }
        switch (key) {
            case -100000: return 1;
            case 7: return 2;
            case 100: return 3;
            case 5000: return 4;
            case 60000: return 5;
            case 700000: return 6;
            default: return 0;
        }
    }

    static String words(String key) {
        switch (key) {
            case "a": return "first";
            case "b": return "second";
            default: return key + tables(key.length()) + 1L;
        }
    }

    static long many(long a, double b) {
        long l00 = a, l01 = 1, l02 = 2, l03 = 3, l04 = 4, l05 = 5, l06 = 6, l07 = 7, l08 = 8, l09 = 9;
        int[][][] cube = new int[2][3][4];
        cube[1][2][3] += 5;
        int count = 0;
        for (int i = 0; i < 1000; i += 300) {
            count += i;
        }
        return l00 + l01 + l02 + l03 + l04 + l05 + l06 + l07 + l08 + l09 + (long) b + cube[1][2][3] + count;
    }

    static <T> Supplier<T> supplier(T value) {
        class Local implements Supplier<T> {
            @Override public T get() {
                return value;
            }
        }
        return new Local();
    }

    private static void use() throws Exception {
        Base circle = new Circle();
        circle.mayThrow(Exception.class);
        List<String> names = new ArrayList<>();
        names.add(circle.tell());
        names.add(words("b") + words("long") + many(2, 3));
        names.sort(Comparator.comparing((String name) -> name.length()).thenComparing(String::compareTo));
        Half half = new Half() {
            @Override public double area() {
                return Kind.ONE.weight() + Kind.TWO.weight();
            }
        };
        Runnable task = () -> names.add(half.tell() + supplier(Kind.ONE).get());
        task.run();
        Object array = new Object[] {int.class, Marked.class, 'c', (byte) 1, (short) -3};
        if (!(array instanceof Object[]) || names.isEmpty()) {
            throw new IllegalStateException(Base.TEXT + Base.LONG + Base.FLOAT);
        }
        if (Circle.class.getAnnotation(Marked.class).type() != Map.class) {
            throw new IllegalStateException("annotations");
        }
    }

    private static String bytes(String name) throws Exception {
        try (InputStream in = ClassZoo.class.getResourceAsStream("/" + name.replace('.', '/') + ".class")) {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            byte[] some = new byte[8192];
            for (int count; (count = in.read(some)) > 0;) {
                all.write(some, 0, count);
            }
            return Base64.getEncoder().encodeToString(all.toByteArray());
        }
    }

    public static void main(String[] args) throws Exception {
        use();
        bytes("ClassZoo");
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null && !line.equals("quit");) {
            try {
                String name = line.substring(line.indexOf(' ') + 1);
                System.out.println("OK " + (line.startsWith("load") ? Class.forName(name).getName() : bytes(name)));
            } catch (Exception e) {
                System.out.println("ERR " + e);
            }
        }
    }
}
