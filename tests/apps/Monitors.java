import java.util.ArrayList;
import java.util.List;

/** What a thread keeps through an object that it has locked, and objects whose monitors nobody uses any more. */
public final class Monitors {
    private static final int ROWS = 200;

    static final class Dropped {
        final byte[] bytes = new byte[4000];
    }

    static final class Job {
        final List<byte[]> rows = new ArrayList<>();

        synchronized void work(Runnable ready) {
            for (int i = 0; i < ROWS; i++) {
                rows.add(new byte[50_000]);
            }
            ready.run();
            while (rows.size() == ROWS) {
                try {
                    Thread.sleep(1000);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }
    }

    static void drop() throws InterruptedException {
        Dropped dropped = new Dropped();
        synchronized (dropped) {
            dropped.wait(1); // makes a monitor of its own
        }
    }

    public static void main(String[] args) throws Exception {
        Thread dropper = new Thread(() -> {
            try {
                for (int i = 0; i < 100; i++) {
                    drop();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        dropper.start();
        dropper.join();
        java.util.concurrent.CountDownLatch ready = new java.util.concurrent.CountDownLatch(1);
        Thread worker = new Thread(() -> new Job().work(ready::countDown), "keeper");
        worker.setDaemon(true);
        worker.start();
        ready.await();
        System.out.println("READY");
        while (System.in.read() >= 0) {
        }
    }
}
