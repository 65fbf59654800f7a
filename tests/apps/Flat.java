import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.WeakHashMap;

/**
 * A heap without long chains, for tools whose time grows with the depth: orders with items in maps of several kinds,
 * shared strings and items, cycles, references of several strengths, thread-locals. Flat N: N orders, about 24 objects
 * each. Prints READY, and ends with the input.
 */
public final class Flat {
    static final class Item {
        final String name;
        final Integer amount;
        Order of;
        Item other;

        Item(int i, Order of) {
            name = "item " + i % 5000;
            amount = 1000 + i;
            this.of = of;
        }
    }

    static final class Order {
        final String id;
        final List<Item> items = new ArrayList<>();
        final Map<String, Object> notes = new HashMap<>();
        final byte[] picture;
        Object shared;

        Order(int i) {
            id = "order " + i;
            picture = new byte[i % 64];
            for (int j = 0; j < 3; j++) {
                Item item = new Item(i * 3 + j, this);
                items.add(item);
            }
            items.get(0).other = items.get(1);
            items.get(1).other = items.get(0);
            notes.put("note", new int[i % 10]);
        }
    }

    static final Map<Integer, Order> BY_NUMBER = new HashMap<>();
    static final Map<String, Order> BY_NAME = new TreeMap<>();
    static final Map<Order, Object> IDENTITY = new IdentityHashMap<>();
    static final Map<Object, Object> WEAK = new WeakHashMap<>();
    static final Map<Integer, Item> RECENT = new LinkedHashMap<>();
    static final List<Object> REFERENCES = new ArrayList<>();
    static final ThreadLocal<List<Order>> MINE = new ThreadLocal<>();

    private static void make(int count) {
        Object common = new Object[] {"common", new long[100]};
        for (int i = 0; i < count; i++) {
            Order order = new Order(i);
            if (i % 3 == 0) {
                order.shared = common;
            }
            BY_NUMBER.put(i, order);
            if (i % 4 == 0) {
                BY_NAME.put(order.id, order);
            }
            if (i % 8 == 0) {
                IDENTITY.put(order, order.items);
            }
            if (i % 16 == 0) {
                WEAK.put(order, "weak");
                REFERENCES.add(new SoftReference<>(new byte[100]));
                REFERENCES.add(new WeakReference<>(order));
            }
            if (i < 100) {
                RECENT.put(i, order.items.get(0));
            }
        }
    }

    private static void sleepWith(int number) {
        Thread thread = new Thread(() -> {
            List<Order> own = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                own.add(new Order(1_000_000 + i));
            }
            MINE.set(own);
            own = null;
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "holder-" + number);
        thread.setDaemon(true);
        thread.start();
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.yield();
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        Thread maker = new Thread(() -> make(count));
        maker.start();
        maker.join();
        for (int i = 0; i < 5; i++) {
            sleepWith(i);
        }
        System.gc();
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            System.out.println("OK");
        }
    }
}
