import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Constructors that an exception leaves. On its standard input: "leave MS" makes a round of a Leaver. */
public final class Leavers {
    static volatile int sink;

    static class Base {
        final int value;

        Base(int value) {
            this.value = value;
        }
    }

    /** The argument of its superclass's constructor takes long and then throws. */
    static final class TiredBefore extends Base {
        TiredBefore(int ms) throws InterruptedException {
            super(napAndFail(ms));
        }
    }

    /** Takes long and then throws. */
    static class Tired {
        Tired(int ms) throws InterruptedException {
            napAndFail(ms);
        }
    }

    /** Its superclass's constructor throws. */
    static final class TiredInside extends Tired {
        TiredInside(int ms) throws InterruptedException {
            super(ms);
        }
    }

    static void nap(int ms) throws InterruptedException {
        Thread.sleep(ms);
    }

    static int napAndFail(int ms) throws InterruptedException {
        nap(ms);
        throw new IllegalStateException("as asked");
    }

    /** Each constructor is left after MS; then the thread sleeps for MS without a call of another class of this program,
     * and for MS in a nap. */
    static final class Leaver extends Thread {
        private final int ms;

        Leaver(int ms) {
            this.ms = ms;
        }

        @Override
        public void run() {
            try {
                for (int i = 0; i < 2; i++) {
                    try {
                        Object made = i == 0 ? new TiredBefore(ms) : new TiredInside(ms);
                        sink += made.hashCode();
                    } catch (IllegalStateException e) {
                        sink++;
                    }
                    Thread.sleep(ms);
                    nap(ms);
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            Leaver leaver = new Leaver(Integer.parseInt(line.split(" ")[1]));
            leaver.start();
            leaver.join();
            System.out.println("OK");
        }
    }
}
