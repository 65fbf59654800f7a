import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/**
 * Class loaders that each define Reloads$Plug anew, with a number of its own. Ten of them live when it prints READY.
 * "reload" drops them, has them unloaded, and makes ten others, several times.
 */
public final class Reloads {
    public static final class Plug {
        static int number;

        public static void setNumber(int to) {
            number = to;
        }
    }

    static final class Kept {
        static int number = 42;
    }

    static final class Loader extends ClassLoader {
        Loader() {
            super(null);
        }

        Class<?> define(byte[] code) {
            return defineClass("Reloads$Plug", code, 0, code.length);
        }
    }

    static final List<Class<?>> PLUGS = new ArrayList<>();
    static int made;

    static byte[] code() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (InputStream in = Reloads.class.getResourceAsStream("Reloads$Plug.class")) {
            byte[] part = new byte[4096];
            for (int count = in.read(part); count > 0; count = in.read(part)) bytes.write(part, 0, count);
        }
        return bytes.toByteArray();
    }

    static void load(byte[] code) throws Exception {
        for (int i = 0; i < 10; i++) {
            Class<?> plug = new Loader().define(code);
            plug.getMethod("setNumber", int.class).invoke(null, ++made);
            PLUGS.add(plug);
        }
    }

    public static void main(String[] args) throws Exception {
        byte[] code = code();
        new Kept();
        load(code);
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
            for (int round = 0; round < 5; round++) {
                PLUGS.clear();
                System.gc();
                System.gc();
                load(code);
            }
            System.out.println("OK");
        }
    }
}
