import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;

/** Holds THREADS threads, each DEPTH frames deep: a long thread dump. Arguments: THREADS DEPTH. Ends with its input. */
public final class DeepThreads {
    private static CountDownLatch standing;

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        final int depth = Integer.parseInt(args[1]);
        standing = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> descend(depth), "deep-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        standing.await();
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null && !line.equals("quit");) {
            System.out.println("OK " + line);
        }
    }

    private static void descend(int depth) {
        if (depth > 0) {
            descend(depth - 1);
            return;
        }
        standing.countDown();
        for (;;) {
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                return;
            }
        }
    }
}
