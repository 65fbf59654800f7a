import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Does nothing but answer commands: a JVM to attach to. Ends with its input. */
public final class Idle {
    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null && !line.equals("quit");) {
            System.out.println("OK " + line);
        }
    }
}
