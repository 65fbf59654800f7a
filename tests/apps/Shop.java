import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A small shop, for the demo and the picture of the report page: customers put orders into a queue, clerks take them
 * out, and all clerks need the one stock, which an auditor sometimes locks for long.
 *
 * <p>It prints READY and works until its input ends. Java 8.
 */
public final class Shop {
    static final class Order {
        final int number;
        final List<String> items = new ArrayList<>();

        Order(int number) {
            this.number = number;
            for (int i = 0; i <= number % 5; i++) {
                items.add("item-" + (number + i * 7) % 40);
            }
        }
    }

    /** One lock for the whole stock: the clerks wait for it. */
    static final class Stock {
        private final Map<String, Integer> counts = new HashMap<>();

        synchronized boolean reserve(Order order) throws InterruptedException {
            for (String item : order.items) {
                counts.merge(item, 1, Integer::sum);
            }
            Thread.sleep(4);
            return counts.size() > 0;
        }

        synchronized int audit() throws InterruptedException {
            Thread.sleep(180);
            int sum = 0;
            for (int count : counts.values()) {
                sum += count;
            }
            return sum;
        }
    }

    /** Uses processor time. */
    static final class Prices {
        double total(Order order) {
            double total = 0;
            for (String item : order.items) {
                total += discount(item.hashCode() % 100 + 1);
            }
            return total;
        }

        private double discount(int price) {
            double value = price;
            for (int i = 0; i < 40_000; i++) {
                value = Math.sqrt(value * value + i % 3);
            }
            return value;
        }
    }

    /** Allocates garbage. */
    static final class Receipts {
        private final List<byte[]> last = new ArrayList<>();

        synchronized String print(Order order, double total) {
            StringBuilder text = new StringBuilder();
            for (String item : order.items) {
                text.append(item).append('\n');
            }
            last.add(new byte[400 * 1024]);
            if (last.size() > 30) {
                last.clear();
            }
            return text.append(total).toString();
        }
    }

    private final BlockingQueue<Order> orders = new LinkedBlockingQueue<>(32);
    private final Stock stock = new Stock();
    private final Prices prices = new Prices();
    private final Receipts receipts = new Receipts();

    private void customer(int first) throws InterruptedException {
        for (int number = first;; number += 2) {
            orders.put(new Order(number));
            Thread.sleep(number % 200 < 100 ? 9 : 22);
        }
    }

    private void clerk() throws InterruptedException {
        while (true) {
            serve(orders.take());
        }
    }

    private void serve(Order order) throws InterruptedException {
        if (stock.reserve(order)) {
            receipts.print(order, prices.total(order));
        }
    }

    private void auditor() throws InterruptedException {
        while (true) {
            Thread.sleep(900);
            stock.audit();
        }
    }

    private interface Work {
        void run() throws InterruptedException;
    }

    private static void start(String name, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws Exception {
        Shop shop = new Shop();
        for (int i = 1; i <= 5; i++) {
            start("clerk-" + i, shop::clerk);
        }
        start("customer-1", () -> shop.customer(1));
        start("customer-2", () -> shop.customer(2));
        start("auditor", shop::auditor);
        System.out.println("READY");
        while (System.in.read() >= 0) {
            continue;
        }
    }
}
