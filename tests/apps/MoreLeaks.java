import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.Timer;
import java.util.TimerTask;
import java.util.TreeMap;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.logging.Logger;

/**
 * Leaks of further kinds than Leaks has; each argument selects one. Each keeps some 10 MB, so that ten of them together
 * are as much as a tenth of the heap each. Prints READY; a line of input has the same words, and is answered with OK.
 */
public final class MoreLeaks {
    static class Load {
        final byte[] load = new byte[1000];
    }

    static final class Session extends Load {}

    static final class Token extends Load {}

    static final class Message extends Load {}

    static final class Job extends Load implements Runnable {
        @Override
        public void run() {}
    }

    static final class Link extends Load {
        final Link next;

        Link(Link next) {
            this.next = next;
        }
    }

    static final class Document extends Load {
        Object about;
    }

    static final class Image extends Load {}

    static final class Price extends Load {}

    static final class Step extends Load {}

    static final class Visit extends Load {}

    static final class Row extends Load {}

    static final class Closed extends Load {}

    /** Its listeners are inner objects: each keeps its window. */
    static final class Window extends Load {
        final class Resize implements Runnable {
            @Override
            public void run() {
                System.out.println(load.length);
            }
        }

        Runnable listener() {
            return new Resize();
        }
    }

    /** What a singleton keeps. */
    static final class Registry {
        static final Registry ONLY = new Registry();
        final TreeMap<String, Price> prices = new TreeMap<>();
    }

    /** Of a plug-in: its loader is kept by a driver, a hook, a timer or a logger. */
    public static final class Plugged implements Driver, Runnable {
        static final byte[] LOAD = new byte[10_000];

        @Override
        public void run() {}

        @Override
        public Connection connect(String url, Properties info) {
            return null;
        }

        @Override
        public boolean acceptsURL(String url) {
            return false;
        }

        @Override
        public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) {
            return new DriverPropertyInfo[0];
        }

        @Override
        public int getMajorVersion() {
            return LOAD.length;
        }

        @Override
        public int getMinorVersion() {
            return 0;
        }

        @Override
        public boolean jdbcCompliant() {
            return false;
        }

