import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A heap with known dominators: a list in a static field with 1,000 holders of 1,000 bytes each, an array shared by two
 * objects, a long chain, objects that only a soft and a weak reference hold, and an object in a frame. Prints READY,
 * and answers any line with OK.
 */
public final class Keeps {
    static final class Holder {
        final byte[] load = new byte[1000];
    }

    static final class Link {
        Link next;
    }

    static final class Shared {
        final Object one;

        Shared(Object one) {
            this.one = one;
        }
    }

    static final class Common {
        final byte[] load = new byte[5000];
    }

    static final class Softly {
        final byte[] load = new byte[7000];
    }

    static final class Weakly {
        final byte[] load = new byte[9000];
    }

    static final class Local {
        final byte[] load = new byte[11000];
    }

    static final Map<String, List<Holder>> CACHE = new HashMap<>();
    static Link chain;
    static Shared first;
    static Shared second;
    static SoftReference<Softly> soft;
    static WeakReference<Weakly> weak;

    private static void keep() {
        List<Holder> holders = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            holders.add(new Holder());
        }
        CACHE.put("holders", holders);
        for (int i = 0; i < 200_000; i++) {
            Link link = new Link();
            link.next = chain;
            chain = link;
        }
        Common common = new Common();
        first = new Shared(common);
        second = new Shared(common);
    }

    /** In a frame of its own, so that nothing of it is left on the stack. */
    private static void refer() {
        soft = new SoftReference<>(new Softly());
        weak = new WeakReference<>(new Weakly());
    }

    private static void hold(Local local) {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            System.out.println(local.load.length);
        }
    }

    public static void main(String[] args) throws Exception {
        keep();
        Thread holder = new Thread(() -> hold(new Local()), "keeper");
        holder.setDaemon(true);
        holder.start();
        while (holder.getState() != Thread.State.TIMED_WAITING) {
            Thread.yield();
        }
        System.gc();
        refer();
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            System.out.println("OK");
        }
    }
}
