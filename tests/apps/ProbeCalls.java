import java.io.BufferedReader;
import java.io.InputStreamReader;

/** "run N" calls a method N times and answers with the time it took, in nanoseconds. */
public final class ProbeCalls {
    private static long sum;

    static void called(int i) {
        sum += i;
    }

    static long run(int count) {
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            called(i);
        }
        return System.nanoTime() - start;
    }

    public static void main(String[] args) throws Exception {
        run(50_000);
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null && !line.equals("quit");) {
            System.out.println("OK " + run(Integer.parseInt(line.substring(line.indexOf(' ') + 1))) + " " + sum);
        }
    }
}
