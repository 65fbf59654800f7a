import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that are always inside frames of classes with very many methods, and quickly fill a chunk of records. If
 * these classes are redefined repeatedly, the frames belong to obsolete methods, whose ids the JVM creates when they
 * are asked for. "rounds" answers with the number of rounds, "quit" ends the program.
 */
public final class Redefined {
    private static final int CLASSES = 12;
    private static final int METHODS = 1000; // the JVM has 65,534 method ids for a class and all its versions
    private static final AtomicLong ROUNDS = new AtomicLong();

    /** A class "Wide": its run(Runnable) calls the argument; m0 to m999 do nothing. */
    private static byte[] wide(String name) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        String[] names = {name, "java/lang/Object", "java/lang/Runnable", "run", "()V", "(Ljava/lang/Runnable;)V", "Code"};
        int fixed = names.length + 3 + 2; // texts, classes, the callee
        out.writeInt(0xcafebabe);
        out.writeInt(50);
        out.writeShort(1 + fixed + METHODS);
        for (String each : names) {
            out.writeByte(1);
            out.writeUTF(each);
        }
        for (int i = 1; i <= 3; i++) { // 8, 9, 10
            out.writeByte(7);
            out.writeShort(i);
        }
        out.writeByte(12); // 11: run()V
        out.writeShort(4);
        out.writeShort(5);
        out.writeByte(11); // 12: Runnable.run
        out.writeShort(10);
        out.writeShort(11);
        for (int i = 0; i < METHODS; i++) {
            out.writeByte(1);
            out.writeUTF("m" + i);
        }
        out.writeShort(0x21);
        out.writeShort(8);
        out.writeShort(9);
        out.writeInt(0);
        out.writeShort(1 + METHODS);
        method(out, 4, 6, 1, new byte[] {0x2a, (byte) 0xb9, 0, 12, 1, 0, (byte) 0xb1});
        for (int i = 0; i < METHODS; i++) {
            method(out, 13 + i, 5, 0, new byte[] {(byte) 0xb1});
        }
        out.writeShort(0);
        return bytes.toByteArray();
    }

    private static void method(DataOutputStream out, int name, int type, int words, byte[] code) throws IOException {
        method(out, name, type, words, code, 7);
    }

    private static void method(DataOutputStream out, int name, int type, int words, byte[] code, int attribute)
            throws IOException {
        out.writeShort(9);
        out.writeShort(name);
        out.writeShort(type);
        out.writeShort(1);
        out.writeShort(attribute);
        out.writeInt(12 + code.length);
        out.writeShort(words);
        out.writeShort(words);
        out.writeInt(code.length);
        out.write(code);
        out.writeInt(0);
    }

    /** A class "Large" with one method and so many constants that the JVM can redefine it only a few times. */
    private static byte[] large() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        String[] names = {"Large", "java/lang/Object", "call", "()V", "Code"};
        out.writeInt(0xcafebabe);
        out.writeInt(50);
        out.writeShort(1 + names.length + 2 + 22_000);
        for (String each : names) {
            out.writeByte(1);
            out.writeUTF(each);
        }
        for (int i = 1; i <= 2; i++) { // 6, 7
            out.writeByte(7);
            out.writeShort(i);
        }
        for (int i = 0; i < 22_000; i++) {
            out.writeByte(3);
            out.writeInt(i);
        }
        out.writeShort(0x21);
        out.writeShort(6);
        out.writeShort(7);
        out.writeInt(0);
        out.writeShort(1);
        method(out, 3, 4, 0, new byte[] {(byte) 0xb1}, 5);
        out.writeShort(0);
        return bytes.toByteArray();
    }

    private static final class Loader extends ClassLoader {
        Class<?> make(String name, byte[] bytes) {
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    /** An exception leaves the constructor before super() has returned; this is why the agent reads stacks. */
    static class Base {
        Base(int x) { }
    }

    static final class Left extends Base {
        Left(int x) {
            super(checked(x));
        }

        static int checked(int x) {
            if (x % 3 == 0) {
                throw new IllegalArgumentException();
            }
            return x;
        }
    }

    private static int deep(int levels, int x) {
        return levels == 0 ? step(x) : deep(levels - 1, x) + 1;
    }

    private static int step(int x) {
        return x + 1;
    }

    private static final class Work implements Runnable {
        @Override
        public void run() {
            long end = System.nanoTime() + 1_500_000_000L;
            for (int i = 0; System.nanoTime() < end; i++) {
                deep(30, i);
                try {
                    new Left(i);
                } catch (IllegalArgumentException expected) {
                    step(i);
                }
                for (int k = 0; k < 300; k++) {
                    step(k);
                }
                ROUNDS.incrementAndGet();
            }
        }
    }

    /** Calls the next class; the last one does the work. */
    private static final class Next implements Runnable {
        private final Method[] chain;
        private final int at;

        Next(Method[] chain, int at) {
            this.chain = chain;
            this.at = at;
        }

        @Override
        public void run() {
            try {
                chain[at].invoke(null, at + 1 < chain.length ? new Next(chain, at + 1) : new Work());
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        final Method[] chain = new Method[CLASSES];
        for (int i = 0; i < CLASSES; i++) {
            chain[i] = new Loader().make("Wide" + i, wide("Wide" + i)).getMethod("run", Runnable.class);
        }
        Method large = new Loader().make("Large", large()).getMethod("call");
        large.invoke(null);
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread("busy-" + i) {
                @Override
                public void run() {
                    for (;;) {
                        new Next(chain, 0).run();
                    }
                }
            };
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null && !line.equals("quit");) {
            large.invoke(null);
            System.out.println(line.equals("rounds") ? "OK " + ROUNDS.get() : "ERR unknown");
        }
    }
}
