import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;

/**
 * A fixed amount of CPU-bound work for the overhead benchmark. Each line "run N" does N rounds and answers with the
 * time in nanoseconds; the sum of the results is printed too, so that no compiler removes the work.
 */
public final class Spin {
    private static final int SIZE = 1 << 16;

    private final int[] data = new int[SIZE];
    private final Map<Integer, Integer> counts = new HashMap<>();

    private int round(int seed) {
        int x = seed | 1;
        for (int i = 0; i < SIZE; i++) {
            x ^= x << 13;
            x ^= x >>> 17;
            x ^= x << 5;
            data[i] = x;
        }
        java.util.Arrays.sort(data);
        counts.clear();
        for (int i = 0; i < SIZE; i += 16) {
            counts.merge(data[i] & 1023, 1, Integer::sum);
        }
        return data[SIZE / 2] + counts.size() + Integer.toString(x).length();
    }

    public static void main(String[] args) throws Exception {
        Spin spin = new Spin();
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null && !line.equals("quit");) {
            int rounds = Integer.parseInt(line.substring(line.indexOf(' ') + 1));
            int sum = 0;
            long start = System.nanoTime();
            for (int i = 0; i < rounds; i++) {
                sum += spin.round(i);
            }
            System.out.println("OK " + (System.nanoTime() - start) + " " + sum);
        }
    }
}
