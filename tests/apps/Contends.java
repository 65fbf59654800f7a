import java.util.Scanner;

/**
 * A program that knows its contentions: "short N" (N waits of "contender" for the monitor of a Contends$Brief, as short
 * as they can be), "long N" (for that of a Contends$Lasting, 20 ms each), "open" (one for that of a Contends$Kept, which
 * lasts until "close"), "block MS" (Contends.blocks waits for a Contends$Door so long, and then passes another one at
 * once), "enter MS" (Contends.enters calls Contends$Door.pass, which waits so long), "quit". The holder is "main", and
 * has nothing else in it.
 */
public class Contends {
    static final class Brief { }
    static final class Lasting { }
    static final class Kept { }
    static final class Door {
        int passed;

        synchronized void pass() {
            passed++;
        }
    }

    static void blocks(Door held, Door free) {
        synchronized (held) {
            held.passed++;
        }
        free.pass();
    }

    static void enters(Door held) {
        held.pass();
    }

    /** Compiles what "passer" runs, and holds the door for it. */
    private static void hold(int ms, boolean blocks) throws InterruptedException {
        final Door held = new Door(), free = new Door();
        for (int i = 0; i < 20_000; i++) {
            blocks(free, free);
            enters(free);
        }
        Thread passer = new Thread(() -> {
            if (blocks) blocks(held, free);
            else enters(held);
        }, "passer");
        synchronized (held) {
            passer.start();
            while (passer.getState() != Thread.State.BLOCKED) Thread.yield();
            Thread.sleep(ms);
        }
        passer.join();
    }

    private static Thread start(Object lock) {
        Thread contender = new Thread(() -> {
            synchronized (lock) {
                return;
            }
        }, "contender");
        contender.start();
        while (contender.getState() != Thread.State.BLOCKED) Thread.yield();
        return contender;
    }

    private static void contend(Object lock, long ms, int times) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            Thread contender;
            synchronized (lock) {
                contender = start(lock);
                if (ms > 0) Thread.sleep(ms);
            }
            contender.join();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        final Object kept = new Kept();
        Thread open = null;
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            String[] words = in.nextLine().split(" ");
            switch (words[0]) {
                case "short": contend(new Brief(), 0, Integer.parseInt(words[1])); break;
                case "long": contend(new Lasting(), 20, Integer.parseInt(words[1])); break;
                case "block": hold(Integer.parseInt(words[1]), true); break;
                case "enter": hold(Integer.parseInt(words[1]), false); break;
                case "open":
                    synchronized (kept) {
                        open = start(kept);
                        System.out.println("OK open");
                        in.nextLine();
                    }
                    open.join();
                    break;
                default: return;
            }
            System.out.println("OK " + words[0]);
        }
    }
}
