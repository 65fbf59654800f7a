import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;

/**
 * Classes that are loaded at the start and linked on request, at their first use. Failure0 to Failure7 are loaded
 * because catch clauses name them; "load" makes a loader of the program's own load Own without linking it. Commands:
 * "fail K N" makes N instances of FailureK, "race K T N" starts T threads at once that make N instances each, "load",
 * "own N", "exit".
 */
public final class LateLinks {
    static class Failure extends RuntimeException {
        Failure() {
            super("as asked");
        }
    }

    static final class Failure0 extends Failure {
    }

    static final class Failure1 extends Failure {
    }

    static final class Failure2 extends Failure {
    }

    static final class Failure3 extends Failure {
    }

    static final class Failure4 extends Failure {
    }

    static final class Failure5 extends Failure {
    }

    static final class Failure6 extends Failure {
    }

    static final class Failure7 extends Failure {
    }

    /** Has a default method, and an initializer whose first bytecode counts. */
    public static final class Own implements Runnable {
        static int made = first();

        static int first() {
            return 0;
        }

        @Override
        public void run() {
            made++;
        }
    }

    /** Defines Own itself instead of asking its parent. */
    static final class Loader extends ClassLoader {
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("LateLinks$Own")) {
                return super.loadClass(name, resolve);
            }
            try (InputStream in = LateLinks.class.getResourceAsStream("LateLinks$Own.class")) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                for (int each = in.read(); each >= 0; each = in.read()) {
                    bytes.write(each);
                }
                return defineClass(name, bytes.toByteArray(), 0, bytes.size());
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static void make(int kind) {
        switch (kind) {
            case 0: throw new Failure0();
            case 1: throw new Failure1();
            case 2: throw new Failure2();
            case 3: throw new Failure3();
            case 4: throw new Failure4();
            case 5: throw new Failure5();
            case 6: throw new Failure6();
            default: throw new Failure7();
        }
    }

    static int caught(int kind) {
        try {
            make(kind);
            return -1;
        } catch (Failure0 e) {
            return 0;
        } catch (Failure1 e) {
            return 1;
        } catch (Failure2 e) {
            return 2;
        } catch (Failure3 e) {
            return 3;
        } catch (Failure4 e) {
            return 4;
        } catch (Failure5 e) {
            return 5;
        } catch (Failure6 e) {
            return 6;
        } catch (Failure7 e) {
            return 7;
        }
    }

    static void fail(int kind, int times) {
        for (int i = 0; i < times; i++) {
            caught(kind);
        }
    }

    static void race(final int kind, int count, final int times) throws InterruptedException {
        final CountDownLatch start = new CountDownLatch(1);
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] = new Thread() {
                @Override
                public void run() {
                    try {
                        start.await();
                    } catch (InterruptedException e) {
                        return;
                    }
                    LateLinks.fail(kind, times);
                }
            };
            threads[i].start();
        }
        start.countDown();
        for (Thread each : threads) {
            each.join();
        }
    }

    private static Class<?> own;

    private static void answer(String[] words) throws Exception {
        switch (words[0]) {
            case "fail": fail(Integer.parseInt(words[1]), Integer.parseInt(words[2])); break;
            case "race":
                race(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]));
                break;
            case "load": own = Class.forName("LateLinks$Own", false, new Loader()); break;
            case "own":
                for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                    ((Runnable) own.getConstructor().newInstance()).run();
                }
                break;
            default: throw new IllegalArgumentException(words[0]);
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        for (String line = in.readLine(); line != null && !line.equals("exit"); line = in.readLine()) {
            try {
                answer(line.split(" "));
                System.out.println("OK " + line);
            } catch (Exception e) {
                System.out.println("ERR " + e);
            }
        }
    }
}
