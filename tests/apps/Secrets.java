import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * Keeps a word wherever a program may have one. "plant WORD" (eight ASCII characters) puts it into strings of both
 * codings, char[], byte[], long[], fields, a static final field, a map, the room of a StringBuilder, a direct buffer and
 * the frame of a thread that waits. Besides, the test gives the word in the environment, a property and an argument; no
 * word of the source has it.
 */
public final class Secrets {
    static final class Account {
        String latin;
        String wide;
        char[] chars;
        byte[] bytes;
        byte[] wideBytes;
        long[] longs;
        long number;
        double real;
        StringBuilder builder = new StringBuilder();
        ByteBuffer direct;
        Map<String, String> map = new HashMap<>();
        List<String> equal = new ArrayList<>();
        Integer boxed;
    }

    /** Initialised when the word is known. */
    static final class Holder {
        static final long KEY = bits(word);
        static final String TEXT = new String(word + " is kept");
    }

    static String word;
    static final List<Account> ACCOUNTS = new ArrayList<>();
    static final Object LOCK = new Object();

    static long bits(String word) {
        return ByteBuffer.wrap(word.getBytes(StandardCharsets.US_ASCII)).getLong();
    }

    static Account account(String word) {
        Account account = new Account();
        account.latin = new String(word + " latin");
        account.wide = new String(word + " wide \u0142");
        account.chars = (word + " chars").toCharArray();
        account.bytes = (word + " bytes").getBytes(StandardCharsets.UTF_8);
        account.wideBytes = (word + " bytes").getBytes(StandardCharsets.UTF_16BE);
        account.longs = new long[] {bits(word), Long.reverseBytes(bits(word))};
        account.number = bits(word);
        account.real = Double.longBitsToDouble(bits(word));
        account.builder.append(word).append(word).setLength(1);
        account.direct = ByteBuffer.allocateDirect(100_000);
        account.direct.put(word.getBytes(StandardCharsets.US_ASCII));
        account.direct.position(90_000);
        account.direct.put(word.getBytes(StandardCharsets.UTF_16LE));
        account.map.put(word + " key", word + " value");
        account.equal.addAll(Collections.nCopies(1, word));
        for (int i = 0; i < 100; i++) {
            account.equal.add(new String(word + i));
        }
        account.boxed = 1_936_028_531;
        return account;
    }

    /** The word lies in this frame, as a number. */
    static void waitWith(long number, CountDownLatch there) {
        synchronized (LOCK) {
            there.countDown();
            try {
                LOCK.wait();
            } catch (InterruptedException e) {
                System.err.println(number);
            }
        }
    }

    static void plant(String given) throws InterruptedException {
        word = given;
        if (Holder.KEY == 0 || Holder.TEXT.isEmpty()) {
            throw new AssertionError();
        }
        for (int i = 0; i < 3; i++) {
            ACCOUNTS.add(account(given));
        }
        CountDownLatch there = new CountDownLatch(1);
        Thread thread = new Thread(() -> waitWith(bits(given), there), "waits");
        thread.setDaemon(true);
        thread.start();
        there.await();
    }

    static void name(String name) {
        Thread thread = new Thread(() -> waitWith(0, new CountDownLatch(1)), name);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<String> words = Arrays.asList(line.split(" "));
            if (words.get(0).equals("plant")) {
                plant(words.get(1));
            } else if (words.get(0).equals("name")) {
                name(words.get(1));
            } else if (words.get(0).equals("gc")) {
                System.gc();
            }
            System.out.println("OK " + ACCOUNTS.size());
        }
    }
}
