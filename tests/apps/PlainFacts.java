import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * States that are easy to misread: classes that are being initialised while others wait, a virtual thread that cannot
 * leave its carrier, fields whose names look like secrets, code that is compiled late.
 *
 * <p>"initialise": one thread initialises a class and does not end, another waits for it. "cycle": two threads wait for
 * each other's class, "virtual-cycle": two virtual ones. "pinned": a virtual thread parks in a static initialiser. "spin": a thread spins. "late": much
 * code is compiled, then a thread named late spins and one named late-park parks.
 */
public final class PlainFacts {
    static volatile boolean go;
    static volatile long spun;
    static final CountDownLatch BOTH = new CountDownLatch(2);

    static final class Account {
        String key = "apple";
        String password = "hunter2";
        char[] passwordChars = "hunter2".toCharArray();
        String apiKey = "hunter2";
        Object accessToken = "hunter2";
        int tokenCount = 3;
        boolean secret = true;
        List<String> keys = new ArrayList<>(Collections.singletonList("pear"));
        String passwordFile = "/etc/plum";
    }

    static final Account ACCOUNT = new Account();
    static final Map<String, Object> CONFIG = new HashMap<>();
    static final Map<String, Object> SKIPS = new ConcurrentHashMap<>();
    static final String PASSWORD = "hunter2";
    static final int KEY_LENGTH = 128;

    static {
        CONFIG.put("db.password", "hunter2");
        CONFIG.put("colour", "blue");
        CONFIG.put("token.limit", 17);
        SKIPS.put("api.key", "hunter2");
    }

    static final class Slow {
        static {
            hold();
        }

        static void touch() {
            spun++;
        }
    }

    static final class Left {
        static {
            meet();
            Right.touch();
        }

        static void touch() {
            spun++;
        }
    }

    static final class Right {
        static {
            meet();
            Left.touch();
        }

        static void touch() {
            spun++;
        }
    }

    static final class SlowVirtual {
        static {
            hold();
        }

        static void touch() {
            spun++;
        }
    }

    static void hold() {
        while (!go) {
            LockSupport.park();
        }
    }

    private static void meet() {
        BOTH.countDown();
        try {
            BOTH.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void await(Thread thread, Thread.State state) throws InterruptedException {
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
    }

    private static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static String initialise() throws Exception {
        await(start("initialiser", Slow::touch), Thread.State.WAITING);
        start("waiter", Slow::touch);
        return "";
    }

    private static Thread startVirtual(String name, Runnable body) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
        Object named = type.getMethod("name", String.class).invoke(builder, name);
        return (Thread) type.getMethod("start", Runnable.class).invoke(named, body);
    }

    private static String pinned() throws Exception {
        await(startVirtual("pinned", SlowVirtual::touch), Thread.State.WAITING);
        return "";
    }

    /** Code of the class library that has not run yet. */
    private static void compileMuch() {
        Map<String, List<Integer>> groups = IntStream.range(0, 200).boxed()
            .collect(Collectors.groupingBy(i -> String.format(Locale.ROOT, "%x/%08.3f", i % 7, i / 3.0), TreeMap::new,
                Collectors.toList()));
        Map<String, Integer> skips = new ConcurrentSkipListMap<>();
        for (String name : groups.keySet()) {
            skips.put(Pattern.compile("(\\d+)[./](?:a|b+)?").matcher(name).replaceAll("<$1>"), name.length());
        }
        BigDecimal sum = new BigDecimal(BigInteger.valueOf(3).pow(200)).divide(new BigDecimal("7.1"), 50, 4);
        spun += sum.toEngineeringString().length() + skips.size() + groups.size();
    }

    private static void lateSpin() {
        while (!go) {
            spun += lateStep(spun);
        }
    }

    private static long lateStep(long value) {
        return (value & 7) + 1;
    }

    private static void latePark() {
        while (!go) {
            LockSupport.parkNanos(20_000_000);
        }
    }

    private static String late() {
        compileMuch();
        start("late", PlainFacts::lateSpin);
        start("late-park", PlainFacts::latePark);
        return "";
    }

    static String answer(String[] words) throws Exception {
        switch (words[0]) {
            case "initialise": return initialise();
            case "cycle":
                start("init-left", Left::touch);
                start("init-right", Right::touch);
                return "";
            case "virtual-cycle":
                startVirtual("init-left", Left::touch);
                startVirtual("init-right", Right::touch);
                return "";
            case "pinned": return pinned();
            case "late": return late();
            case "spin": start("spinner", PlainFacts::lateSpin); return "";
            default: return "ERR unknown command " + words[0];
        }
    }

    public static void main(String[] args) throws Exception {
        await(start("parked", PlainFacts::hold), Thread.State.WAITING);
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null && !line.equals("quit");) {
            String answer;
            try {
                answer = answer(line.trim().split(" +"));
            } catch (Exception e) {
                answer = "ERR " + e;
            }
            System.out.println(answer.startsWith("ERR ") ? answer : "OK " + answer);
        }
    }
}
