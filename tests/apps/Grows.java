import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Grows: a map that gets an entry every few ms for ever, a list that is emptied whenever it is full, and a large cache
 * that stays as it is.
 *
 * <p>Commands: "count": how many entries the map has got.
 */
public final class Grows {
    private static final Map<String, Order> OPEN = new ConcurrentHashMap<>();
    private static final List<byte[]> RECENT = new ArrayList<>();
    private static final Map<Integer, byte[]> CACHE = new HashMap<>();
    private static final AtomicInteger PUT = new AtomicInteger();

    private Grows() {
    }

    static final class Order {
        final byte[] lines = new byte[1000];
    }

    private static void fill() {
        try {
            while (true) {
                Thread.sleep(5);
                OPEN.put("order " + PUT.get(), new Order());
                PUT.incrementAndGet();
                RECENT.add(new byte[1000]);
                if (RECENT.size() > 200) {
                    RECENT.clear();
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 8000; i++) {
            CACHE.put(i, new byte[1000]);
        }
        for (int i = 0; i < 200; i++) {
            OPEN.put("first " + i, new Order());
            PUT.incrementAndGet();
        }
        Thread filler = new Thread(Grows::fill, "filler");
        filler.setDaemon(true);
        filler.start();
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println("OK " + PUT.get());
        }
    }
}
