/**
 * Six threads "turn-N", each of which computes for some milliseconds and sleeps for some, again and again. Prints READY
 * and ends with its input.
 */
public final class Turns {
    private static volatile long sum;

    static void compute() {
        long end = System.currentTimeMillis() + 15;
        while (System.currentTimeMillis() < end) {
            for (int i = 0; i < 1000; i++) {
                sum += i * 31L;
            }
        }
    }

    private static void run() {
        try {
            while (true) {
                compute();
                Thread.sleep(15);
            }
        } catch (InterruptedException e) {
            sum++;
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 6; i++) {
            Thread thread = new Thread(Turns::run, "turn-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("READY");
        while (System.in.read() >= 0) {
            sum++;
        }
    }
}
