import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.zip.CRC32;

/**
 * A program that measures itself: threads spend known shares of their CPU time in parts, each a different kind of code.
 * Commands: "start N" (threads), "report": "OK part ns part ns ..." of CPU time since the start, "stall": the longest
 * time in ms, since the last "stall", for which a thread that only reads the clock was not running, "quit".
 */
public class Parts {
    static final String[] NAMES = {"leaf", "divide", "array", "recursion", "copy", "crc", "interfaces", "map", "text", "nativeCall", "interpreted"};
    static final int[] SHARES = {15, 10, 10, 10, 10, 5, 10, 10, 5, 5, 10};
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static final AtomicLongArray SPENT = new AtomicLongArray(NAMES.length);
    static volatile long sink;
    static volatile long stall;

    interface Shape { long area(long x); }
    static class A implements Shape { public long area(long x) { return x * 3; } }
    static class B implements Shape { public long area(long x) { return x + 7; } }
    static class C implements Shape { public long area(long x) { return x ^ 31; } }
    static class D implements Shape { public long area(long x) { return x - 5; } }

    final int[] numbers = new int[1 << 16];
    final byte[] from = new byte[16384], to = new byte[16384];
    final Shape[] shapes = {new A(), new B(), new C(), new D()};
    final HashMap<Integer, Integer> map = new HashMap<>();
    final CRC32 crc = new CRC32();

    Parts() {
        for (int i = 0; i < 5000; i++) map.put(i * 31, i);
        for (int i = 0; i < numbers.length; i++) numbers[i] = i * 7919 & 0xffff;
    }

    static long mix(long x) { return (x ^ x >>> 13) * 0x9e3779b97f4a7c15L; }
    long partLeaf(int n) { long x = n; for (int i = 0; i < n * 400; i++) x = mix(x) + i; return x; }
    long partDivide(int n) { long x = Long.MAX_VALUE - n, y = 3; for (int i = 0; i < n * 60; i++) { x = x / (y | 1) + Long.MAX_VALUE / 2; y++; } return x; }
    long partArray(int n) { int at = n & 0xffff; long x = 0; for (int i = 0; i < n * 120; i++) { at = numbers[at] + 1 & 0xffff; x += at; } return x; }
    long partRecursion(int n) { long x = 0; for (int i = 0; i < n / 16 + 1; i++) x += fib(12); return x; }
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    long partCopy(int n) { for (int i = 0; i < n; i++) System.arraycopy(from, i & 7, to, 0, 16000); return to[n & 1023]; }
    long partCrc(int n) { for (int i = 0; i < n; i++) crc.update(from, 0, 4096); return crc.getValue(); }
    long partInterfaces(int n) { long x = n; for (int i = 0; i < n * 100; i++) x = shapes[i & 3].area(x); return x; }
    long partMap(int n) { long x = 0; for (int i = 0; i < n * 40; i++) { Integer v = map.get(i % 5000 * 31); x += v; } return x; }
    long partText(int n) { long x = 0; for (int i = 0; i < n * 4; i++) x += new StringBuilder().append(i).append("text").append(x).toString().hashCode(); return x; }
    long partNativeCall(int n) { long x = 0; for (int i = 0; i < n / 2 + 1; i++) x += THREADS.getCurrentThreadUserTime(); return x; }
    long partInterpreted(int n) { long x = n; for (int i = 0; i < n * 8; i++) x = x * 31 + (i ^ x >>> 7); return x; }

    long run(int part, int n) {
        switch (part) {
            case 0: return partLeaf(n);
            case 1: return partDivide(n);
            case 2: return partArray(n);
            case 3: return partRecursion(n);
            case 4: return partCopy(n);
            case 5: return partCrc(n);
            case 6: return partInterfaces(n);
            case 7: return partMap(n);
            case 8: return partText(n);
            case 9: return partNativeCall(n);
            default: return partInterpreted(n);
        }
    }

    void loop() {
        long[] spent = new long[NAMES.length];
        // The length varies: rounds of equal length could run in step with the sampling.
        java.util.Random random = new java.util.Random(1);
        long before = THREADS.getCurrentThreadCpuTime();
        while (true) {
            int next = 0;
            for (int i = 1; i < NAMES.length; i++) if (spent[i] * SHARES[next] < spent[next] * SHARES[i]) next = i;
            sink += run(next, 200 + random.nextInt(600));
            long now = THREADS.getCurrentThreadCpuTime();
            spent[next] += now - before;
            SPENT.addAndGet(next, now - before);
            before = now;
        }
    }

    static void watch() {
        long last = System.nanoTime();
        while (true) {
            long now = System.nanoTime();
            if (now - last > stall) stall = now - last;
            last = now;
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        System.out.flush();
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            if (words[0].equals("start")) {
                for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                    Thread worker = new Thread(() -> new Parts().loop(), "parts-" + i);
                    worker.setDaemon(true);
                    worker.start();
                }
                Thread watcher = new Thread(Parts::watch, "watcher");
                watcher.setDaemon(true);
                watcher.start();
                System.out.println("OK");
            } else if (words[0].equals("report")) {
                StringBuilder text = new StringBuilder();
                for (int i = 0; i < NAMES.length; i++) text.append(i == 0 ? "" : " ").append(NAMES[i]).append(' ').append(SPENT.get(i));
                System.out.println("OK " + text);
            } else if (words[0].equals("stall")) {
                System.out.println("OK " + stall / 1000000);
                stall = 0;
            } else {
                return;
            }
            System.out.flush();
        }
    }
}
