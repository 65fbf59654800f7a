import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Memory with known owners: "heap N", "direct N", "map N" keep and touch N MiB of arrays, of direct buffers of 1 MiB,
 * of a mapped file; "threads N" starts N waiting threads; "gc N" collects N times; "pools" answers with the used and
 * committed bytes of the heap and of the survivor space.
 */
public final class MemoryOwners {
    static final List<Object> KEPT = new ArrayList<>();

    static String map(int mib) throws Exception {
        File file = new File("mapped.data").getAbsoluteFile();
        try (RandomAccessFile data = new RandomAccessFile(file, "rw")) {
            data.setLength((long) mib << 20);
            MappedByteBuffer buffer = data.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, (long) mib << 20);
            touch(buffer);
            KEPT.add(buffer);
        }
        return "";
    }

    static void touch(ByteBuffer buffer) {
        for (int i = 0; i < buffer.capacity(); i += 4096) buffer.put(i, (byte) 1);
    }

    static void start(int number, CountDownLatch running) {
        Thread thread = new Thread(() -> {
            running.countDown();
            synchronized (Thread.currentThread()) {
                while (true) {
                    try {
                        Thread.currentThread().wait();
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            }
        }, "waits-" + number);
        thread.setDaemon(true);
        thread.start();
    }

    static String answer(String command, int count) throws Exception {
        switch (command) {
            case "heap":
                for (int i = 0; i < count; i++) {
                    byte[] bytes = new byte[1 << 20];
                    java.util.Arrays.fill(bytes, (byte) 7);
                    KEPT.add(bytes);
                }
                return "";
            case "direct":
                for (int i = 0; i < count; i++) {
                    ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
                    touch(buffer);
                    KEPT.add(buffer);
                }
                return "";
            case "map":
                return map(count);
            case "threads":
                CountDownLatch running = new CountDownLatch(count);
                for (int i = 0; i < count; i++) start(i, running);
                running.await();
                return "";
            case "gc":
                for (int i = 0; i < count; i++) System.gc();
                for (Object kept : KEPT) if (kept instanceof byte[]) ((byte[]) kept)[0]++;
                return "";
            default:
                return pools();
        }
    }

    static String pools() {
        long used = 0;
        long committed = 0;
        long survivor = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getType() != MemoryType.HEAP) continue;
            used += pool.getUsage().getUsed();
            committed += pool.getUsage().getCommitted();
            if (pool.getName().contains("Survivor")) survivor += pool.getUsage().getCommitted();
        }
        return used + " " + committed + " " + survivor;
    }

    public static void main(String[] args) throws Exception {
        pools();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            System.out.println("OK " + answer(words[0], words.length > 1 ? Integer.parseInt(words[1]) : 0));
        }
    }
}
