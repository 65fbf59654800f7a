import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;

/**
 * Objects whose contents are known: three orders in a static list, each with the next one, and with strings of both
 * codings, arrays, nulls, boxes, an enum, collections and a password; nested maps in a static field and in one object;
 * a class without objects. Prints READY, and answers any line with OK.
 */
public final class Contents {
    enum Colour {
        RED,
        GREEN
    }

    static class Item {
        long weight = 1L << 40;
    }

    static final class Order extends Item {
        int id;
        String city = "K\u00f6ln";
        String river = "Wis\u0142a";
        String none;
        int[] amounts = {1, -2, 3};
        Object[] parts = {"wheel", null};
        String[][] rows = {{"a"}, {}};
        List<String> tags = new ArrayList<>(Arrays.asList("old", "blue"));
        Map<String, Object> settings = new HashMap<>();
        String password = "hunter2";
        Colour colour = Colour.GREEN;
        Integer boxed = -17;
        char letter = '\u00e4';
        double price = 1.5;
        boolean paid = true;
        StringBuilder note = new StringBuilder("\u0142\u00f3d\u017a");
        String label = new String("label of an \u00f6rder");
        String passcode;
        Order next;

        Order(int id) {
            this.id = id;
            passcode = "pin of " + id;
            settings.put("db.password", "hunter2");
        }
    }

    static final class Shelf {
        Map<String, Map<String, Integer>> nested = NESTED;
        Class<?> type = Order.class;
    }

    /** Collections by the JVM's own words. Numbers read alike in both. */
    static final class Bag {
        Collection<Integer> one, two;
        Collection<Integer> linked = new LinkedBlockingQueue<>(Arrays.asList(1, 2, 3));
        Collection<Integer> deque = new LinkedBlockingDeque<>(Arrays.asList(4, 5));
        Collection<Integer> concurrent = new ConcurrentLinkedQueue<>(Arrays.asList(6, 7));
        Collection<Integer> ring = new ArrayBlockingQueue<>(3);
        Collection<Integer> priority = new PriorityBlockingQueue<>(Arrays.asList(3, 1, 2));
        Collection<Integer> copied = new CopyOnWriteArraySet<>(Arrays.asList(8, 9));
        Collection<Integer> hashed = ConcurrentHashMap.newKeySet();
        Collection<Integer> ofMap = Collections.newSetFromMap(new TreeMap<>());
        Map<Object, Object> properties = new Properties();
        Map<Colour, Integer> enums = new EnumMap<>(Colour.class);

        Bag() throws ReflectiveOperationException {
            one = setOf(new Class<?>[] {Object.class}, 1);
            two = setOf(new Class<?>[] {Object.class, Object.class}, 1, 2);
            ring.addAll(Arrays.asList(1, 2, 3));
            ring.remove(1);
            ring.add(4);
            hashed.add(5);
            ofMap.addAll(Arrays.asList(7, 6));
            properties.put(1, 2);
            enums.put(Colour.GREEN, null);
            enums.put(Colour.RED, 1);
        }

        /** Set.of(), which JDK 8 does not have. */
        @SuppressWarnings("unchecked")
        private static Collection<Integer> setOf(Class<?>[] types, Object... elements) throws ReflectiveOperationException {
            try {
                return (Collection<Integer>) java.util.Set.class.getMethod("of", types).invoke(null, elements);
            } catch (NoSuchMethodException e) {
                return (Collection<Integer>) (Object) new ArrayList<>(Arrays.asList(elements));
            }
        }

        String inWords() throws IllegalAccessException {
            StringBuilder out = new StringBuilder();
            for (java.lang.reflect.Field each : Bag.class.getDeclaredFields()) {
                out.append(each.getName()).append('=').append(each.get(this)).append(';');
            }
            return out.toString();
        }
    }

    static Bag bag;

    /** Loaded, and without an object. */
    static final class Never {
        static int used = 1;
    }

    static final Map<String, Map<String, Integer>> NESTED = new TreeMap<>();
    static final List<Order> ORDERS = new ArrayList<>();
    static final Shelf SHELF = new Shelf();

    public static void main(String[] args) throws Exception {
        NESTED.put("inner", new TreeMap<>());
        NESTED.get("inner").put("one", 1);
        NESTED.get("inner").put("two", Never.used + 1);
        NESTED.put("outer", new HashMap<>());
        for (int i = 0; i < 3; i++) {
            ORDERS.add(new Order(7 + i));
            if (i > 0) {
                ORDERS.get(i - 1).next = ORDERS.get(i);
            }
        }
        bag = new Bag();
        System.gc();
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            System.out.println(line.equals("bag") ? "OK " + bag.inWords() : "OK");
        }
    }
}
