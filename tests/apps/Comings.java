import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Threads that start and end on command. "come N" answers when N threads run. "go" answers when they have ended and the
 * memory that the JVM had for them is filled with known numbers. "changed" answers with how many of these numbers have
 * changed since. "quit" ends the program.
 */
public final class Comings {
    private static final int BLOCK = 256;
    private static final int BLOCKS = 8000;
    private static final long MARK = 0x1111111111111111L;
    private static final List<ByteBuffer> MEMORY = new ArrayList<>();

    private Comings() {
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Allocates from the same malloc arena as the JVM's threads, because the same thread allocates. */
    private static void fill() {
        for (int i = 0; i < BLOCKS; i++) {
            ByteBuffer block = ByteBuffer.allocateDirect(BLOCK);
            for (int at = 0; at < BLOCK; at += 8) block.putLong(at, MARK);
            MEMORY.add(block);
        }
    }

    private static int changed() {
        int count = 0;
        for (ByteBuffer block : MEMORY) {
            for (int at = 0; at < BLOCK; at += 8) if (block.getLong(at) != MARK) ++count;
        }
        return count;
    }

    /** The commands are described above. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        List<Thread> threads = new ArrayList<>();
        CountDownLatch end = new CountDownLatch(1);
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            if (line.startsWith("come ")) {
                int count = Integer.parseInt(line.substring(5));
                CountDownLatch there = new CountDownLatch(count);
                CountDownLatch leave = new CountDownLatch(1);
                for (int i = 0; i < count; i++) {
                    Thread thread = new Thread(() -> {
                        there.countDown();
                        await(leave);
                    }, "comes-" + i);
                    thread.start();
                    threads.add(thread);
                }
                there.await();
                end = leave;
                System.out.println("OK");
            } else if (line.equals("go")) {
                System.gc(); // makes the JVM free the JVM TI environments that were disposed of
                end.countDown();
                for (Thread thread : threads) thread.join();
                threads.clear();
                Thread.sleep(500); // the JVM frees a thread some time after it was joined
                fill();
                System.out.println("OK");
            } else if (line.equals("changed")) {
                System.out.println("OK " + changed());
            } else {
                System.out.println("ERR " + line);
            }
        }
    }
}