        @Override
        public Logger getParentLogger() {
            return null;
        }
    }

    static class PlugLoader extends ClassLoader {
        PlugLoader() {
            super(MoreLeaks.class.getClassLoader());
        }

        Object plugged() throws Exception {
            return loadClass("MoreLeaks$Plugged", false).getDeclaredConstructor().newInstance();
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("MoreLeaks$Plugged")) {
                return super.loadClass(name, resolve);
            }
            try (InputStream in = MoreLeaks.class.getResourceAsStream("MoreLeaks$Plugged.class")) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                for (int next = in.read(); next >= 0; next = in.read()) {
                    bytes.write(next);
                }
                return defineClass(name, bytes.toByteArray(), 0, bytes.size());
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static final class DriverLoader extends PlugLoader {}

    static final class HookLoader extends PlugLoader {}

    static final class TimerLoader extends PlugLoader {}

    static final class ListedLoader extends PlugLoader {}

    static final int COUNT = 10_000;
    static final Map<Integer, Session> CONCURRENT = new ConcurrentHashMap<>();
    static final Queue<Message> QUEUE = new ConcurrentLinkedQueue<>();
    static final Map<Object, Document> WEAK = new WeakHashMap<>();
    static final Map<Integer, SoftReference<Image>> SOFT = new HashMap<>();
    static final Map<Integer, Visit> LRU = new LinkedHashMap<>(16, 0.75f, true);
    static final Map<Object, Row> IDENTITY = new IdentityHashMap<>();
    static final List<Step> UNDO = new LinkedList<>();
    static final List<Runnable> WINDOWS = new ArrayList<>();
    static final List<Token> SYNCHRONIZED = Collections.synchronizedList(new ArrayList<>());
    static final ReferenceQueue<Object> GONE = new ReferenceQueue<>();
    static final List<PhantomReference<Object>> WATCHED = new ArrayList<>();
    static final List<Object> LISTED = new ArrayList<>();
    static final StringBuilder LOG = new StringBuilder();
    static Link head;
    static ExecutorService executor;

    /** Kept by the queue's references, which are not taken out. */
    static final class Watch extends PhantomReference<Object> {
        final Closed kept = new Closed();

        Watch(Object of) {
            super(of, GONE);
        }
    }

    private static void leak(String what) throws Exception {
        for (int i = 0; i < COUNT; i++) {
            switch (what) {
                case "concurrent":
                    CONCURRENT.put(i, new Session());
                    break;
                case "queue":
                    QUEUE.add(new Message());
                    break;
                case "chain":
                    head = new Link(head);
                    break;
                case "weak":
                    Document document = new Document();
                    document.about = document;
                    WEAK.put(document, document);
                    break;
                case "soft":
                    SOFT.put(i, new SoftReference<>(new Image()));
                    break;
                case "singleton":
                    Registry.ONLY.prices.put("price " + i, new Price());
                    break;
                case "lru":
                    LRU.put(i, new Visit());
                    break;
                case "identity":
                    Row row = new Row();
                    IDENTITY.put(row, row);
                    break;
                case "undo":
                    UNDO.add(new Step());
                    break;
                case "inner":
                    WINDOWS.add(new Window().listener());
                    break;
                case "synchronized":
                    SYNCHRONIZED.add(new Token());
                    break;
                case "log":
                    LOG.append("a line of the log that nobody writes and nobody reads, nor is it ever emptied; ");
                    for (int j = 0; j < 10; j++) {
                        LOG.append("and the next part of that line, which is as long as this is;");
                    }
                    break;
                default:
                    leakOnce(what);
                    return;
            }
        }
    }

    private static void leakOnce(String what) throws Exception {
        switch (what) {
            case "tasks":
                CountDownLatch never = new CountDownLatch(1);
                executor = Executors.newSingleThreadExecutor(task -> {
                    Thread thread = new Thread(task, "stuck");
                    thread.setDaemon(true);
                    return thread;
                });
                executor.execute(() -> {
                    try {
                        never.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
                for (int i = 0; i < COUNT; i++) {
                    executor.execute(new Job());
                }
                break;
            case "phantom":
                for (int i = 0; i < COUNT; i++) {
                    WATCHED.add(new Watch(new Object()));
                }
                for (int i = 0; i < COUNT; i++) {
                    while (!WATCHED.get(i).isEnqueued()) {
                        System.gc();
                        Thread.sleep(20);
                    }
                }
                WATCHED.clear();
                break;
            case "drivers":
                for (int i = 0; i < 10; i++) {
                    DriverManager.registerDriver((Driver) new DriverLoader().plugged());
                }
                break;
            case "hooks":
                for (int i = 0; i < 10; i++) {
                    Runtime.getRuntime().addShutdownHook(new Thread((Runnable) new HookLoader().plugged()));
                }
                break;
            case "timer":
                Timer timer = new Timer("reminders", true);
                for (int i = 0; i < 10; i++) {
                    Runnable plugged = (Runnable) new TimerLoader().plugged();
                    timer.schedule(new TimerTask() {
                        @Override
                        public void run() {
                            plugged.run();
                        }
                    }, Long.MAX_VALUE / 4);
                }
                break;
            case "listed":
                for (int i = 0; i < 10; i++) {
                    LISTED.add(new ListedLoader().plugged());
                }
                break;
            case "running":
                CountDownLatch started = new CountDownLatch(1);
                Thread thread = new Thread(() -> gather(started), "gatherer");
                thread.setDaemon(true);
                thread.start();
                started.await();
                break;
            default:
                throw new IllegalArgumentException(what);
        }
    }

    /** A queue that only a local variable has. */
    private static void gather(CountDownLatch started) {
        ArrayDeque<Load> gathered = new ArrayDeque<>();
        for (int i = 0; i < COUNT; i++) {
            gathered.add(new Load());
        }
        started.countDown();
        try {
            while (!gathered.isEmpty()) {
                Thread.sleep(Long.MAX_VALUE);
            }
        } catch (InterruptedException e) {
            System.out.println(gathered.size());
        }
    }

    /** In a thread that ends, so that nothing is left on a stack. */
    private static void leakAll(String[] all) throws InterruptedException {
        Thread builder = new Thread(() -> {
            for (String what : all) {
                try {
                    leak(what);
                } catch (Exception e) {
                    throw new IllegalStateException(what, e);
                }
            }
        });
        builder.start();
        builder.join();
        System.gc();
    }

    public static void main(String[] args) throws Exception {
        leakAll(args);
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            leakAll(line.split(" "));
            System.out.println("OK");
        }
    }
}
