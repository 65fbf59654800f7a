import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * A till whose sales are known: the program for docs/sql.md, which names its lines, and its tests. Each line is a command "sell N", answered
 * when all is done; "exit" ends it. Of N sales, numbered from 0:
 *
 * <ul>
 *   <li>each calls sell(number, customer), charge(customer, cents), price(text), receipt(number); the clerks "clerk-1"
 *       and "clerk-2" sell by turns;
 *   <li>where number % 10 is 7, charge() sleeps 60 ms for the customer "slowpoke";
 *   <li>where number % 4 is 1, price() throws a NumberFormatException of its own, which sell() swallows;
 *   <li>where number % 20 is 3, receipt() throws an IllegalStateException, which sell() wraps, and the clerk swallows;
 *   <li>each of the other sales has receipt() make one byte[] of 10,000 bytes;
 *   <li>after them the thread "auditor" keeps the drawer's lock for 80 ms, from when a clerk waits for it, and the program asks
 *       for a collection.
 * </ul>
 */
public final class Till {
    static final class Drawer {
        int cents;

        synchronized void put(int more) {
            cents += more;
        }

        synchronized void count() throws InterruptedException {
            for (counting = true; clerk == null || clerk.getState() != Thread.State.BLOCKED; Thread.yield()) { } Thread.sleep(80);
        }
    }

    static final Drawer DRAWER = new Drawer();
    static volatile byte[] last;
    static int bad;

    static int price(String text) {
        if (text.endsWith("?")) {
            throw new NumberFormatException("no price: " + text); // at noPrice
        }
        return Integer.parseInt(text);
    }

    static void charge(String customer, int cents) throws InterruptedException {
        if (customer.equals("slowpoke")) {
            Thread.sleep(60);
        }
        DRAWER.put(cents);
    }

    static void receipt(int number) {
        if (number % 20 == 3) {
            throw new IllegalStateException("no paper"); // at noPaper
        }
        last = new byte[10_000];
    }

    static void sell(int number, String customer) throws InterruptedException {
        int cents = 100;
        try {
            cents = price(number % 4 == 1 ? number + "?" : "" + number);
        } catch (NumberFormatException e) { // at swallowed
            bad++;
        }
        charge(customer, cents);
        try {
            receipt(number);
        } catch (IllegalStateException e) { // at wrapped
            throw new RuntimeException("sale " + number, e); // at wrapper
        }
    }

    static void serve(int number) throws InterruptedException {
        try {
            sell(number, number % 10 == 7 ? "slowpoke" : "customer-" + number % 5);
        } catch (RuntimeException e) { // at served
            bad++;
        }
    }

    interface Work {
        void run() throws InterruptedException;
    }

    static Thread start(String name, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, name);
        thread.start();
        return thread;
    }

    static void sellAll(int count) throws InterruptedException {
        for (int clerk = 0; clerk < 2; clerk++) {
            int first = clerk;
            start("clerk-" + (clerk + 1), () -> {
                for (int number = first; number < count; number += 2) {
                    serve(number);
                }
            }).join();
        }
        Thread auditor = start("auditor", DRAWER::count);
        while (!counting) {
            Thread.sleep(1);
        }
        clerk = start("clerk-1", () -> DRAWER.put(1));
        clerk.join();
        auditor.join();
        counting = false;
        System.gc();
    }

    static volatile boolean counting;
    static volatile Thread clerk;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        for (String line = in.readLine(); line != null && !line.equals("exit"); line = in.readLine()) {
            sellAll(Integer.parseInt(line.split(" ")[1]));
            System.out.println("OK done");
        }
    }
}
