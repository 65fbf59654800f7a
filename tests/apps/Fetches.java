import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * Waits for a socket: "start MS" starts a thread "client" that fetches without end a byte that comes after MS ms, and on
 * JDK 21 and later a virtual thread "virtual" that does the same. "exit".
 */
public final class Fetches {
    static int fetch(Socket socket) throws IOException {
        socket.getOutputStream().write(1);
        return socket.getInputStream().read();
    }

    static void answer(Socket socket, int millis) {
        try {
            while (socket.getInputStream().read() >= 0) {
                Thread.sleep(millis);
                socket.getOutputStream().write(2);
            }
        } catch (IOException | InterruptedException e) {
            System.exit(1);
        }
    }

    static void fetchAll(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            while (fetch(socket) == 2) {
                Thread.yield();
            }
        } catch (IOException e) {
            System.exit(2);
        }
    }

    static void start(int millis) throws Exception {
        ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        int port = server.getLocalPort();
        new Thread(() -> fetchAll(port), "client").start();
        Socket first = server.accept();
        new Thread(() -> answer(first, millis), "server").start();
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
            type.getMethod("name", String.class).invoke(builder, "virtual");
            type.getMethod("start", Runnable.class).invoke(builder, (Runnable) () -> fetchAll(port));
        } catch (NoSuchMethodException e) {
            return; // before JDK 21
        }
        Socket second = server.accept();
        new Thread(() -> answer(second, millis), "server").start();
    }

    public static void main(String[] args) throws Exception {
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            if (words[0].equals("exit")) {
                System.exit(0);
            }
            start(Integer.parseInt(words[1]));
            System.out.println("OK");
        }
        System.exit(0);
    }
}
